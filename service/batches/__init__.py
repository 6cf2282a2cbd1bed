"""Large requests for sets in a process of their own, beside the one that answers everybody."""
