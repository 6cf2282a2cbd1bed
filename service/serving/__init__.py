"""Loaded predictors and the threads that compute their sets."""
