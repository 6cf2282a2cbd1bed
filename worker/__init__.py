"""Celery workers: a thin shell around `core.fit` and `core.store` that survives crashes of every part."""
