"""Runs the notebooks of docs/notebooks and writes their outputs into them: ``python docs/run_notebooks.py [NAME…]``.

Every notebook runs in a process of its own, from its first cell to its last, in an empty folder. What a cell prints,
its last value and its figures are kept as Jupyter keeps them; progress on standard error is not.
"""

import ast
import base64
import contextlib
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
_DOTS = 80


def run(file: Path) -> dict[str, Any]:
    """The notebook with the outputs of a run in a fresh process; an error in a cell is one here."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), "--inside"],
            input=file.read_text(),
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            timeout=300,
        )
    if done.returncode != 0:
        raise RuntimeError(f"{file.name} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def write(file: Path, notebook: dict[str, Any]) -> None:
    file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        cell["execution_count"], cell["outputs"] = number, _outputs("".join(cell["source"]), names, number)
    return notebook


def _outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree, value, printed = ast.parse(source), None, io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None and not source.rstrip().endswith(";"):
        found.append(
            {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": _shown(value)}
        )
    return found + [{"output_type": "display_data", "metadata": {}, "data": data} for data in _figures()]


def _shown(value: Any) -> dict[str, Any]:
    page = value._repr_html_() if hasattr(value, "_repr_html_") else None
    html = {} if page is None else {"text/html": _lines(page)}
    return {**html, "text/plain": _lines(repr(value))}


def _figures() -> list[dict[str, Any]]:
    if "matplotlib.pyplot" not in sys.modules:
        return []
    pyplot: Any = sys.modules["matplotlib.pyplot"]
    found = []
    for number in pyplot.get_fignums():
        content = io.BytesIO()
        pyplot.figure(number).savefig(content, format="png", dpi=_DOTS, metadata={"Software": None})
        found.append({"image/png": base64.b64encode(content.getvalue()).decode(), "text/plain": ["<Figure>"]})
    pyplot.close("all")
    return found


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main(arguments: list[str]) -> None:
    if arguments == ["--inside"]:
        json.dump(executed(json.load(sys.stdin)), sys.stdout)
        return
    for file in sorted(FOLDER.glob("*.ipynb")):
        if not arguments or file.stem in arguments:
            write(file, run(file))
            print(file.name)


if __name__ == "__main__":
    main(sys.argv[1:])
