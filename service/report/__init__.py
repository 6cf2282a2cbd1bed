"""A certificate on one sheet of paper, for a reader without a screen."""
