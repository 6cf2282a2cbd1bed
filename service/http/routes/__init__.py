"""Routes, one resource per file: each declares what it needs, parses, calls `certiset.core` and shapes the answer.

A module with a `router` is found by the app; nothing else needs to know it.
"""
