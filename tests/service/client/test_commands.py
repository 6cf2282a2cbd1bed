"""Every command that speaks to a server, as a process: what it prints, as sentences and as JSON, and its exit code."""

import hashlib
import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from benchmarks import __path__ as benchmark_folders
from certiset.service.cli.bench import BENCHMARKS
from certiset.service.cli.checkout import benchmark_process
from certiset.service.cli.errors import CommandError
from certiset.service.cli.fit_flags import given_options
from certiset.service.cli.main import COMMANDS, build_parser, main
from certiset.service.client import Client, Dataset, Model
from tests.core.fit.problems import class_data, class_model
from tests.launcher import Forked, launch
from tests.servers import free_port, wait_until
from tests.service.client.scripted_server import scripted
from tests.service.server import Server

QUICK = ["--members", "8", "--set", "prior.steps=60", "--set", "optimizer.steps=20"]


class Shell:
    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.environment, self.folder = environment, folder

    def start(self, *arguments: str) -> Forked:
        return launch(
            *("certiset", *arguments),
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __call__(self, *arguments: str, code: int = 0) -> str:
        """What it prints; where it fails, its complaint."""
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=120)
        assert process.returncode == code, f"{arguments}: {output}{errors}"
        return errors if code not in (0, 1) else output

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", code=code))


