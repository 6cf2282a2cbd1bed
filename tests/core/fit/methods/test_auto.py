"""The default: as given where nothing else is clearly better, tuned or a pool where revealed rows speak for it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from certiset.core.bounds import TooFewPointsError, progressive_ranks, vovk_2b
from certiset.core.certificate import Certificate
from certiset.core.fit import Predictor, fit
from certiset.core.fit.fitting import check
from certiset.core.fit.forecast import Trial, Way
from certiset.core.fit.methods import auto
from tests.core.fit.problems import class_data, class_model, toy_data, toy_model, untrained, untrained_model

QUICK: dict[str, Any] = {"prior": {"steps": 20}}


@pytest.fixture(scope="module")
def as_given() -> Predictor:
    return fit(class_model(), *class_data(900, 0), **QUICK)


@pytest.fixture(scope="module")
def tuned() -> Predictor:
    return fit(toy_model(), *toy_data(900, 0), **QUICK)


def goes_on(trials: list[Trial], revealed: int, rows: int, revealed_later: int | None, **_: Any) -> Way:
    """What revealed rows speak for where more of them would make a tuned model better."""
    return Way(next(trial for trial in trials if trial.family is not None), revealed_later is not None, 0.0)


@pytest.fixture(scope="module")
def pool() -> Iterator[Predictor]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auto, "best_way", goes_on)
        yield fit(untrained_model(), *untrained(1000, 0), **QUICK)


@pytest.mark.parametrize(
    ("rows", "revealed"), [(60, 0), (399, 0), (400, 40), (799, 79), (800, 160), (1001, 200), (5000, 1000)]
)
def test_below_400_rows_nothing_is_revealed_below_800_a_tenth_and_else_a_fifth(rows: int, revealed: int) -> None:
    _, plan = check(class_model(), *class_data(rows, 0))
    assert (plan.n_tune, plan.n) == (revealed, rows - revealed)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(("rows", "prior"), [(399, {}), (600, {"train": "none"})], ids=["few rows", "nothing to tune"])
def test_where_nothing_is_revealed_the_result_is_that_of_standard(task: str, rows: int, prior: Any) -> None:
    model, make = (class_model(), class_data) if task == "classification" else (toy_model(), toy_data)
    by_default = fit(model, *make(rows, 0), prior=prior)
    standard = fit(model, *make(rows, 0), method="standard")
    assert by_default.stored.to_bytes() == standard.stored.to_bytes()
    assert by_default.certificate.members == standard.certificate.members
    assert by_default.certificate.efficiency == standard.certificate.efficiency
    assert by_default.certificate.coverage.k == standard.certificate.coverage.k == vovk_2b(rows, 0.1, 0.05)
    selection = by_default.certificate.selection
    assert selection is not None
    assert (selection.revealed, selection.compared, selection.taken) == (0, [], "as given")
    assert f"{rows} rows" in selection.reason
    assert standard.certificate.selection is None


def test_what_is_as_good_as_given_is_left_as_it_is(as_given: Predictor) -> None:
    certificate = as_given.certificate
    assert as_given.theta.shape == (1, 0)
    assert (certificate.provenance.n_tune, certificate.coverage.n) == (180, 720)
    assert certificate.coverage.k == vovk_2b(720, 0.1, 0.05)
    selection = certificate.selection
    assert selection is not None
    assert (selection.revealed, selection.taken) == (180, "as given")
    assert selection.reason == (
        "On 180 revealed rows no tuned model gave clearly smaller sets than the model as given, so it is taken as it "
        "is, and the other 720 calibrate it."
    )
    assert [compared.rows for compared in selection.compared] == [120] * 4, "two of three folds"


def test_what_learns_from_few_rows_is_tuned_on_them_and_all_others_calibrate(tuned: Predictor) -> None:
    certificate = tuned.certificate
    assert (certificate.provenance.n_tune, certificate.coverage.n) == (180, 720)
    assert certificate.coverage.k == vovk_2b(720, 0.1, 0.05)
    assert tuned.members == 1
    assert tuned.scorer.scale is not None
    selection = certificate.selection
    assert selection is not None
    assert {"scale, pull 0.1", "head and scale, pull 0.1"} <= {compared.name for compared in selection.compared}
    size = next(compared.size for compared in selection.compared if compared.name == selection.taken)
    assert size < 0.9
    assert f"{size:.2f} times the size" in selection.reason
    standard = fit(toy_model(), *toy_data(900, 0), method="standard").certificate
    assert certificate.efficiency.empirical < standard.efficiency.empirical


def test_what_gets_better_with_more_rows_becomes_a_pool(pool: Predictor) -> None:
    certificate = pool.certificate
    coverage = certificate.coverage
    assert (certificate.provenance.n_tune, coverage.sizes) == (500, [250, 250])
    assert coverage.ranks == list(progressive_ranks([250, 250], 0.1, 0.05))
    assert (coverage.guarantee, coverage.bound) == ("pool", "progressive")
    assert [member.tuned_on for member in certificate.members] == [500, 750]
    selection = certificate.selection
    assert selection is not None
    assert selection.revealed == 500
    assert "so 500 of 1000 were revealed; the others calibrate 2 members" in selection.reason
    assert {compared.rows for compared in selection.compared} == {134, 234}, "looks at 200 and 350 rows, in three folds"
    assert certificate.verify().valid


def test_a_second_look_may_still_leave_the_model_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[tuple[int, bool]] = []

    def thinks_better_of_it(
        trials: list[Trial], revealed: int, rows: int, later: int | None, *, looks_again: bool, **_: Any
    ) -> Way:
        looked.append((revealed, looks_again))
        return Way(trials[-1 if looks_again else 0], looks_again, 0.0)

    monkeypatch.setattr(auto, "best_way", thinks_better_of_it)
    predictor = fit(untrained_model(), *untrained(1000, 0), **QUICK)
    certificate = predictor.certificate
    assert looked == [(200, True), (350, False)]
    assert predictor.theta.shape == (1, 0)
    assert (certificate.provenance.n_tune, certificate.coverage.k) == (350, vovk_2b(650, 0.1, 0.05))
    assert certificate.selection is not None
    assert (certificate.selection.revealed, certificate.selection.taken) == (350, "as given")
    assert certificate.verify().valid


def test_with_clusters_it_counts_clusters() -> None:
    x, y = untrained(2000, 0)
    predictor = fit(untrained_model(), x, y, clusters=[f"p{row // 2}" for row in range(2000)], **QUICK)
    selection = predictor.certificate.selection
    assert selection is not None
    assert selection.revealed in (200, 350, 500)
    assert "clusters" in selection.reason
    assert predictor.certificate.coverage.n == 1000 - selection.revealed
    assert predictor.certificate.verify().valid


def test_a_head_that_knows_nothing_is_tuned() -> None:
    found = fit(untrained_model(), *untrained(1000, 0), **QUICK).certificate
    assert found.selection is not None
    assert found.selection.taken.startswith("head, pull ")
    standard = fit(untrained_model(), *untrained(1000, 0), method="standard").certificate
    assert found.efficiency.empirical < 0.9 * standard.efficiency.empirical


@pytest.mark.parametrize("options", [{"serve": "best"}, {"guarantee": "per_draw"}], ids=str)
def test_one_member_is_served_where_each_must_keep_the_promise(
    options: dict[str, Any], pool: Predictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "best_way", goes_on)
    predictor = fit(untrained_model(), *untrained(1000, 0), **(QUICK | options))
    coverage = predictor.certificate.coverage
    assert predictor.members == 1
    assert (coverage.guarantee, coverage.bound) == ("per_draw", "vovk_2b")
    assert (predictor.certificate.provenance.n_tune, coverage.k) == (500, vovk_2b(500, 0.1, 0.05))
    assert torch.equal(predictor.theta[0], pool.theta[0])


def test_no_row_is_given_away_that_a_small_alpha_needs() -> None:
    """At alpha = 0.0085, 351 points are needed: 400 are enough, and a tenth less would do; at 0.0078 it would not."""
    for alpha, n_tune in ((0.0085, 40), (0.0078, 0)):
        _, plan = check(class_model(), *class_data(400, 0), alpha=alpha)
        assert plan.n_tune == n_tune
    found = fit(class_model(), *class_data(400, 0), alpha=0.0078, **QUICK).certificate
    assert found.coverage.n == 400
    with pytest.raises(TooFewPointsError, match="at least 598 are needed, that is 598 rows in all"):
        check(class_model(), *class_data(400, 0), alpha=0.005)


@pytest.mark.parametrize(
    ("alpha", "n_tune"), [(0.004, 200), (0.006, 500)], ids=["half would be too few", "two blocks would be too few"]
)
def test_it_goes_no_further_than_the_promise_allows(alpha: float, n_tune: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "best_way", goes_on)
    predictor = fit(untrained_model(), *untrained(1000, 0), alpha=alpha, **QUICK)
    assert predictor.members == 1
    assert predictor.certificate.provenance.n_tune == n_tune
    assert predictor.certificate.coverage.bound == "vovk_2b"
    assert predictor.certificate.verify().valid


def test_what_is_said_about_the_choice_is_part_of_what_is_signed(pool: Predictor) -> None:
    certificate = pool.certificate
    assert Certificate.from_json(certificate.to_json()) == certificate
    selection = certificate.selection
    assert selection is not None
    for changed in (replace(selection, revealed=100), replace(selection, reason="It looked best."), None):
        assert not replace(certificate, selection=changed).verify().valid


def test_the_model_may_be_given_in_any_task_and_score() -> None:
    for score in ("lac", "aps", "raps"):
        assert fit(class_model(), *class_data(500, 0), score=score, **QUICK).certificate.verify().valid
    assert fit(toy_model(), *toy_data(500, 0), score="residual", **QUICK).certificate.verify().valid
