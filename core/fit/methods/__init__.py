"""The methods of a fit, one per file, found by the option ``method``."""

from certiset.core.fit.methods.base import Method
from certiset.core.registry import Registry

__all__ = ["METHODS", "Method"]

METHODS: Registry[Method] = Registry("method", __name__, Method)
