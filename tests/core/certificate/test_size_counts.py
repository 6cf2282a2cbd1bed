"""A certificate that carries the counts of sizes: its bound is recomputed from them, and from nothing else."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from certiset.core.bounds import SizeCounts
from certiset.core.certificate import Certificate
from certiset.core.certificate.size_statement import size_statement
from certiset.core.certificate.sizes import GRID_BETTING, SizeNumbers
from certiset.core.fit import fit
from tests.core.fit.problems import STEPS_PAY, shifted_logits, shifted_logits_model

GRID = 64


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    """One of many members, with sizes as they might have been counted."""
    found = fit(shifted_logits_model(), *shifted_logits(3000, 8), **STEPS_PAY).certificate
    rng = np.random.default_rng(0)
    counts = [SizeCounts.of_labels(rng.integers(1, 3, found.coverage.n), 6) for _ in found.members]
    assert found.efficiency.cap == 6
    numbers = SizeNumbers(
        np.array([member.log_ratio for member in found.members]),
        found.coverage.n,
        found.coverage.share(found.efficiency.gamma),
        found.coverage.draws,
        GRID,
    )
    bounds = 6 * numbers.betting_bounds(counts)
    members = [
        replace(m, efficiency_empirical=c.mean, efficiency_bound=float(bound), size_counts=c.to_json())
        for m, c, bound in zip(found.members, counts, bounds, strict=True)
    ]
    bounded = {"bound": GRID_BETTING, "grid_size": GRID, "size_steps": 6, "upper_bound": float(bounds.mean())}
    efficiency = replace(found.efficiency, **bounded)  # type: ignore[arg-type]
    return named(replace(found, members=members, efficiency=efficiency))


def named(certificate: Certificate) -> Certificate:
    said = replace(certificate, size_statement=size_statement(certificate))
    return replace(said, id=said.digest_id)


def test_the_bound_follows_from_the_counts(certificate: Certificate) -> None:
    assert len(certificate.members) > 1
    assert [check for check in certificate.verify().checks if not check.ok] == []
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.verify().valid


def test_betting_on_counts_is_tighter_than_kl(certificate: Certificate) -> None:
    numbers = SizeNumbers(np.zeros(1), 1000, 0.05, 1, 64)
    counts = SizeCounts.of_labels(np.repeat([1, 2], [700, 300]), 6)
    betting, kl = numbers.betting_bounds([counts]), numbers.mean_bounds(np.array([counts.mean]), "grid_kl")
    assert counts.mean < betting[0] < kl[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"size_counts": None},
        {"size_counts": []},
        {"size_counts": [[1, 10]]},
        {"size_counts": [[1, 700], [7, 800]]},
        {"efficiency_empirical": 0.2},
        {"efficiency_bound": 1.0},
    ],
)
def test_no_count_can_be_changed(certificate: Certificate, wrong: dict[str, Any]) -> None:
    members = [replace(certificate.members[0], **wrong), *certificate.members[1:]]
    assert not named(replace(certificate, members=members)).verify().valid


def test_steps_are_part_of_it(certificate: Certificate) -> None:
    for wrong in ({"size_steps": None}, {"size_steps": 0}, {"size_steps": 7}, {"grid_size": 63}, {"grid_size": None}):
        efficiency = replace(certificate.efficiency, **wrong)
        assert not named(replace(certificate, efficiency=efficiency)).verify().valid
