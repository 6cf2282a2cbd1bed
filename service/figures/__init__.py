"""Figures drawn with Matplotlib, one a file; imported only when one is asked for."""
