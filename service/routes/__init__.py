"""Routes, one resource a file: each parses, calls and shapes the answer."""
