"""Forged certificates before an auditor: none of them is one that the issuer has signed, and the exit code says so."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from certiset.core.certificate import Certificate, Data, ModelFacts, Names
from certiset.core.certificate.signing import Signer
from certiset.core.certificate.sizes import SizeNumbers
from certiset.core.fit import Predictor, fit
from certiset.core.fit.candidates import point_candidate
from certiset.core.fit.certification import Certified, fitted
from certiset.core.fit.issuing import issue
from certiset.core.fit.methods import METHODS
from certiset.core.fit.options import FitOptions
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.thresholds import Calibrated
from certiset.core.fit.workspace import Workspace
from certiset.service.cli.main import main
from tests.core.fit.problems import QUICK, class_data, class_model

Content = dict[str, Any]


@pytest.fixture(scope="module", name="predictor")
def predictor_() -> Predictor:
    return fit(class_model(), *class_data(400, 0), **QUICK, method="learned")


@pytest.fixture(name="signer")
def signer_(tmp_path: Path) -> Signer:
    return Signer.from_file_or_new(tmp_path / "key.pem")


@pytest.fixture(name="genuine")
def genuine_(predictor: Predictor, signer: Signer) -> Content:
    return signer.sign(predictor.certificate).to_json()


@pytest.fixture(name="verify")
def verify_(tmp_path: Path, signer: Signer) -> Callable[[Any], int]:
    """The exit code for a document, or its text, to a reader who trusts the issuer's key."""

    def verify(document: Any) -> int:
        file = tmp_path / "certificate.json"
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        return main(["verify", str(file), "--key", signer.public_key])

    return verify


def test_the_genuine_one(genuine: Content, verify: Callable[[Any], int]) -> None:
    assert verify(genuine) == 0


def test_a_signature_that_was_stripped(genuine: Content, verify: Callable[[Any], int]) -> None:
    assert verify(genuine | {"signature": None}) == 3
    del genuine["signature"]
    assert verify(genuine) == 2


def invented(n: int, tau: float) -> Certificate:
    """A certificate whose numbers all follow from each other: made with the issuer's own program, and without data."""
    asked = FitOptions.read({"method": "standard", "score": "lac", "bound": "vovk_2b"})
    plan = METHODS["standard"].plan(asked.resolved("classification", "per_draw"), n)
    candidate = point_candidate(plan, 0, torch.zeros(0))
    numbers = SizeNumbers(np.zeros(1), n, plan.gamma(0), draws=1, grid_size=None)
    sizes = (3.0 * numbers.mean_bounds(np.zeros(1), "monotone")).tolist()
    calibrated = Calibrated([tau], [0.0], [0.0], [], [0.0], [0.0], [], [])
    rows = torch.zeros(0, dtype=torch.int64)
    certified = Certified(candidate, rows, calibrated, "monotone", None, 3.0, sizes, sizes[0], [0])
    work, scorer = cast(Workspace, SimpleNamespace(plan=plan)), cast(Scorer, SimpleNamespace(score=plan.score))
    return issue(
        plan.options,
        fitted(work, scorer, certified),
        members_sha256="0" * 64,
        predictor_sha256="0" * 64,
        model_sha256="0" * 64,
        dataset_sha256="0" * 64,
        device="cpu",
        messages=[],
        caveats=[],
        data=Data(rows=n),
        model=ModelFacts("proved"),
        names=Names(),
    )


