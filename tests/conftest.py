"""Settings for all tests."""

from hypothesis import settings

settings.register_profile("certiset", deadline=None, max_examples=200)
settings.load_profile("certiset")
