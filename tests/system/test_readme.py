"""The numbers that README.md puts beside its calls; its commands and programs are run by tests/system/docs."""

import re
from pathlib import Path

import pytest

from certiset.core import bounds

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_bounds_give_the_numbers_beside_them() -> None:
    (block,) = [
        block
        for block in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
        if "certiset.core.bounds" in block
    ]
    calls = [line for line in block.splitlines() if "#" in line]
    assert calls
    for line in calls:
        expression, comment = line.split("#", 1)
        (expected,) = re.findall(r"(?:rank )?(\d+(?:\.\d+)?)(?= nats to spend|:| for a draw)", comment)
        found = eval(expression, {name: getattr(bounds, name) for name in bounds.__all__})
        assert found == pytest.approx(float(expected), abs=0.005), line


def test_readme_runs_at_least_what_it_promises() -> None:
    """tests/system/docs runs every block, so what matters is that the blocks are there."""
    for promised in ("make up", "make demo", "make check", "fit(forest", "/predict_set?", "certiset budget"):
        assert re.search(rf"```(?:sh|python)\n(?:(?!```).)*{re.escape(promised)}", README, re.DOTALL), promised
