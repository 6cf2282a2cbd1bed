"""The levels of a promise that nobody names, for those who must not load a score: workers, and readers of old jobs."""

DEFAULT_ALPHA = 0.1
DEFAULT_DELTA = 0.05
DEFAULT_GAMMA = 0.05
"""of fits, and of statements about sizes on fresh inputs"""
