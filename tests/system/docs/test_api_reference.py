"""docs/api.md names every public name, and nothing that there is not."""

import importlib
import re

import certiset
import certiset.batch
import certiset.sklearn
from tests.system.docs.pages import DOCS

NAMED = re.findall(r"^::: ([\w.]+)$", (DOCS / "api.md").read_text(), re.MULTILINE)


def test_every_public_name_is_there() -> None:
    public = {f"certiset.{name}" for name in certiset.__all__} - {"certiset.bounds"} | {"certiset.core.bounds"}
    for module in (certiset.sklearn, certiset.batch):
        public |= {f"{module.__name__}.{name}" for name in module.__all__}
    assert public - set(NAMED) == set()


def test_every_name_that_is_there_exists() -> None:
    for name in NAMED:
        home, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module(home), last) or importlib.import_module(name), name
