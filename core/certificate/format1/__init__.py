"""Certificates of format 1, frozen: read, worded and checked as on the day they were issued.

Nothing here follows the rest of the package when that changes. The mathematics (`certiset.core.bounds`, and the
guarantees that recompute a promise with it) is shared: a theorem does not change.
"""