def test_a_million_points_and_a_threshold_that_were_invented(
    verify: Callable[[Any], int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Its numbers hold, as those of any honest certificate do: all that it lacks is a signature."""
    forged = invented(10**6, tau=-1e9)
    assert forged.verify().holds
    assert verify(forged.to_json()) == 3
    assert "nobody that you named has signed" in capsys.readouterr().out
    assert verify(Signer.from_file_or_new(tmp_path / "forger.pem").sign(forged).to_json()) == 3


def test_a_number_that_was_changed_breaks_the_signature(genuine: Content, verify: Callable[[Any], int]) -> None:
    genuine["members"][0]["tau"] = -1e9
    genuine["id"] = Certificate.from_json(genuine).digest_id
    assert verify(genuine) == 1
    # Without the signature it is one invention among others.
    assert verify(genuine | {"signature": None}) == 3


def test_a_name_that_stands_twice(genuine: Content, verify: Callable[[Any], int]) -> None:
    text = json.dumps(genuine)
    statement = json.dumps(genuine["statement"])
    assert verify(text.replace('{"id":', '{"statement": "The truth, always.", "id":', 1)) == 2
    assert verify(text.replace(f'"statement": {statement}', f'"statement": {statement}, "statement": {statement}')) == 2
    assert verify(text.replace('"alpha": 0.1', '"alpha": 0.0001, "alpha": 0.1', 1)) == 2


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have(genuine: Content, verify: Callable[[Any], int], number: str) -> None:
    genuine["members"][0]["tau"] = "HERE"
    assert verify(json.dumps(genuine).replace('"HERE"', number)) == 2
    genuine["members"][0]["tau"], genuine["options"]["more"] = 0.5, "HERE"
    assert verify(json.dumps(genuine).replace('"HERE"', number)) == 2


@pytest.mark.parametrize("where", ["", "coverage", "provenance", "names"])
def test_fields_that_no_certificate_has(genuine: Content, verify: Callable[[Any], int], where: str) -> None:
    (genuine[where] if where else genuine)["approved_by"] = "everybody"
    assert verify(genuine) == 2


def test_a_genuine_certificate_inside_a_forged_document(
    genuine: Content, verify: Callable[[Any], int], tmp_path: Path, signer: Signer
) -> None:
    forged = invented(10**6, tau=-1e9).to_json()
    description = {"format": 1, "manifest": {}, "scoring": {}}
    for around in (forged, {}, {"items": [genuine]}, {"format": 1}, description, description | {"note": "trust me"}):
        assert verify(around | {"certificate": genuine}) == 2
        # Not under the name of a predictor's own file, either.
        file = tmp_path / "predictor.json"
        file.write_text(json.dumps(around | {"certificate": genuine}))
        assert main(["verify", str(file), "--key", signer.public_key]) == 2


def test_tensors_beside_a_genuine_certificate_that_are_not_its_own(
    predictor: Predictor, signer: Signer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "saved"
    replace(predictor, certificate=signer.sign(predictor.certificate)).save(folder)
    file = folder / "predictor.safetensors"
    tensors, whole = load_file(file), file.read_bytes()
    command = ["verify", str(folder), "--key", signer.public_key]
    assert main(command) == 0
    for name, change in (
        ("members.tau", lambda tau: torch.full_like(tau, -1e9)),
        ("members.theta", lambda theta: theta + 1),
        ("model.head.0.bias", lambda bias: bias + 1),
    ):
        save_file({**tensors, name: change(tensors[name])}, file)
        capsys.readouterr()
        assert main(command) == 1, name
        assert "FAILED" in capsys.readouterr().out
    file.write_bytes(whole)
    description = json.loads((folder / "predictor.json").read_text())
    for forged in (
        description | {"scoring": description["scoring"] | {"tunes_head": False}},
        description | {"manifest": description["manifest"] | {"name": "another"}},
    ):
        (folder / "predictor.json").write_text(json.dumps(forged))
        assert main(command) == 1


def test_a_verdict_of_the_forgers_own(
    genuine: Content, verify: Callable[[Any], int], capsys: pytest.CaptureFixture[str]
) -> None:
    """A caveat that clears the screen, says what the reader waits for, and conceals what follows."""
    verdict = "All checks passed: the numbers hold, and the key 0123456789abcdef, which you trust, has signed them."
    forged = genuine | {
        "signature": None,
        "caveats": [{"code": "x", "message": f"\x1b[2J\n{verdict}\x1b[8m\ud800\u202e"}],
    }
    forged["id"] = Certificate.from_json(forged).digest_id
    assert verify(forged) == 3
    printed = capsys.readouterr().out
    assert verdict not in printed.splitlines()
    assert printed.replace("\n", "").isprintable()


def test_a_reader_who_goes_away_has_heard_no_verdict(
    genuine: Content, verify: Callable[[Any], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`certiset verify FILE | head -1`, with pipefail."""

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr("sys.stdout", Gone())
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert verify(genuine | {"signature": None}) == 141
