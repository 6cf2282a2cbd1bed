"""All alpha at once: thresholds for every rank, one alpha for all inputs, sizes that are measured and certified."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.core.bounds import simultaneous_rank
from certiset.core.certificate import Certificate
from certiset.core.certificate.completion import completed
from certiset.core.certificate.levels import Levels
from certiset.core.errors import ConflictError, OptionError
from certiset.core.fit import Predictor, fit, load
from certiset.core.fit.audit import audit
from certiset.core.fit.fitting import check
from tests.core.fit.problems import class_data, class_model, toy_data, toy_model

PLAIN: dict[str, Any] = {"method": "standard"}
X, Y = class_data(500, 0)
TEST_X, TEST_Y = class_data(2000, 1)


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return fit(class_model(), X, Y, alpha="all", **PLAIN)


def levels_of(predictor: Predictor) -> Levels:
    assert predictor.certificate.levels is not None
    return predictor.certificate.levels


def failed(certificate: Certificate) -> list[str]:
    """By its own numbers, whatever they say: with the words and the name that would go with them."""
    return [check.name for check in completed(certificate).verify().checks if not check.ok]


def test_ranks_are_the_golden_ones_and_thresholds_are_those_of_these_ranks(predictor: Predictor) -> None:
    table = {level.alpha: level for level in levels_of(predictor).table}
    assert [table[alpha].k for alpha in (0.05, 0.1, 0.2)] == [13, 33, 77]
    assert [row.rank_of_one_alpha for row in predictor.levels() if row.alpha in (0.05, 0.1, 0.2)] == [17, 39, 85]
    for alpha, level in table.items():
        inside = predictor.predict_set(X, alpha=alpha).contains(Y)
        assert np.count_nonzero(inside) == len(X) + 1 - level.k, "as many truths as the rank says"


def test_the_sentence_is_for_every_alpha_and_forbids_one_for_each_input(predictor: Predictor) -> None:
    certificate = predictor.certificate
    assert certificate.verify()
    assert "for every alpha from 0.0108 on, all at once" in certificate.statement
    assert "one alpha for all inputs" in certificate.statement
    assert (certificate.coverage.alpha, certificate.coverage.bound) == (0.1, "simultaneous")
    assert certificate.options is not None
    assert certificate.options["alpha"] == "all"


def test_sets_grow_as_alpha_falls_and_cover_what_was_asked(predictor: Predictor) -> None:
    before = np.full(TEST_X.shape[0], np.inf)
    for alpha in (0.02, 0.05, 0.1, 0.2, 0.3, 0.7):
        sets = predictor.predict_set(TEST_X, alpha=alpha)
        assert np.all(sets.size <= before)
        assert sets.contains(TEST_Y).mean() > 1 - alpha - 0.02
        before = sets.size


@pytest.mark.parametrize("alpha", [None, 0.0, 0.01, 1.0, float("nan")])
def test_an_alpha_that_cannot_be_promised_is_refused(predictor: Predictor, alpha: float | None) -> None:
    with pytest.raises(OptionError) as caught:
        predictor.predict_set(TEST_X[:2], alpha=alpha)
    assert caught.value.field == "alpha"


def test_a_promise_for_one_alpha_answers_at_no_other() -> None:
    one = fit(class_model(), X, Y, alpha=0.1, **PLAIN)
    assert len(one.predict_set(TEST_X[:3], alpha=0.1)) == 3
    with pytest.raises(OptionError, match=r"alpha = 0\.1 alone"):
        one.predict_set(TEST_X[:3], alpha=0.2)
    with pytest.raises(ConflictError, match="calibrate with alpha"):
        one.levels()


def test_sizes_are_measured_and_certified_at_every_level(predictor: Predictor) -> None:
    for row in predictor.levels():
        assert row.size == pytest.approx(predictor.predict_set(X, alpha=row.alpha).size.mean(), abs=1e-6)
        assert row.size_bound is not None
        assert row.size <= row.size_bound <= 3
        assert row.size_bound > predictor.predict_set(TEST_X, alpha=row.alpha).size.mean() - 0.05
    least = predictor.smallest_alpha(size=1)
    assert least is not None
    assert np.mean(predictor.predict_set(X, alpha=least).size <= 1) >= 0.9
    assert np.mean(predictor.predict_set(X, alpha=least - 0.01).size <= 1) < 0.9
    assert predictor.smallest_alpha(size=0, share=0.99) is None
    with pytest.raises(OptionError, match="share"):
        predictor.smallest_alpha(size=1, share=1.5)


@pytest.mark.parametrize(
    "options",
    [
        {"ties": "hash"},
        {"non_empty": True},
        {"score": "aps"},
        {"method": "learned", "prior": {"steps": 2}},
        {"alpha_around": 0.05, "delta": 0.1, "family": 2},
    ],
)
def test_it_goes_with_other_options_and_survives_being_saved(tmp_path: Path, options: dict[str, Any]) -> None:
    made = fit(class_model(), X, Y, **{"alpha": "all", **PLAIN, **options})
    assert failed(made.certificate) == []
    made.save(tmp_path)
    again = load(tmp_path)
    for alpha in (0.05, 0.25):
        assert again.predict_set(TEST_X, alpha=alpha).to_json() == made.predict_set(TEST_X, alpha=alpha).to_json()
    file, description = tmp_path / "predictor.safetensors", made.stored.description()
    assert [c.name for c in audit(made.certificate, class_model(), X, Y, file, description) if not c.ok] == []


def test_intervals_have_exact_sizes_at_every_level() -> None:
    x, y = toy_data(400, 0)
    made = fit(toy_model(), x, y, alpha="all", score="residual", **PLAIN)
    assert failed(made.certificate) == []
    for row in made.levels():
        width = made.predict_set(x[:5], alpha=row.alpha).size
        assert row.size_bound is not None
        assert np.all(width <= row.size_bound * (1 + 1e-6))


def test_widths_are_certified_at_levels_far_from_the_one_that_was_tuned_for() -> None:
    """With many different sizes, too, which are rounded up to fewer."""
    (x, y), (test_x, _) = toy_data(1000, 0), toy_data(3000, 1)
    made = fit(toy_model(), x, y, alpha="all", method="learned", prior={"steps": 20})
    assert failed(made.certificate) == []
    certified = {row.alpha: row.size_bound for row in made.levels() if row.size_bound is not None}
    assert {0.05, 0.1, 0.2, 0.3} <= set(certified)
    for alpha, bound in certified.items():
        mean = made.predict_set(test_x, alpha=alpha).size.mean()
        assert 0.97 * mean < bound < 1.6 * mean, alpha
    assert all(len(level.size_counts or []) <= 64 for level in levels_of(made).table)


def test_auto_gives_one_member_and_too_few_rows_are_told() -> None:
    _, plan = check(class_model(), X, Y, alpha="all")
    assert plan.options.guarantee == "per_draw"
    with pytest.raises(ValueError, match=r"at least \d+ are needed"):
        check(class_model(), X[:30], Y[:30], alpha="all", **PLAIN)


def test_sizes_on_fresh_inputs_need_one_alpha(predictor: Predictor) -> None:
    with pytest.raises(OptionError, match="one alpha"):
        predictor.certify_size(TEST_X)


def test_a_table_that_was_changed_is_not_valid(predictor: Predictor) -> None:
    certificate, levels = predictor.certificate, levels_of(predictor)
    first = levels.table[0]
    changed = {
        "thresholds": replace(levels, taus=levels.taus[1:]),
        "order of the thresholds": replace(levels, taus=levels.taus[::-1]),
        "alpha_max": replace(levels, alpha_max=0.5),
        "ranks and thresholds of the levels": replace(levels, table=[replace(first, k=first.k + 1), *levels.table[1:]]),
        f"size at {first.alpha}": replace(levels, table=[replace(first, size_bound=1.0), *levels.table[1:]]),
        "levels of the table": replace(levels, table=levels.table[1:]),
        "sizes of the levels": replace(levels, table=[replace(first, sizes=[1.0]), *levels.table[1:]]),
    }
    for name, forged in changed.items():
        assert name in failed(replace(certificate, levels=forged)), name
    assert failed(replace(certificate, levels=None))
    bold = replace(certificate.coverage, k=int(simultaneous_rank(500, 0.1, 0.05)) + 1)
    assert failed(replace(certificate, coverage=bold))
