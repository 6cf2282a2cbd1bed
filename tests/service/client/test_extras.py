"""A plain ``pip install certiset`` is enough for clients and auditors; whatever needs more says what to install."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import certiset
from certiset.batch import SetPredictor, predict_file
from certiset.core.fit import fit
from certiset.extras import PACKAGES, MissingExtraError
from certiset.service.cli.main import COMMANDS
from certiset.service.client import Dataset, Model
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.service.server import Server

HIDING = """
import sys

hidden = set(HIDDEN)


class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)


sys.meta_path[:] = [Hiding(finder) for finder in sys.meta_path]
"""
COMMAND = "import runpy; runpy.run_module('certiset', run_name='__main__', alter_sys=True)"
COMMANDS_IN_TURN = """
import contextlib, io, json, sys
from certiset.service.cli.main import main

for arguments in json.loads(sys.argv[1]):
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = main(arguments)
        except SystemExit as ended:
            code = ended.code
    print(json.dumps([code, out.getvalue(), errors.getvalue()]))
"""
"""for many commands, in one process: to start one takes longer than most of them"""
WITHOUT = {
    "up": ["up"],
    "demo": ["demo"],
    "api": ["api"],
    "worker": ["worker"],
    "migrate": ["migrate"],
    "keys": ["keys", "list"],
    "tenant": ["tenant", "list"],
    "jobs": ["jobs", "list"],
    "doctor": ["doctor"],
    "data": ["data", "mnist"],
    "bench": ["bench", "bounds"],
    "reproduce": ["reproduce", "theory"],
    "budget": ["budget", "--n", "500", "--plot", "budget.svg"],
}
"""commands that need more than a plain installation"""


def plain(
    code: str, *arguments: str, folder: Path | None = None, known: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Runs Python where none of the extras' packages can be found."""
    hidden = sorted(package for packages in PACKAGES.values() for package in packages)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CERTISET_")}
    return subprocess.run(
        [sys.executable, "-c", f"{HIDING.replace('HIDDEN', repr(hidden))}\n{code}", *arguments],
        cwd=folder,
        env={**environment, **(known or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def plain_commands(*commands: list[str], folder: Path | None = None) -> list[tuple[int, str, str]]:
    """Exit code, output and errors of each."""
    done = plain(COMMANDS_IN_TURN, json.dumps(commands), folder=folder)
    assert done.returncode == 0, done.stderr
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("certificate") / "certificate.json"
    file.write_text(json.dumps(fit(class_model(), *class_data(400, 0), **QUICK).certificate.to_json()))
    return file


def test_every_package_of_an_extra_is_known() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    for extra in PACKAGES:
        names = {re.split(r"[\[<>=;]", text)[0].strip() for text in project["optional-dependencies"][extra]}
        imported = {name.replace("-", "_").replace("scikit_learn", "sklearn") for name in names} - {"certiset"}
        assert imported <= set(PACKAGES[extra]), extra


def test_importing_the_package_costs_next_to_nothing() -> None:
    code = (
        "import sys, time; begin = time.process_time(); import certiset; print(time.process_time() - begin);"
        "print([name for name in ('torch', 'scipy', 'numpy', 'pydantic') if name in sys.modules])"
    )
    tries = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
        for _ in range(3)
    ]
    assert min(float(seconds) for seconds, _ in tries) < 0.15
    assert tries[0][1] == "[]"


def test_names_of_the_package() -> None:
    assert dir(certiset) == sorted([*certiset.__all__, "__version__"])
    assert certiset.__all__ == [
        "Certificate",
        "Client",
        "Model",
        "Predictor",
        "bounds",
        "fit",
        "load",
        "monitor",
        "push",
        "verify",
    ]
    for name in certiset.__all__:
        assert getattr(certiset, name) is not None
    assert re.fullmatch(r"\d+\.\d+\.\d+", certiset.__version__)
    with pytest.raises(AttributeError, match="has no attribute 'magic'"):
        certiset.magic  # noqa: B018


def test_a_name_that_needs_an_extra_says_which() -> None:
    names = ("Model", "Predictor", "fit", "load")
    each = "".join(f"try: from certiset import {name}\nexcept ImportError as error: print(error)\n" for name in names)
    done = plain(each)
    for name, said in zip(names, done.stdout.splitlines(), strict=True):
        assert re.fullmatch(rf"certiset\.{name} needs the package \w+: pip install 'certiset\[fit\]'", said), said


@pytest.mark.parametrize(
    ("statement", "what", "extra"),
    [
        ("import certiset.sklearn", "certiset.sklearn", "sklearn"),
        ("from certiset.batch import SetPredictor", "certiset.batch", "fit"),
        ("from certiset.core.fit import fit", "certiset.core.fit.fit", "fit"),
    ],
)
def test_a_module_that_needs_an_extra_says_which(statement: str, what: str, extra: str) -> None:
    done = plain(f"try: {statement}\nexcept ImportError as error: print(error)")
    assert re.fullmatch(rf"{what} needs the package \w+: pip install 'certiset\[{extra}\]'\n", done.stdout), done


def test_a_function_that_needs_a_further_extra_says_which(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    predictor = fit(class_model(), *class_data(400, 0), **QUICK)
    predictor.save(tmp_path / "predictor")
    rows = tmp_path / "rows.parquet"
    rows.touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"^certiset.batch.predict_file needs .* 'certiset\[arrow\]'$"):
        predict_file(rows, tmp_path / "sets.parquet", SetPredictor(tmp_path / "predictor"))


def test_auditing_without_extras(certificate: Path) -> None:
    code = "import sys, certiset; print(certiset.verify(sys.argv[1]).holds, certiset.bounds.vovk_2b(1000, 0.1, 0.05))"
    done = plain(code, str(certificate))
    assert (done.stdout, done.stderr) == ("True 85\n", "")
    verified, budget = plain_commands(["verify", str(certificate)], ["budget", "--n", "1000"])
    assert verified[0] == 3, verified
    assert "The numbers hold, but nobody that you named has signed them." in verified[1]
    assert budget[0] == 0, budget
    assert "vovk 2b        85" in budget[1]


def test_a_command_that_needs_an_extra_says_which(tmp_path: Path) -> None:
    for command, (code, out, errors) in zip(WITHOUT, plain_commands(*WITHOUT.values(), folder=tmp_path), strict=True):
        assert (code, out) == (2, ""), (command, out, errors)
        extra = {"data": "fit", "budget": "plot"}.get(command, "server")
        assert re.fullmatch(rf"certiset {command} needs the package \w+: pip install 'certiset\[{extra}\]'\.\n", errors)


def test_help_without_extras() -> None:
    commands = [command for command in COMMANDS if command not in WITHOUT]
    helped = plain_commands(*([command, "--help"] for command in commands))
    for command, (code, out, errors) in zip(commands, helped, strict=True):
        assert (code, errors) == (0, ""), (command, errors)
        assert f"certiset {command}" in out


CLIENT = """
import sys, numpy as np
from certiset import Client

with Client() as client, np.load(sys.argv[1]) as arrays:
    dataset = client.datasets.upload(x=arrays["x"], y=arrays["y"], name="without extras")
    assert client.datasets.upload(sys.argv[1]).rows == dataset.rows
    bare = client.models.upload({"name": "bare", "task": "classification", "classes": 2, "input_shape": [2]})
    head = {"kind": "mlp", "widths": [2, 2], "activation": "tanh"}
    weights = {"head.0.weight": np.eye(2, dtype=np.float32), "head.0.bias": np.zeros(2, np.float32)}
    print(client.models.upload(bare.manifest | {"head": head}, weights=weights).task)
    predictor = next(found for found in client.predictors.list() if found.id == sys.argv[2])
    many = client.predict_set(predictor.id, arrays["x"])
    print(len(many), many[0].set.kind, many[0].set.text.startswith("{"), 0 < many.contains(arrays["y"]).mean() <= 1)
    one = client.predict_set(predictor.id, arrays["x"][0])
    print(client.outcomes.report([(one.prediction_id, arrays["y"][0])]).counted)
    print(client.certificates.verify(predictor.certificate_id).valid, client.health().ready)
    print(dataset.id)
"""


def test_the_client_without_extras(deployment: Server, inputs: tuple[Dataset, Model], tmp_path: Path) -> None:
    known = {"CERTISET_URL": deployment.url, "CERTISET_KEY": deployment.keys["ada"]}
    x, y = class_data(1500, 12)
    rows = tmp_path / "rows.npz"
    np.savez(rows, x=x, y=y)
    done = plain(CLIENT, str(rows), deployment.id("classification"), known=known)
    assert done.returncode == 0, done.stderr
    uploaded, many, counted, valid, dataset = done.stdout.splitlines()
    assert uploaded == "classification"
    assert (many, counted, valid) == ("1500 labels True True", "1", "True True")

    asked = ["--dataset", dataset, "--model", inputs[1].id, "--method", "standard"]
    done = plain(COMMAND, "calibrate", *asked, "--json", known=known)
    assert done.returncode == 0, done.stderr
    predictor = json.loads(done.stdout)["predictor_id"]
    done = plain(COMMAND, "predict", predictor, "--x", "0.1,0.2", known=known)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\{.*\}  member \d+\n", done.stdout)
    done = plain(COMMAND, "certificates", "list", "--predictor", predictor, known=known)
    assert done.returncode == 0, done.stderr
    assert predictor in done.stdout
