"""``certiset audit``: a real fit recomputed from its files, and what is said if one of them is not what it was."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import save_file

from certiset.core.certificate import Certificate
from certiset.core.certificate.signing import Signer
from certiset.core.certificate.size_statement import size_statement
from certiset.core.fit import fit
from certiset.core.models import Model
from certiset.service.cli.main import main
from tests.core.fit.problems import (
    QUICK,
    STEPS_PAY,
    Arrays,
    class_data,
    class_model,
    forest_votes,
    shifted_logits,
    shifted_logits_model,
    toy_data,
    toy_model,
)

TWO_OUTPUTS = Model.from_manifest({"name": "two outputs", "task": "regression", "input_shape": [2]}, {})


def two_columns(rows: int, targets: int = 1) -> Arrays:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 1)) + np.array([[-1.0, 1.0]])
    return x, x[:, :targets] + rng.normal(size=(rows, targets))


PROBLEMS: dict[str, Callable[[], tuple[Model, Arrays, dict[str, Any]]]] = {
    "labels": lambda: (class_model(), class_data(600, 0), {**QUICK, "method": "learned"}),
    "a scale that is learned": lambda: (toy_model(), toy_data(600, 0), {**QUICK, "method": "learned"}),
    "a scale that auto chose": lambda: (toy_model(), toy_data(800, 0), QUICK),
    "a pool": lambda: (class_model(), class_data(500, 0), {**QUICK, "method": "progressive"}),
    "nothing tuned": lambda: (class_model(), class_data(300, 1), {"method": "standard", "score": "aps"}),
    "a mean that is not stated": lambda: (
        TWO_OUTPUTS,
        two_columns(600),
        QUICK | {"method": "learned", "score": "cqr", "size_cap": 0.5},
    ),
    "sets of one volume": lambda: (
        TWO_OUTPUTS,
        two_columns(600, targets=2),
        QUICK | {"method": "learned", "score": "ball"},
    ),
    "ties that are broken": lambda: (
        shifted_logits_model(),
        forest_votes(500, 0),
        {"method": "standard", "ties": "hash", "non_empty": True},
    ),
    "a pool that breaks ties": lambda: (
        shifted_logits_model(),
        forest_votes(900, 1),
        {"method": "progressive", "prior": {"steps": 20}, "ties": "hash"},
    ),
    "many members": lambda: (shifted_logits_model(), shifted_logits(3000, 8), STEPS_PAY),
}


@dataclass(frozen=True)
class Files:
    certificate: Path
    dataset: Path
    manifest: Path
    weights: Path
    folder: Path
    key: str

    def audit(self, *more: str, predictor: Path | None = None) -> int:
        file = predictor or self.folder / "predictor.safetensors"
        named = [("dataset", self.dataset), ("model", self.manifest), ("model", self.weights), ("predictor", file)]
        flags = [word for name, path in named for word in (f"--{name}", str(path))]
        return main(["audit", str(self.certificate), *flags, *more])

    def said(self, capsys: pytest.CaptureFixture[str]) -> dict[str, bool]:
        capsys.readouterr()
        code = self.audit("--json", "--key", self.key)
        answer = json.loads(capsys.readouterr().out)
        assert code == (0 if answer["agrees"] else 1)
        return {check["name"]: check["ok"] for check in answer["checks"]}


@pytest.fixture(scope="module", name="made")
def made_(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Files]:
    """The files of a problem, made once."""
    known: dict[str, Files] = {}

    def make(name: str) -> Files:
        if name not in known:
            known[name] = written(tmp_path_factory.mktemp("audit"), *PROBLEMS[name]())
        return known[name]

    return make


def written(folder: Path, model: Model, data: Arrays, options: dict[str, Any]) -> Files:
    predictor = fit(model, *data, **options)
    signer = Signer.from_file_or_new(folder / "key.pem")
    np.savez(folder / "data.npz", x=data[0], y=data[1])
    (folder / "manifest.json").write_text(json.dumps(model.manifest.to_json()))
    save_file({name: tensor.contiguous() for name, tensor in model.tensors().items()}, folder / "weights.safetensors")
    signed = signer.sign(predictor.certificate)
    replace(predictor, certificate=signed).save(folder / "saved")
    (folder / "certificate.json").write_text(json.dumps(signed.to_json()))
    return Files(
        folder / "certificate.json",
        folder / "data.npz",
        folder / "manifest.json",
        folder / "weights.safetensors",
        folder / "saved",
        signer.public_key,
    )


@pytest.mark.parametrize("name", PROBLEMS)
def test_everything_agrees(made: Callable[[str], Files], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = made(name)
    said = files.said(capsys)
    assert all(said.values()), said
    for line in (
        "data's SHA-256",
        "model's SHA-256, of the model given",
        "predictor's file",
        "members' SHA-256",
        "choices and their shares of delta",
        "threshold of member 0",
        "truths within the threshold of member 0",
        "mean size",
        "size of the sets of member 0" if name == "sets of one volume" else "mean efficiency of member 0",
    ):
        assert line in said
    # Where auto stopped to reveal rows follows from rows, and not from its options.
    assert ("points that tune, and that calibrate" in said) == (name != "a scale that auto chose")
    assert files.audit(predictor=files.folder) == 0
    assert "Who signed it was not checked" in capsys.readouterr().out


def test_ties_that_are_broken_in_another_way(
    made: Callable[[str], Files], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = made("ties that are broken")
    assert {"rule of the sets", "tie of member 0", "ties"} <= set(files.said(capsys))
    document = json.loads(files.certificate.read_text())
    document["members"][0]["tie"] /= 2
    document["provenance"]["seed"] = document["options"]["seed"] = 1
    (tmp_path / "forged.json").write_text(json.dumps(document))
    said = replace(files, certificate=tmp_path / "forged.json").said(capsys)
    assert not any(said[name] for name in ("rule of the sets", "tie of member 0", "ties", "signature"))


def changed(files: Files, row: int, tmp_path: Path) -> Files:
    arrays = dict(np.load(files.dataset))
    arrays["x"][row] = -50.0 - arrays["x"][row]
    np.savez(tmp_path / "changed.npz", **arrays)
    return replace(files, dataset=tmp_path / "changed.npz")


def test_a_row_that_was_changed(
    made: Callable[[str], Files], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = changed(made("a scale that is learned"), 5, tmp_path)
    assert files.audit() == 1
    printed = capsys.readouterr().out
    assert "DIFFERS  data's SHA-256: the certificate has" in printed
    assert "agrees   members' SHA-256" in printed
    assert "This is not what the certificate says." in printed


def test_rows_that_were_changed_move_thresholds_and_sizes(
    made: Callable[[str], Files], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = made("nothing tuned")
    arrays = dict(np.load(files.dataset))
    arrays["y"] = np.roll(arrays["y"], 1)
    np.savez(tmp_path / "rolled.npz", **arrays)
    said = replace(files, dataset=tmp_path / "rolled.npz").said(capsys)
    for line in ("threshold of member 0", "truths within the threshold of member 0", "mean size"):
        assert not said[line], line
    assert said["points that tune, and that calibrate"]


def test_a_row_too_few_and_another_model(
    made: Callable[[str], Files], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = made("nothing tuned")
    arrays = np.load(files.dataset)
    np.savez(tmp_path / "short.npz", x=arrays["x"][1:], y=arrays["y"][1:])
    assert not replace(files, dataset=tmp_path / "short.npz").said(capsys)["rows"]
    tensors = class_model().tensors()
    save_file({**tensors, "head.1.bias": tensors["head.1.bias"] + 1}, tmp_path / "other.safetensors")
    said = replace(files, weights=tmp_path / "other.safetensors").said(capsys)
    assert not said["model's SHA-256, of the model given"]
    assert said["model's SHA-256"], "the predictor's file has the right one"


def test_a_certificate_that_was_changed(
    made: Callable[[str], Files], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = made("nothing tuned")
    document = json.loads(files.certificate.read_text())
    document["members"][0]["tau"] -= 0.1
    document["data"]["file_sha256"] = "0" * 64
    (tmp_path / "forged.json").write_text(json.dumps(document))
    said = replace(files, certificate=tmp_path / "forged.json").said(capsys)
    wrong = {name for name, ok in said.items() if not ok}
    assert {"id", "signature", "threshold of member 0", "thresholds", "data file's SHA-256"} <= wrong
    assert said["mean size"]


def test_sizes_that_the_issuer_made_smaller(
    made: Callable[[str], Files], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers that go together, signed by the issuer's own key: only the rows tell."""
    files = made("labels")
    certificate = Certificate.from_json(json.loads(files.certificate.read_text()))
    quantile, first = certificate.efficiency.quantile, certificate.members[0]
    assert quantile is not None
    size = quantile.size - 1
    forged = replace(
        certificate,
        members=[replace(first, size_quantile=size)],
        efficiency=replace(certificate.efficiency, quantile=replace(quantile, size=size)),
        signature=None,
    )
    forged = replace(forged, size_statement=size_statement(forged))
    signed = Signer.from_file_or_new(files.folder.parent / "key.pem").sign(replace(forged, id=forged.digest_id))
    assert signed.verify(files.key).valid
    (tmp_path / "smaller.json").write_text(json.dumps(signed.to_json()))
    said = replace(files, certificate=tmp_path / "smaller.json").said(capsys)
    assert not said["size quantile of member 0"]
    assert said["mean size"]


def test_files_that_cannot_be_read(
    made: Callable[[str], Files], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = made("nothing tuned")
    nowhere, text = tmp_path / "nowhere.npz", tmp_path / "text.txt"
    text.write_text("{")
    for wrong in (
        replace(files, dataset=nowhere),
        replace(files, dataset=text),
        replace(files, certificate=nowhere),
        replace(files, certificate=text),
        replace(files, weights=nowhere),
        replace(files, manifest=files.weights),
        replace(files, folder=tmp_path),
    ):
        assert wrong.audit() == 2
        assert capsys.readouterr().err.startswith("certiset audit: ")
    for predictor in (text, files.weights):
        assert files.audit(predictor=predictor) == 2
    assert "Traceback" not in capsys.readouterr().err
