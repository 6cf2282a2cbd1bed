"""Measurements, as ratios to a baseline taken in the same run; nothing here is a test."""
