"""Which extra brings a package that is not installed: a plain ``pip install certiset`` is for clients and auditors."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

PACKAGES = {
    "fit": ("onnx", "onnxruntime", "torch", "torchvision"),
    "sklearn": ("skl2onnx", "sklearn"),
    "arrow": ("pyarrow",),
    "plot": ("matplotlib",),
    "mlflow": ("mlflow", "mlflow_skinny", "pandas"),
    "server": (
        "alembic",
        "celery",
        "fastapi",
        "fsspec",
        "httptools",
        "matplotlib",
        "prometheus_client",
        "psycopg",
        "python_multipart",
        "redis",
        "sklearn",
        "sqlalchemy",
        "uvicorn",
        "uvloop",
        # These come with celery and fastapi, and are imported by name.
        "kombu",
        "starlette",
    ),
    "s3": ("s3fs",),
}
"""the packages of each extra, by the names that they are imported by"""
_PROBES = {"fit": ("torch",), "server": ("sqlalchemy", "alembic", "fastapi", "uvicorn", "celery", "torch")}
"""those without which nothing of the extra works"""


class MissingExtraError(ModuleNotFoundError):
    """Says what needs which package, and how to install it."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} needs the package {package}: pip install 'certiset[{extra}]'", name=package)
        self.extra = extra


def explained(error: ModuleNotFoundError, what: str) -> ModuleNotFoundError:
    """The same with the extra to install, where an extra has the package; otherwise the error as it is.

    ``what`` needs it: of several names that need one another, that which was asked for, which is the outermost.
    """
    package = (error.name or "").partition(".")[0]
    if isinstance(error, MissingExtraError):
        return MissingExtraError(what, package, error.extra)
    extra = next((extra for extra, packages in PACKAGES.items() if package in packages), None)
    return error if extra is None else MissingExtraError(what, package, extra)


@contextmanager
def explaining(what: str) -> Iterator[None]:
    """Around what a missing package would stop."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise explained(error, what) from None


def require(extra: str, what: str) -> None:
    """Raises `MissingExtraError` unless the extra is installed; looks for packages without loading them."""
    for package in _PROBES[extra]:
        if find_spec(package) is None:
            raise MissingExtraError(what, package, extra)
