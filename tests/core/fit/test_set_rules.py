"""Fits that break ties or keep the top label: what is covered and served, and what is refused."""

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import beta, binom

from certiset.core.bounds import vovk_2b
from certiset.core.errors import OptionError
from certiset.core.fit import Predictor, fit, load
from certiset.core.fit.options import FitOptions
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer, make_scorer
from certiset.core.fit.thresholds import calibrate
from certiset.core.fit.ties import Threshold
from certiset.core.models import Model
from tests.core.fit.forests import MODEL, RULES, forest
from tests.core.fit.problems import (
    QUICK,
    STEPS_PAY,
    class_data,
    class_model,
    forest_votes,
    shifted_logits,
    shifted_logits_model,
    toy_data,
    toy_model,
)


def scorer(**options: Any) -> Scorer:
    chosen = FitOptions.read({"method": "standard", **options}).resolved("classification")
    return make_scorer(MODEL, chosen, chosen.chosen_score, tuned=False, features=6)


votes = functools.cache(forest_votes)


def seen(made: Scorer, rows: int, seed: int) -> Rows:
    x, y = votes(rows, seed)
    outputs = torch.from_numpy(x)
    return Rows(outputs, outputs, torch.from_numpy(y), made.rule.ties.digests(x, torch.float32))


def missed_and_size(options: dict[str, Any], rank: int, times: int) -> tuple[np.ndarray, np.ndarray]:
    """(times,) each, of thresholds on 500 rows, by 20,000 other rows: the true miscoverage but for 0.002."""
    found = []
    for seed in range(times):
        made = scorer(seed=seed, **options)
        nothing = torch.zeros(1, 0)
        at = calibrate(made, nothing, seen(made, 500, seed), [rank], tuning=None, cap=6.0)
        later = seen(made, 20_000, 10_000)
        tie = torch.tensor(at.tie, dtype=torch.float64) if at.tie else None
        threshold = Threshold(torch.tensor(at.tau, dtype=torch.float32), tie)
        sets = made.rule.sets(made.score, made.predict(nothing, later), threshold, later.digests)
        found.append((1 - sets.contains(later.y.numpy()).mean(), sets.size.mean()))
    missed, sizes = np.array(found).T
    return missed, sizes


def test_with_ties_that_are_broken_coverage_is_exact_and_sets_are_smaller() -> None:
    rank, times = int(vovk_2b(500, 0.1, 0.05)), 80
    law = beta(rank, 501 - rank)
    together, larger = missed_and_size({}, rank, times)
    exact, smaller = missed_and_size({"ties": "hash"}, rank, times)
    margin = 4 * law.std() / times**0.5
    assert abs(exact.mean() - law.mean()) < margin
    assert exact.std() == pytest.approx(law.std(), rel=0.3)
    assert together.mean() < law.mean() - 0.02
    assert smaller.mean() < 0.85 * larger.mean()
    assert np.count_nonzero(exact > 0.1 + 0.002) <= binom.ppf(0.999, times, 0.05)


@pytest.mark.parametrize("score", ["lac", "aps", "raps"])
def test_every_score_of_labels_becomes_exact(score: str) -> None:
    rank, times = int(vovk_2b(500, 0.1, 0.05)), 25
    law = beta(rank, 501 - rank)
    missed, _sizes = missed_and_size({"ties": "hash", "score": score}, rank, times)
    assert abs(missed.mean() - law.mean()) < 4 * law.std() / times**0.5


@pytest.mark.parametrize("name", RULES)
def test_what_is_served_is_what_was_measured(forests: dict[str, Predictor], name: str) -> None:
    """All of D_N, which is all rows here, on the path that serves; and one by one as together."""
    predictor, (x, y) = forests[name], forest_votes(500, 0)
    sets, efficiency = predictor.predict_set(x), predictor.certificate.efficiency
    assert sets.size.mean() == pytest.approx(efficiency.empirical, rel=1e-6)
    assert np.count_nonzero(sets.contains(y)) >= 501 - predictor.certificate.members[0].k
    assert efficiency.upper_bound is not None
    assert efficiency.upper_bound > efficiency.empirical
    for row in range(20):
        assert predictor.predict_set(x[row : row + 1])[0] == sets[row]
    assert predictor.predict_set(x.astype(np.float64) + 0.0).to_json() == sets.to_json()


def test_ties_are_broken_at_the_threshold_and_nowhere_else(forests: dict[str, Predictor]) -> None:
    x, _y = forest_votes(2000, 1)
    plain, broken = (forests[name].predict_set(x) for name in ("plain", "ties"))
    assert not (broken.mask & ~plain.mask).any()  # type: ignore[attr-defined]
    left_out = np.exp(x)[plain.mask & ~broken.mask]  # type: ignore[attr-defined]
    assert len(left_out) > 100
    assert np.ptp(left_out) < 1e-4, "labels with one number of votes"


