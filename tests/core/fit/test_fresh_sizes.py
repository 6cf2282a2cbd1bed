"""Sizes certified on fresh inputs: true as often as promised, recomputed by anyone, refused where they say little."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import certiset
from certiset.core.bounds import BoundsError
from certiset.core.certificate import Certificate, SizeStatement
from certiset.core.certificate.attestation import size_attestation
from certiset.core.certificate.fresh_sizes import size_account
from certiset.core.certificate.signing import Signer
from certiset.core.errors import DamagedFileError, DataError, OptionError
from certiset.core.fit import Predictor, fit
from tests.core.fit.problems import (
    QUICK,
    STEPS_PAY,
    class_data,
    class_model,
    shifted_logits,
    shifted_logits_model,
    toy_data,
    toy_model,
)


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return fit(class_model(), *class_data(600, 0), method="standard")


@pytest.fixture(scope="module")
def statement(predictor: Predictor) -> SizeStatement:
    return predictor.certify_size(class_data(2000, 1)[0])


@pytest.fixture(scope="module")
def pool() -> Predictor:
    return fit(shifted_logits_model(), *shifted_logits(3000, 8), **STEPS_PAY)


@pytest.fixture(scope="module")
def intervals() -> Predictor:
    return fit(toy_model(), *toy_data(600, 0), score="scaled_residual", size_cap=4.0, **QUICK)


def test_the_sentence_says_what_was_measured_and_over_what_it_holds(statement: SizeStatement) -> None:
    sizes = statement.sizes
    assert statement.statement == (
        "With probability at least 95 % over the 2,000 fresh inputs that it was measured on, the mean size (labels) of "
        f"future sets is at most {math.ceil(1000 * sizes.upper_bound) / 1000:g} labels."
    )
    assert any("used for nothing else" in assumption for assumption in statement.assumptions)
    assert (sizes.rows, sizes.distinct_rows, sizes.steps, sizes.cap) == (2000, 2000, 3, 3.0)
    assert sizes.empirical < sizes.upper_bound < 1.05 * sizes.empirical
    assert not statement.caveats


def test_the_counts_are_those_of_the_sets_that_are_served(predictor: Predictor, statement: SizeStatement) -> None:
    served = predictor.predict_set(class_data(2000, 1)[0]).size
    levels, counts = np.unique(served, return_counts=True)
    assert statement.sizes.counts == [[int(level), int(often)] for level, often in zip(levels, counts, strict=True)]


def test_it_is_tighter_than_what_the_calibration_rows_allow(predictor: Predictor, statement: SizeStatement) -> None:
    assert predictor.certificate.efficiency.upper_bound is not None
    assert statement.upper_bound < predictor.certificate.efficiency.upper_bound


def test_anyone_can_compute_it_again(statement: SizeStatement, tmp_path_factory: pytest.TempPathFactory) -> None:
    text = json.dumps(statement.to_json())
    assert SizeStatement.from_json(text) == statement
    assert statement.verify().valid
    assert certiset.verify(text).holds
    file = tmp_path_factory.mktemp("statement") / "sizes.json"
    file.write_text(text)
    assert certiset.verify(file).valid
    assert not certiset.verify(file).trusted


def changed(statement: SizeStatement, **sizes: Any) -> SizeStatement:
    other = replace(statement, sizes=replace(statement.sizes, **sizes))
    return replace(other, id=other.digest_id)


@pytest.mark.parametrize(
    "sizes",
    [
        {"upper_bound": 1.0},
        {"empirical": 1.0},
        {"gamma": 0.2},
        {"gamma": 1.5},
        {"rows": 3000},
        {"distinct_rows": 2001},
        {"cap": 2.0},
        {"steps": 4},
        {"steps": 0},
        {"measure": "tons"},
        {"bound": "grid_kl"},
        {"member": 1},
        {"members": 0},
        {"members": 2},
        {"weights": [0.5, 0.5]},
        {"counts": [[1, 2000]]},
        {"counts": [[2, 1000], [1, 1000]]},
        {"counts": [[1]]},
        {"counts": []},
    ],
)
def test_no_number_can_be_changed(statement: SizeStatement, sizes: dict[str, Any]) -> None:
    assert not changed(statement, **sizes).verify().valid


def test_neither_can_its_words(statement: SizeStatement) -> None:
    wrong_words: list[dict[str, Any]] = [
        {"statement": "Sets are small."},
        {"assumptions": []},
        {"kind": "certificate"},
        {"id": "size-0"},
    ]
    for words in wrong_words:
        assert not replace(statement, **words).verify().valid
    content = statement.to_json()
    for wrong in ({**content, "more": 1}, {**content, "format": 3}, {k: v for k, v in content.items() if k != "sizes"}):
        with pytest.raises(DamagedFileError):
            certiset.verify(wrong)
    with pytest.raises(DamagedFileError):
        Certificate.from_json(content)


def test_it_is_signed_like_a_certificate(
    statement: SizeStatement, predictor: Predictor, tmp_path_factory: pytest.TempPathFactory
) -> None:
    signer = Signer.from_file_or_new(tmp_path_factory.mktemp("key") / "signing.pem", "An issuer")
    signed = signer.sign(replace(statement, account=size_account([0.05, 0.05])))
    assert signed.id == statement.id
    assert signed.names is not None
    assert signed.names.issuer == "An issuer"
    assert certiset.verify(signed, signer.public_key).trusted
    assert not replace(signed, issued_at="2020-01-01T00:00:00Z").verify(signer.public_key).valid
    assert not replace(signed, account=size_account([0.05])).verify(signer.public_key).valid
    word = json.loads(size_attestation(signed, json.dumps(signed.to_json())))
    assert word["predicateType"].endswith(":sizes/v2")
    assert word["predicate"]["sizes"]["rows"] == 2000
    assert word["subject"][1]["digest"]["sha256"] == predictor.certificate.provenance.predictor_sha256


def test_several_statements_share_their_risk() -> None:
    assert size_account([0.05]).statement == "This is the first statement of its kind about the predictor."
    third = size_account([0.05, 0.1, 0.05])
    assert (third.number, third.gamma_all) == (3, 0.2)
    assert "number 3" in third.statement
    assert "at least 80 %" in third.statement


def test_a_pool_is_certified_as_it_is_served(pool: Predictor) -> None:
    assert pool.members > 1
    x, _ = shifted_logits(1500, 7)
    statement = pool.certify_size(x, gamma=0.1)
    each = np.mean([pool.predict_set(x, member=m).size for m in range(pool.members)], axis=0)
    assert statement.sizes.member is None
    assert "each by a member drawn at random," in statement.statement
    assert each.mean() <= statement.sizes.empirical <= each.mean() + 1 / 1024
    assert statement.verify().valid
    alone = pool.certify_size(x, gamma=0.1, member=1)
    assert "all of them by member 1," in alone.statement
    assert alone.sizes.empirical == pytest.approx(pool.predict_set(x, member=1).size.mean())
    assert alone.verify().valid
    assert not changed(alone, member=pool.members).verify().valid


def test_widths_are_cut_where_the_certificate_cuts_them(intervals: Predictor) -> None:
    x = toy_data(3000, 5)[0]
    statement = intervals.certify_size(x)
    width = intervals.predict_set(x).size
    assert (statement.sizes.measure, statement.sizes.cap, statement.sizes.steps) == ("width", 4.0, 1024)
    assert statement.statement.endswith(", where sizes above 4 count as 4.")
    assert np.minimum(width, 4).mean() <= statement.sizes.empirical <= np.minimum(width, 4).mean() + 4 / 1024
    assert statement.verify().valid


def test_what_would_say_nothing_is_refused(intervals: Predictor) -> None:
    one_width = fit(toy_model(), *toy_data(300, 0), method="standard")
    with pytest.raises(DataError, match="no inputs are needed"):
        one_width.certify_size(toy_data(300, 1)[0])
    tight = fit(toy_model(), *toy_data(600, 0), score="scaled_residual", size_cap=0.3, **QUICK)
    with pytest.raises(DataError, match="larger size_cap"):
        tight.certify_size(toy_data(300, 1)[0])
    with pytest.raises(DataError, match="More inputs"):
        intervals.certify_size(toy_data(3, 1)[0], gamma=0.001)


def test_copies_among_the_inputs_are_a_caveat(predictor: Predictor) -> None:
    x = class_data(500, 3)[0]
    statement = predictor.certify_size(np.concatenate([x, x]))
    assert statement.sizes.distinct_rows == 500
    assert [caveat.code for caveat in statement.caveats] == ["equal_rows"]
    assert "may be false" in statement.caveats[0].message
    assert statement.caveats[0].message.startswith("100 % of the inputs")
    assert statement.verify().valid


@pytest.mark.parametrize(
    ("x", "options", "error"),
    [
        (np.zeros((10, 3)), {}, DataError),
        (np.full((10, 2), np.nan), {}, DataError),
        (np.zeros((1, 2)), {}, DataError),
        (np.zeros((0, 2)), {}, DataError),
        (np.zeros((10, 2)), {"gamma": 0.0}, BoundsError),
        (np.zeros((10, 2)), {"gamma": math.nan}, BoundsError),
        (np.zeros((10, 2)), {"member": 1}, OptionError),
        (np.zeros((10, 2)), {"member": "0"}, OptionError),
    ],
)
def test_what_cannot_be_certified_is_named(
    predictor: Predictor, x: Any, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        predictor.certify_size(x, **options)


def test_it_fails_no_more_often_than_gamma(predictor: Predictor) -> None:
    truth = float(predictor.predict_set(class_data(100_000, 11)[0]).size.mean())
    gamma, trials = 0.2, 200
    bounds = [predictor.certify_size(class_data(120, 100 + t)[0], gamma=gamma).upper_bound for t in range(trials)]
    assert sum(bound < truth for bound in bounds) <= trials * gamma + 3 * math.sqrt(trials * gamma * (1 - gamma))
