"""The notebooks run from top to bottom, and the outputs that they come with are those of a run."""

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.system.docs.pages import DOCS

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
Notebook = dict[str, Any]


def runner() -> ModuleType:
    spec = spec_from_file_location("run_notebooks", DOCS / "run_notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code_cells(notebook: Notebook) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def kinds(notebook: Notebook) -> list[list[tuple[str, list[str]]]]:
    """Of each cell's outputs: numbers in them may differ between machines."""
    return [
        [(output["output_type"], sorted(output.get("data", {}))) for output in cell["outputs"]]
        for cell in code_cells(notebook)
    ]


def a_notebook(*sources: str) -> Notebook:
    cells = [{"cell_type": "code", "source": source.splitlines(keepends=True), "outputs": []} for source in sources]
    return {"cells": cells}


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_every_cell_runs(file: Path) -> None:
    assert kinds(runner().run(file)) == kinds(json.loads(file.read_text()))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_outputs_are_those_of_one_run_from_top_to_bottom(file: Path) -> None:
    notebook = json.loads(file.read_text())
    cells = code_cells(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    shown = {kind for outputs in kinds(notebook) for _, data in outputs for kind in data}
    assert {"text/html", "text/plain", "image/png"} <= shown
    words = [one for cell in cells for one in cell["outputs"] if "image/png" not in one.get("data", {})]
    assert not re.search(r"(?<![\w<])/(?:tmp|home|root|Users)/|Traceback|stderr", json.dumps(words))


def test_a_cell_shows_what_it_prints_its_last_value_and_its_figures() -> None:
    made = runner().executed(
        a_notebook(
            "from matplotlib import pyplot\nimport matplotlib\nmatplotlib.use('agg')\nprint('said')\n1 + 1",
            "value = 3",
            "value;",
            "pyplot.plot([1, 2]);",
        )
    )
    assert kinds(made) == [
        [("stream", []), ("execute_result", ["text/plain"])],
        [],
        [],
        [("display_data", ["image/png", "text/plain"])],
    ]
    assert made["cells"][0]["outputs"][0]["text"] == ["said\n"]


def test_a_cell_that_fails_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "broken.ipynb"
    file.write_text(json.dumps(a_notebook("1 / 0")))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        runner().run(file)
