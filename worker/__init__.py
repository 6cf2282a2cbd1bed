"""Celery workers: a thin layer over the fit and the store that survives crashes of any part."""
