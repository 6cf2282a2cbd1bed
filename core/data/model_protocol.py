"""What the checks of arrays ask of a model: uploads are checked without PyTorch, and without models."""

from typing import Protocol


class ManifestLike(Protocol):
    """What the checks ask of a model's manifest."""

    @property
    def input_shape(self) -> tuple[int, ...]: ...

    @property
    def task(self) -> str: ...

    @property
    def labels(self) -> tuple[str, ...] | None: ...


class ModelLike(Protocol):
    """What the checks ask of a model."""

    @property
    def manifest(self) -> ManifestLike: ...

    @property
    def outputs(self) -> int: ...

    @property
    def takes_missing(self) -> bool:
        """Whether NaN is an input, too."""
        ...
