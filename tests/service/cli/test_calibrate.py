"""From data to certified sets on the command line, with the fit watched, interrupted and cancelled."""

import hashlib
import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from certiset.service.cli.errors import CommandError
from certiset.service.cli.fit_flags import given_options
from certiset.service.cli.main import build_parser
from certiset.service.client import Client, Dataset, Model
from tests.core.fit.problems import class_data, class_model
from tests.servers import wait_until
from tests.service.cli.shell import Shell
from tests.service.client.scripted_server import scripted

QUICK = ["--method", "learned", "--members", "8", "--set", "prior.steps=60", "--set", "optimizer.steps=20"]


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


def test_calibrations_that_do_not_succeed(shell: Shell, inputs: tuple[Dataset, Model]) -> None:
    asked = ["calibrate", "--dataset", inputs[0].id, "--model", inputs[1].id]
    assert "alpha" in shell(*asked, "--alpha", "7", code=2)
    assert "choose from 'auto', 'standard', 'learned', 'pac_bayes', 'progressive'" in shell(
        *asked, "--method", "magic", code=2
    )
    assert "method must be one of auto, standard, learned" in shell(*asked, "--set", "method=magic", code=2)
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
