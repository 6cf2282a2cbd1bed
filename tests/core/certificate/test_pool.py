"""The certificate of a pool: its mean is promised, by its weights, and what it says of sizes follows from counts."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from certiset.core.bounds import DomainError, TooFewPointsError, progressive_ranks, progressive_tail
from certiset.core.certificate import Certificate, Union
from certiset.core.certificate.completion import completed
from certiset.core.certificate.content import Data
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.certificate.pool_parts import PoolPlan
from certiset.core.fit import Predictor, fit
from tests.core.fit.pools import hand_pool, pool_of_labels
from tests.core.fit.problems import (
    STEPS_PAY,
    shifted_logits,
    shifted_logits_model,
    toy_data,
    toy_model,
)


@pytest.fixture(scope="module")
def labels() -> Predictor:
    return pool_of_labels()


@pytest.fixture(scope="module")
def widths() -> Predictor:
    return hand_pool(toy_model(), *toy_data(1500, 0), sizes=[200, 300, 400], size_cap=6.0)


@pytest.fixture(scope="module")
def one_width() -> Predictor:
    return hand_pool(toy_model(), *toy_data(1200, 0), sizes=[200, 300], score="residual", tune="head")


@pytest.fixture(scope="module")
def certificate(labels: Predictor) -> Certificate:
    return labels.certificate


def test_it_verifies_as_issued_and_reads_back(labels: Predictor, widths: Predictor, one_width: Predictor) -> None:
    for found in (labels.certificate, widths.certificate, one_width.certificate):
        assert [check for check in found.verify().checks if not check.ok] == []
        assert Certificate.from_json(json.dumps(found.to_json())) == found
        assert (found.coverage.guarantee, found.coverage.bound) == ("pool", "progressive")


def test_the_sentence_says_that_the_promise_is_for_the_mean_over_the_pool(certificate: Certificate) -> None:
    assert certificate.statement == (
        "With probability at least 95 % over the drawing of the 500 calibration points, sets whose member is drawn "
        "from the 2 stored ones by their weights contain the truth for at least 90 % of future inputs: a promise for "
        "the mean over this pool, and not for each of its members."
    )
    assert any("blocks, their order, the ranks, the weights" in assumption for assumption in certificate.assumptions)
    guarantee, coverage = guarantee_of(certificate.coverage), certificate.coverage
    assert guarantee.member_alpha(coverage) is None
    assert guarantee.promised_alpha(coverage) == 0.1
    assert guarantee.weights(certificate) == [0.45, 0.55]
    assert not guarantee.promises_each_member


def test_with_clusters_the_promise_is_for_one_input_of_a_new_one(certificate: Certificate) -> None:
    data = Data(rows=5000, clusters=1200, cluster_column="patient")
    options = {**(certificate.options or {}), "clusters": "patient"}
    clustered = completed(replace(certificate, data=data, options=options))
    assert "one randomly chosen input of a new patient with probability at least 90 %: a promise" in clustered.statement
    assert clustered.verify().valid


def test_ranks_are_those_of_each_block_and_the_level_is_their_mean(certificate: Certificate) -> None:
    coverage = certificate.coverage
    ranks = progressive_ranks([200, 300], 0.1, 0.05, [0.45, 0.55])
    assert tuple(member.k for member in certificate.members) == ranks == tuple(coverage.ranks)
    assert coverage.tail == progressive_tail([200, 300], ranks, 0.1, [0.45, 0.55])
    assert coverage.tail <= 0.05
    assert (coverage.n, coverage.k) == (500, sum(ranks))
    assert coverage.alpha_hat == pytest.approx(0.45 * ranks[0] / 201 + 0.55 * ranks[1] / 301)
    assert [list(block)[:: len(block) - 1] for block in guarantee_of(coverage).blocks(certificate)] == [
        [0, 199],
        [200, 499],
    ]


def test_the_mean_size_follows_from_the_counts_of_the_last_block(labels: Predictor, widths: Predictor) -> None:
    for predictor, rows in ((labels, 300), (widths, 400)):
        efficiency = predictor.certificate.efficiency
        assert efficiency.size_counts is not None
        assert efficiency.upper_bound is not None
        assert sum(often for _, often in efficiency.size_counts) == rows
        assert efficiency.empirical < efficiency.upper_bound < 1.3 * efficiency.empirical
        assert [member.efficiency_bound for member in predictor.certificate.members] == [None] * predictor.members
        assert predictor.certificate.size_statement is not None
        assert "mean size" in predictor.certificate.size_statement
        assert "at most 10 % of future sets" in predictor.certificate.size_statement


def test_members_of_one_width_each_have_their_mean_and_the_largest(one_width: Predictor) -> None:
    certificate = one_width.certificate
    wide = [member.efficiency_bound or 0.0 for member in certificate.members]
    assert wide[0] != wide[1]
    mean = float(np.average(wide, weights=one_width.chances))
    assert certificate.efficiency.upper_bound == pytest.approx(mean)
    assert certificate.size_statement is not None
    assert certificate.size_statement.startswith("The mean width of future sets, each by a member that is drawn for it")
    assert f"every interval is at most {max(wide):.2f}"[:-1] in certificate.size_statement
    for wrong in (np.mean(wide) * 1.01, min(wide)):
        other = replace(certificate, efficiency=replace(certificate.efficiency, upper_bound=float(wrong)))
        assert not replace(completed(other), predictor_id=certificate.predictor_id).verify().valid


def test_every_interval_is_at_most_as_wide_as_is_said_where_draws_differ() -> None:
    """The mean of several widths is not the width of every interval."""
    drawn = fit(shifted_logits_model(), *shifted_logits(3000, 8), **STEPS_PAY).certificate
    assert len(drawn.members) > 1
    efficiency = replace(
        drawn.efficiency, bound="exact", measure="width", upper_bound=1.5, quantile=None, grid_size=None, cap=None
    )
    members: list[Any] = [
        replace(one, tau=tau / 2, efficiency_bound=tau, efficiency_empirical=None, size_k=None, size_quantile=None)
        for one, tau in zip(drawn.members[:2], (1.0, 2.0), strict=True)
    ]
    provenance = replace(drawn.provenance, score="residual")
    made = completed(replace(drawn, members=members, efficiency=efficiency, provenance=provenance, canaries=None))
    assert made.size_statement is not None
    assert "every interval is at most 2 wide" in made.size_statement
    assert made.verify().valid
    false = replace(made, size_statement="Every interval is at most 1.5 wide, but for rounding.")
    assert not replace(false, id=false.digest_id).verify().valid


def test_a_plan_needs_two_blocks_and_enough_rows() -> None:
    with pytest.raises(DomainError, match="at least two blocks"):
        PoolPlan.of([500], 0.1, 0.05)
    with pytest.raises(TooFewPointsError):
        PoolPlan.of([10, 10], 0.1, 0.05)
    plan = PoolPlan.of([137, 205, 308], 0.1, 0.05)
    assert plan.ranks == (11, 17, 25)
    assert plan.weights == (137 / 650, 205 / 650, 308 / 650)
    coverage = plan.coverage(0.1, 0.05, Union(["a pool"], [1.0], 0))
    assert round(coverage.tail or 0.0, 4) == 0.0451
