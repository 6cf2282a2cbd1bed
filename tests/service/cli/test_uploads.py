"""Data and models from the command line."""

import json
from pathlib import Path

from safetensors.numpy import save_file

from tests.core.fit.problems import class_model
from tests.service.cli.shell import Shell


def test_datasets(shell: Shell, file: Path) -> None:
    table = shell.folder / "table.csv"
    table.write_text("a,b,price\n" + "".join(f"{k},{k * k},{k / 2}\n" for k in range(1, 40)))
    made = shell.json("datasets", "upload", str(table), "--target", "price", "--name", "a table")
    assert (made["rows"], made["x_shape"], made["name"]) == (39, [2], "a table")
    line = shell("datasets", "upload", str(table), "--target", "price")
    assert line == f"{made['id']}  39 rows of 2 with numbers  a table\n"
    assert line in shell("datasets", "list")
    assert {**made, "columns": None} in shell.json("datasets", "list")
    assert shell.json("datasets", "show", made["id"]) == made
    assert f"sha256      {made['sha256']}" in shell("datasets", "show", made["id"])
    assert shell("datasets", "delete", made["id"]) == f"{made['id']} was deleted.\n"
    assert "There is no" in shell("datasets", "show", made["id"], code=2)
    again = shell.json("datasets", "upload", str(table), "--target", "price")
    assert shell.json("datasets", "delete", again["id"]) == {"deleted": again["id"]}
    assert "nowhere.csv cannot be read: No such file" in shell("datasets", "upload", "nowhere.csv", code=2)
    assert "cells, but the header" in wrong_table(shell)


def wrong_table(shell: Shell) -> str:
    (shell.folder / "wrong.csv").write_text("a,y\n1,2\n3\n")
    return shell("datasets", "upload", "wrong.csv", code=2)


def test_models(shell: Shell) -> None:
    model = class_model()
    save_file({name: tensor.numpy() for name, tensor in model.tensors().items()}, shell.folder / "w.safetensors")
    (shell.folder / "manifest.json").write_text(json.dumps(model.manifest.to_json()))
    made = shell.json("models", "upload", "--manifest", "manifest.json", "--weights", "w.safetensors")
    assert made["classes"] == 3
    line = f"{made['id']}  classification of 2 into 3 classes  classes\n"
    assert line in shell("models", "list")
    assert made in shell.json("models", "list")
    assert shell.json("models", "show", made["id"]) == made
    assert made["sha256"] in shell("models", "show", made["id"])
    bare = shell("models", "upload", "--manifest", '{"task": "regression", "input_shape": [1], "name": "bare"}')
    assert bare.endswith("regression of 1  bare\n")
    assert "not JSON" in shell("models", "upload", "--manifest", "{", code=2)
    assert "task must be one of" in shell("models", "upload", "--manifest", '{"task": "magic"}', code=2)