def test_sets_only_grow_with_the_top_label(forests: dict[str, Predictor]) -> None:
    x = np.concatenate([forest_votes(2000, 1)[0], np.zeros((1, 6), dtype=np.float32)])
    for without, with_top in (("plain", "top"), ("ties", "both")):
        small, large = (forests[name].predict_set(x).mask for name in (without, with_top))  # type: ignore[attr-defined]
        top = np.eye(6, dtype=bool)[x.argmax(axis=1)]
        assert np.array_equal(large, small | top)


def test_no_set_is_empty_where_the_top_label_is_kept() -> None:
    x, y = class_data(600, 0)
    options: dict[str, Any] = {"alpha": 0.4, "delta": 0.2, "method": "standard", "score": "lac"}
    bare, kept = fit(class_model(), x, y, **options), fit(class_model(), x, y, non_empty=True, **options)
    later, truths = class_data(2000, 5)
    assert (bare.predict_set(later).size == 0).mean() > 0.05
    sets = kept.predict_set(later)
    assert sets.size.min() == 1
    assert sets.contains(truths).mean() > bare.predict_set(later).contains(truths).mean()
    first, second = bare.certificate, kept.certificate
    assert first.members[0].tau == second.members[0].tau
    assert second.efficiency.empirical > first.efficiency.empirical
    assert second.efficiency.upper_bound > first.efficiency.upper_bound  # type: ignore[operator]
    assert kept.certify_size(later).sizes.empirical == pytest.approx(sets.size.mean())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_posterior_of_many_members_goes_with_both(dtype: Any, tmp_path: Path) -> None:
    data = shifted_logits(3000, 8)
    predictor = fit(shifted_logits_model(), *data, ties="hash", non_empty=True, dtype=dtype, **STEPS_PAY)
    certificate = predictor.certificate
    assert len(certificate.members) > 1
    ties = [member.tie for member in certificate.members]
    assert len({*ties}) == len(ties)
    assert certificate.verify().valid
    assert predictor.tie is not None
    assert predictor.tie.tolist() == ties
    predictor.save(tmp_path)
    x = shifted_logits(300, 9)[0]
    members = predictor.draw_members(300, generator=np.random.default_rng(0))
    sets = predictor.predict_set(x, members)
    assert load(tmp_path).predict_set(x, members).to_json() == sets.to_json()
    assert sets.contains(shifted_logits(300, 9)[1]).mean() > 0.85


def test_a_pool_and_the_best_member_alone_go_with_both(tmp_path: Path) -> None:
    data = shifted_logits(900, 8)
    options: dict[str, Any] = {"ties": "hash", "non_empty": True}
    pool = fit(shifted_logits_model(), *data, method="progressive", prior={"steps": 40}, **options)
    best = fit(shifted_logits_model(), *data, **(STEPS_PAY | options | {"serve": "best"}))
    automatic = fit(shifted_logits_model(), *data, **options)
    assert (pool.members, best.members) == (2, 1)
    for predictor in (pool, best, automatic):
        certificate = predictor.certificate
        assert certificate.verify().valid
        assert all(member.tie is not None for member in certificate.members)
        predictor.save(tmp_path)
        x, y = shifted_logits(2000, 9)
        sets = predictor.predict_set(x, member=0)
        assert load(tmp_path).predict_set(x, member=0).to_json() == sets.to_json()
        assert sets.contains(y).mean() > 0.85
        assert certificate.efficiency.upper_bound > certificate.efficiency.empirical  # type: ignore[operator]


def test_certified_sizes_are_near_those_of_ties_together_where_nothing_ties() -> None:
    """The pair's grid is as fine as that of plain thresholds, in either precision."""
    data, options = class_data(1000, 0), {**QUICK, "method": "learned"}
    for dtype in ("float32", "float64"):
        sizes = [
            fit(class_model(), *data, dtype=dtype, ties=ties, **options).certificate.efficiency
            for ties in ("together", "hash")
        ]
        assert [size.bound for size in sizes] == ["grid_betting", "grid_betting"]
        assert sizes[1].upper_bound == pytest.approx(sizes[0].upper_bound, rel=0.03)
        assert sizes[1].quantile is not None


@pytest.mark.parametrize(("option", "value"), [("ties", "hash"), ("non_empty", True)])
@pytest.mark.parametrize("score", [None, "residual", "cqr"])
def test_rules_of_labels_are_refused_for_numbers(option: str, value: Any, score: str | None) -> None:
    model = toy_model() if score != "cqr" else Model.from_manifest({"task": "regression", "input_shape": [2]})
    x, y = toy_data(300, 0)
    with pytest.raises(OptionError, match="sets of labels") as refused:
        fit(model, x if score != "cqr" else np.repeat(x, 2, axis=1), y, score=score, **{option: value})
    assert refused.value.field == option


@pytest.mark.parametrize(("option", "value"), [("ties", "other"), ("ties", True), ("non_empty", "yes")])
def test_options_that_are_none(option: str, value: Any) -> None:
    with pytest.raises(OptionError):
        forest(**{option: value})
