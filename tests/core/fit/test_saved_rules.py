"""Rules for ties and empty sets as they are stored and stated: read back, verified, and noticed if they were edited."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from certiset import verify
from certiset.core.certificate import Certificate
from certiset.core.errors import DamagedFileError
from certiset.core.fit import Predictor, load
from tests.core.fit.forests import RULES, forest
from tests.core.fit.problems import (
    forest_votes,
)


def test_the_same_seed_gives_the_same_sets_and_another_seed_another_key(forests: dict[str, Predictor]) -> None:
    again, other = forest(ties="hash"), forest(ties="hash", seed=1)
    assert again.certificate.digest == forests["ties"].certificate.digest
    assert again.stored.to_bytes() == forests["ties"].stored.to_bytes()
    assert other.scorer.rule != again.scorer.rule
    x = forest_votes(500, 3)[0]
    assert other.predict_set(x).to_json() != again.predict_set(x).to_json()


@pytest.mark.parametrize("name", RULES)
def test_a_saved_predictor_answers_as_before_and_verifies(
    forests: dict[str, Predictor], name: str, tmp_path: Path
) -> None:
    predictor, x = forests[name], forest_votes(300, 4)[0]
    predictor.save(tmp_path)
    loaded = load(tmp_path)
    assert loaded.scorer.rule == predictor.scorer.rule
    assert loaded.predict_set(x).to_json() == predictor.predict_set(x).to_json()
    assert verify(tmp_path).holds
    assert Certificate.from_json(json.loads(json.dumps(predictor.certificate.to_json()))) == predictor.certificate


def test_predictors_without_a_rule_are_stored_as_before(forests: dict[str, Predictor]) -> None:
    plain = forests["plain"]
    assert set(plain.stored.description()["scoring"]) == {"score", "tunes_head", "scale_inputs"}
    assert "tie" not in plain.certificate.to_json()["members"][0]
    assert not any("ties" in sentence for sentence in plain.certificate.assumptions)
    assert b"members.tie" not in plain.stored.to_bytes()
    before = {name: value for name, value in plain.certificate.options.items() if name not in ("ties", "non_empty")}  # type: ignore[union-attr]
    old = replace(plain.certificate, options=before)
    assert replace(old, id=old.digest_id).verify().valid


@pytest.mark.parametrize(
    "edit",
    [
        {"key": "0" * 32},
        {"key": "0" * 31},
        {"key": None},
        {"width": 2.0**-9},
        {"width": 0.3},
        {"width": "1"},
        {"kind": "other"},
        {"more": 1},
    ],
)
def test_an_edited_key_is_noticed(forests: dict[str, Predictor], tmp_path: Path, edit: dict[str, Any]) -> None:
    forests["ties"].save(tmp_path)
    file = tmp_path / "predictor.json"
    content = json.loads(file.read_text())
    content["scoring"]["ties"] |= edit
    file.write_text(json.dumps(content))
    with pytest.raises(DamagedFileError):
        load(tmp_path)
    assert not verify(tmp_path).holds


@pytest.mark.parametrize("non_empty", [False, 1, "true"])
def test_an_edited_rule_is_noticed(forests: dict[str, Predictor], tmp_path: Path, non_empty: Any) -> None:
    forests["top"].save(tmp_path)
    file = tmp_path / "predictor.json"
    content = json.loads(file.read_text())
    content["scoring"]["non_empty"] = non_empty
    file.write_text(json.dumps(content))
    with pytest.raises(DamagedFileError):
        load(tmp_path)


@pytest.mark.parametrize("change", ["another number", "none"])
def test_an_edited_tie_is_noticed(forests: dict[str, Predictor], tmp_path: Path, change: str) -> None:
    """With the hash of the whole file taken out of the certificate, as in one that was forged."""
    forests["ties"].save(tmp_path)
    tensors = load_file(tmp_path / "predictor.safetensors")
    if change == "none":
        del tensors["members.tie"]
    else:
        tensors["members.tie"] = tensors["members.tie"] / 2
    save_file(tensors, tmp_path / "predictor.safetensors")
    content = json.loads((tmp_path / "predictor.json").read_text())
    content["certificate"]["provenance"].pop("predictor_sha256")
    (tmp_path / "predictor.json").write_text(json.dumps(content))
    with pytest.raises(DamagedFileError, match="members"):
        load(tmp_path)
    assert {check.name for check in verify(tmp_path).checks if not check.ok} >= {"ties", "members' SHA-256"}


@pytest.mark.parametrize(("name", "tie"), [("ties", None), ("ties", 1.0), ("ties", -0.1), ("plain", 0.5), ("top", 0.5)])
def test_a_certificate_whose_ties_make_no_sense_does_not_verify(
    forests: dict[str, Predictor], name: str, tie: float | None
) -> None:
    certificate = forests[name].certificate
    changed = replace(certificate, members=[replace(certificate.members[0], tie=tie)])
    changed = replace(changed, id=changed.digest_id)
    assert "ties" in {check.name for check in changed.verify().checks if not check.ok}
    assert certificate.verify().valid


def test_the_assumption_about_the_key_is_stated(forests: dict[str, Predictor]) -> None:
    for name in ("ties", "both"):
        (said,) = (one for one in forests[name].certificate.assumptions if "breaks ties" in one)
        assert said.startswith("The seed")
