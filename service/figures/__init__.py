"""Figures, one per file: SVG written here for the page, and the budget maps by Matplotlib."""
