"""Whatever was given as a model, as a `Model` for rows like these."""

from collections.abc import Collection
from typing import Any

from certiset.core.models.model import Model
from certiset.core.models.sources import as_unbound


def as_model(given: Any, x: Any, y: Any, others: Collection[str] = ()) -> Model:
    """A `Model` is left as it is; ``others`` are columns of x that are no inputs."""
    if isinstance(given, Model):
        return given
    return Model(*as_unbound(given).parts(x, y, others))
