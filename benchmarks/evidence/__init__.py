"""The evidence: the paper's experiments and more, every method on the same points and under the same promise."""