class InProcess:
    """The same in this process, which is quicker."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str, code: int = 0) -> str:
        """What it prints; where it fails, its complaint."""
        found = main(arguments)
        output, errors = self.capsys.readouterr()
        assert found == code, f"{arguments}: {output}{errors}"
        return errors if code else output

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))


@pytest.fixture
def shell(deployment: Server, tmp_path: Path) -> Shell:
    known = {name: value for name, value in os.environ.items() if not name.startswith("CERTISET_")}
    return Shell({**known, "CERTISET_URL": deployment.url, "CERTISET_KEY": deployment.keys["ada"]}, tmp_path)


def test_help_lists_every_command_with_a_sentence_and_examples(shell: Shell) -> None:
    text = shell("--help")
    for command in COMMANDS:
        assert re.search(rf"^    {command}\s+\w", text, flags=re.MULTILINE), command
    assert text.count("\n  certiset ") >= 2
    assert "exit codes: 0 done" in text
    for command in COMMANDS:
        of_command = subparsers_of(build_parser([command]))[command].format_help()
        assert "examples:\n  certiset " in of_command, command
        assert "exit codes: 0 " in of_command, command


def test_json_everywhere() -> None:
    without = {"up", "api", "worker"}
    """these stay in the foreground"""
    for command in COMMANDS:
        parser = build_parser([command])
        found = subparsers_of(subparsers_of(parser)[command]) or {"": subparsers_of(parser)[command]}
        for action, child in found.items():
            assert ("--json" in child.format_help()) != (command in without), f"{command} {action}"


def subparsers_of(parser: Any) -> dict[str, Any]:
    found = [action.choices for action in parser._actions if action.__class__.__name__ == "_SubParsersAction"]
    return dict(found[0]) if found else {}


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


def test_calibrate_predict_and_certificates(shell: Shell, inputs: tuple[Dataset, Model], file: Path) -> None:
    asked = ["--model", inputs[1].id, "--alpha", "0.1", *QUICK]
    # Long enough to report its loss on the way; of an option that is given twice, the later one counts.
    process = shell.start("calibrate", "--dataset", str(file), *asked, "--set", "prior.steps=3000")
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    statement, predictor, certificate = output.splitlines()
    assert statement.startswith("With probability at least 95 %")
    assert "loss" in errors
    assert "% " in errors
    predictor, certificate = predictor.split()[1], certificate.split()[1]
    ended = shell.json("calibrate", "--dataset", inputs[0].id, *asked, "--name", "as JSON")
    assert (ended["status"], ended["name"], ended["statement"]) == ("succeeded", "as JSON", statement)
    assert ended["options"]["prior"]["steps"] == 60
    watched = shell.json("calibrate", "--watch", ended["id"])
    assert watched == ended

    one = shell.json("predict", predictor, "--x", "0.1,0.2", "--member", "0")
    assert (one["member"], one["set"]["kind"]) == (0, "labels")
    labels = "{" + ", ".join(str(label) for label in one["set"]["labels"]) + "}"
    assert shell("predict", predictor, "--x", "0.1,0.2", "--member", "0") == f"{labels}  member 0\n"
    x, y = class_data(30, 4)
    np.savez(shell.folder / "rows.npz", x=x)
    np.savetxt(shell.folder / "rows.csv", np.column_stack([x, y]), delimiter=",", header="a,b,y", comments="")
    many = shell.json("predict", predictor, "--file", "rows.npz", "--member", "0")
    assert len(many["predictions"]) == 30
    lines = shell("predict", predictor, "--file", "rows.csv", "--member", "0").splitlines()
    assert len(lines) == 30
    assert [line.count(",") + 1 for line in lines if "{}" not in line] == [
        row["set"]["size"] for row in many["predictions"] if row["set"]["size"]
    ]

    assert certificate in shell("certificates", "list", "--predictor", predictor)
    (whole,) = shell.json("certificates", "list", "--predictor", predictor)
    assert shell.json("certificates", "show", certificate) == whole
    assert statement in shell("certificates", "show", certificate)
    assert shell.json("certificates", "verify", certificate)["valid"]
    assert "All checks passed." in shell("certificates", "verify", certificate)
    assert "certificate.json" in shell("certificates", "download", certificate, "-o", "certificate.json")
    (shell.folder / "keys.txt").write_text(shell("certificates", "keys"))
    assert "All checks passed: " in shell("verify", "certificate.json", "--keys", "keys.txt")
    assert shell.json("certificates", "download", certificate, "-o", "again.json")["file"] == "again.json"
    assert "cannot be written" in shell("certificates", "download", certificate, "-o", "no/such.json", code=2)
    assert whole["data"]["file_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (whole["names"]["model"], whole["names"]["dataset"]) == ("classes", "classes")
    model = class_model()
    save_file({name: tensor.numpy() for name, tensor in model.tensors().items()}, shell.folder / "w.safetensors")
    (shell.folder / "manifest.json").write_text(json.dumps(model.manifest.to_json()))
    shell("predictors", "download", predictor, "-o", "predictor.safetensors")
    audit = ["audit", "certificate.json", "--model", "manifest.json", "--model", "w.safetensors", "--keys", "keys.txt"]
    audited = shell(*audit, "--dataset", str(file), "--predictor", "predictor.safetensors")
    assert "agrees   data file's SHA-256" in audited
    assert "Everything agrees with the certificate.\n" in audited


@pytest.fixture
def certiset(deployment: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    monkeypatch.setenv("CERTISET_URL", deployment.url)
    monkeypatch.setenv("CERTISET_KEY", deployment.keys["ada"])
    return InProcess(capsys)


def test_outcomes_are_reported_corrected_and_annulled(
    certiset: InProcess, client: Client, deployment: Server, tmp_path: Path
) -> None:
    id = deployment.id("doomed")
    served = client.predict_set(id, class_data(6, 51)[0], cases=[f"command {row}" for row in range(6)])
    inside = [row.set.labels[0] if row.set.labels else 0 for row in served]
    covered = [bool(row.set.labels) for row in served]
    outside = next(label for label in range(3) if label not in served[0].set.labels)
    ids = [row.prediction_id for row in served]
    said = certiset("outcomes", "report", ids[0], str(outside))
    assert said == "1 counted. 0 of 1 sets contained the truth.\n"
    assert "  consistent: 1 misses of 1 outcomes\nat most 10 % misses promised\n" in certiset(
        "predictors", "monitor", id
    )
    again = certiset.json("outcomes", "report", ids[0], str(outside))
    assert (again["counted"], again["repeated"], again["covered"]) == (0, 1, [False])
    table, lines = tmp_path / "truths.csv", tmp_path / "truths.jsonl"
    table.write_text("y,prediction_id\n" + "".join(f"{y},{one}\n" for one, y in zip(ids[:3], inside[:3], strict=True)))
    lines.write_text(
        "\n".join(json.dumps({"prediction_id": one, "y": y}) for one, y in zip(ids[3:], inside[3:], strict=True))
    )
    counted = certiset.json("outcomes", "report", "--file", str(table))
    assert (counted["counted"], counted["repeated"], counted["covered"]) == (2, 1, covered[:3])
    assert certiset.json("outcomes", "report", "--file", str(lines))["counted"] == 3
    before = certiset.json("predictors", "monitor", id)
    assert (before["outcomes"], before["misses"]) == (6, 1 + covered[1:].count(False))
    state = certiset.json("outcomes", "correct", ids[0], str(inside[0]))
    assert state == {"predictor_id": id, "covered": covered[0], "state": "counted"}
    assert certiset("outcomes", "correct", ids[1], str(inside[1])).endswith(
        f"the truth.\nThe certificate of {id} is consistent.\n"
    )
    assert certiset("outcomes", "annul", ids[2]) == "Annulled: this outcome no longer counts.\n"
    assert certiset.json("outcomes", "annul", ids[3]) == {"annulled": ids[3]}
    after = certiset.json("predictors", "monitor", id)
    assert (after["outcomes"], after["misses"]) == (4, [covered[row] for row in (0, 1, 4, 5)].count(False))


def test_what_is_wrong_with_truths_is_said_where_it_stands(
    certiset: InProcess, client: Client, deployment: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = deployment.id("regression")
    one = client.predict_set(id, 0.3).prediction_id

    def of_file(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return certiset("outcomes", "report", "--file", str(tmp_path / name), code=2)

    assert "Give a prediction id and its truth, or --file FILE." in certiset("outcomes", "report", code=2)
    both = certiset("outcomes", "report", one, "1", "--file", "truths.csv", code=2)
    assert "and not both" in both
    for wrong in ("a", "nan", "1,,2"):
        assert "a truth must be a number" in certiset("outcomes", "report", one, wrong, code=2)
    assert "cannot be read: No such file" in certiset("outcomes", "report", "--file", "nowhere.csv", code=2)
    assert "truths.txt is not one of .csv, .jsonl" in of_file("truths.txt", "")
    assert "must have one column y; its first line has prediction_id, truth" in of_file(
        "a.csv", "prediction_id,truth\n"
    )
    assert "has no truths" in of_file("a.csv", "prediction_id,y\n")
    assert "line 3: a truth must be a number" in of_file("a.csv", f"prediction_id,y\n{one},1\n{one},x\n")
    assert "line 2: this line has 1 cells" in of_file("a.csv", f"prediction_id,y\n{one}\n")
    assert "line 2: prediction_id is missing" in of_file("a.csv", "prediction_id,y\n,1\n")
    assert "line 2: this is not JSON" in of_file("a.jsonl", f'{{"prediction_id": "{one}", "y": 1}}\n{{\n')
    assert "line 1: this must be an object" in of_file("a.jsonl", "[1]\n")
    assert "line 1: y must be a number" in of_file("a.jsonl", f'{{"prediction_id": "{one}", "y": NaN}}\n')
    # The server's refusals, too, and none of the file was counted; ids and truths may begin with a dash.
    monkeypatch.setattr("certiset.service.client.outcomes._PIECE", 1)
    assert "line 4: This prediction_id is unknown" in of_file("a.csv", f"prediction_id,y\n\n{one},1\n-{'A' * 60},1\n")
    assert "line 2: " in of_file("a.csv", f'prediction_id,y\n{one},"1,2"\n')
    assert "This prediction_id is unknown" in certiset("outcomes", "correct", f"-{'A' * 60}", "-1.5e-3", code=2)
    assert "was a replay" in certiset("outcomes", "annul", client.predict_set(id, 0.3, member=0).prediction_id, code=2)
    never = certiset("outcomes", "annul", client.predict_set(id, 0.4).prediction_id, code=2)
    assert "outcome" in never


def test_calibrations_that_do_not_succeed(shell: Shell, inputs: tuple[Dataset, Model]) -> None:
    asked = ["calibrate", "--dataset", inputs[0].id, "--model", inputs[1].id]
    assert "alpha" in shell(*asked, "--alpha", "7", code=2)
    assert "choose from 'pac_bayes', 'learned', 'standard'" in shell(*asked, "--method", "magic", code=2)
    assert "method must be one of pac_bayes, learned, standard" in shell(*asked, "--set", "method=magic", code=2)
    assert "--model is required" in shell("calibrate", "--dataset", inputs[0].id, code=2)
    endless = [*asked, "--set", "prior.steps=1000000"]
    started = shell.json(*endless, "--detach")
    assert started["status"] in ("queued", "running")
    watching = shell.start("calibrate", "--watch", started["id"])
    assert started["id"] in shell("calibrate", "--cancel", started["id"])
    _, errors = watching.communicate(timeout=60)
    assert watching.returncode == 1
    assert "cancelled" in errors
    ended = shell.json("calibrate", "--watch", started["id"], code=1)
    assert ended["status"] == "cancelled"


def test_exit_code_1_for_a_fit_that_failed(shell: Shell, client: Client, inputs: tuple[Dataset, Model]) -> None:
    state = client.calibrations.cancel(client.calibrations.start(inputs[0].id, inputs[1].id).id).model_dump()
    failed = {**state, "status": "failed", "error": "The disk is full."}
    done = f"event: done\nid: 1\ndata: {json.dumps(failed)}\n\n"
    with scripted(
        (200, {}, {**state, "status": "running"}), (200, {"Content-Type": "text/event-stream"}, done)
    ) as server:
        process = shell.start("calibrate", "--watch", state["id"], "--url", server.url)
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (1, "")
    assert f"{state['id']}  failed: The disk is full.\n" in errors


def test_ctrl_c_stops_the_watching_and_not_the_fit(shell: Shell, inputs: tuple[Dataset, Model], client: Client) -> None:
    asked = ["--dataset", inputs[0].id, "--model", inputs[1].id, "--name", "ctrl-c"]
    process = shell.start("calibrate", *asked, "--set", "prior.steps=1000000")
    try:
        wait_until(lambda: running(client, "ctrl-c"), 60, "the fit")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 130
        (id,) = running(client, "ctrl-c")
        assert f"The calibration is still running.\nWatch it with: certiset calibrate --watch {id}\n" in errors
        assert "Traceback" not in errors
    finally:
        process.kill()
        process.communicate()
        for id in running(client, "ctrl-c"):
            client.calibrations.cancel(id)


def running(client: Client, name: str) -> list[str]:
    return [found.id for found in client.calibrations.list(status="running") if found.name == name and found.progress]


@pytest.mark.parametrize(
    "command",
    [
        ["datasets", "list"],
        ["models", "list"],
        ["calibrate", "--watch", "cal-1"],
        ["predict", "pred-1", "--x", "1"],
        ["certificates", "list"],
    ],
)
def test_exit_code_3_where_nobody_answers(shell: Shell, command: list[str]) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    assert shell(*command, "--url", url, code=3) == (
        f"certiset {command[0]}: Nothing answers at {url}: is `certiset up` running?\n"
    )


def test_exit_code_2_for_a_wrong_key_and_wrong_arguments(shell: Shell, deployment: Server) -> None:
    told_so = shell("datasets", "list", "--key", "wrong", code=2)
    assert "This API key is unknown, or was revoked" in told_so
    assert "CERTISET_KEY" in told_so
    assert "invalid choice" in shell("data-sets", code=2)
    assert "must be comma-separated numbers" in shell("predict", deployment.id("regression"), "--x", "a", code=2)
    predict = ("predict", deployment.id("regression"), "--file")
    assert "rows.txt is not one of .csv, .json, .npz, .parquet" in shell(*predict, "rows.txt", code=2)
    (shell.folder / "empty.csv").write_text("a\n")
    assert "no rows" in shell(*predict, "empty.csv", code=2)


def test_exit_code_1_for_a_certificate_that_does_not_hold(shell: Shell) -> None:
    check = {"name": "rank", "ok": False, "expected": 7, "found": 9}
    with scripted((200, {}, {"valid": False, "status": "contradicted", "checks": [check]})) as server:
        text = shell("certificates", "verify", "cert-1", "--url", server.url, code=1)
    assert "FAILED  rank: expected 7, found 9" in text
    assert "do not rely on it" in text
    assert "contradict it" in text


def test_settings_reach_into_objects() -> None:
    def read(*arguments: str) -> dict[str, Any]:
        return given_options(build_parser(["calibrate"]).parse_args(["calibrate", "--dataset", "ds-1", *arguments]))

    assert read("--score", "raps", "--set", "score.penalty=0.1", "--alpha", "0.2") == {
        "alpha": 0.2,
        "score": {"kind": "raps", "penalty": 0.1},
    }
    assert read("--allow-missing-classes", "--size-cap", "4", "--dtype", "float64") == {
        "allow_missing_classes": True,
        "size_cap": 4.0,
        "dtype": "float64",
    }
    assert read("--set", "alpha_hat=[0.05,0.07]", "--set", "tune=head") == {"alpha_hat": [0.05, 0.07], "tune": "head"}
    for wrong in ("prior", "=1", "a.b.c=1"):
        with pytest.raises(CommandError, match="KEY=VALUE"):
            read("--set", wrong)
    with pytest.raises(CommandError, match="as a whole"):
        read("--set", "prior=1", "--set", "prior.steps=1")


def test_bench_knows_every_benchmark_and_no_other(shell: Shell) -> None:
    files = {file.stem for file in Path(benchmark_folders[0]).glob("*.py") if "__main__" in file.read_text()}
    assert set(BENCHMARKS) == files
    assert "There is no benchmark 'magic'" in shell("bench", "magic", code=2)


def test_benchmarks_need_a_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("certiset.service.cli.checkout._candidates", lambda: [tmp_path])
    with pytest.raises(CommandError, match="run this in a checkout of the project"):
        benchmark_process("bounds", "certiset bench")


def test_bench_runs_what_is_named(shell: Shell) -> None:
    assert "== bounds" in shell("bench", "bounds")
    shell.environment["CERTISET_REFERENCE"] = str(shell.folder)
    (ran,) = shell.json("bench", "fit_speed", code=1)
    assert (ran["name"], ran["exit_code"]) == ("fit_speed", 1)
