"""No number of a pool's certificate can be changed unnoticed, and other guarantees know nothing of its numbers."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from certiset.core.bounds import progressive_tail
from certiset.core.certificate import Certificate
from certiset.core.certificate.completion import completed
from certiset.core.fit import fit
from tests.core.certificate.test_verification import Content, change, reissued
from tests.core.fit.pools import pool_of_labels
from tests.core.fit.problems import (
    QUICK,
    class_data,
    class_model,
)


@pytest.fixture(scope="module")
def point() -> Certificate:
    return fit(class_model(), *class_data(600, 0), method="learned", **QUICK).certificate


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return pool_of_labels().certificate


def both(*edits: Callable[[Content], None]) -> Callable[[Content], None]:
    def edit(content: Content) -> None:
        for one in edits:
            one(content)

    edit.__name__ = " and ".join(one.__name__ for one in edits)
    return edit


def other_weights(content: Content) -> None:
    """Said twice and alike, but ranks that these weights do not allow."""
    for member, weight in zip(content["members"], (0.05, 0.95), strict=True):
        member["weight"] = weight
    content["coverage"]["rank_weights"] = [0.05, 0.95]
    levels = [member["k"] / (member["n"] + 1) for member in content["members"]]
    content["coverage"]["alpha_hat"] = 0.05 * levels[0] + 0.95 * levels[1]


def higher_rank(content: Content) -> None:
    """Everywhere, with the level that follows."""
    content["members"][1]["k"] += 3
    content["coverage"]["ranks"][1] += 3
    content["coverage"]["k"] += 3
    content["coverage"]["alpha_hat"] += 0.55 * 3 / 301


def higher_rank_and_tail(content: Content) -> None:
    higher_rank(content)
    coverage = content["coverage"]
    coverage["tail"] = progressive_tail(coverage["sizes"], coverage["ranks"], 0.1, coverage["rank_weights"])


def no_weights(content: Content) -> None:
    for member in content["members"]:
        del member["weight"]


def without_a_block(content: Content) -> None:
    """One member alone, as if the other had not been there."""
    content["members"] = content["members"][:1]


def every_member(content: Content) -> None:
    content["coverage"].update(guarantee="per_draw", bound="per_draw")
    for member in content["members"]:
        member["miscoverage_bound"] = 0.1


POOL_EDITS = [
    change("members", 0, "weight", to=0.5),
    change("members", 0, "weight", to=-0.45),
    both(change("members", 0, "weight", to=1.45), change("members", 1, "weight", to=-0.45)),
    change("coverage", "rank_weights", to=[0.5, 0.5]),
    other_weights,
    no_weights,
    change("members", 0, "n", to=400),
    change("members", 1, "n", to=0),
    change("coverage", "sizes", to=[300, 200]),
    change("coverage", "sizes", to=None),
    change("coverage", "n", to=800),
    both(change("coverage", "n", to=800), change("provenance", "n_calibrate", to=800)),
    higher_rank,
    higher_rank_and_tail,
    change("coverage", "k", to=lambda k: k + 1),
    change("members", 0, "k", to=0),
    change("members", 0, "k", to=201),
    change("coverage", "tail", to=lambda tail: 0.9 * tail),
    change("coverage", "tail", to=0.051),
    change("coverage", "tail", to=None),
    change("coverage", "alpha", to=0.09),
    change("coverage", "delta", to=0.04),
    change("coverage", "pool_delta", to=0.01),
    change("coverage", "pool_miscoverage_bound", to=0.05),
    change("coverage", "alpha_hat", to=0.05),
    change("coverage", "kl", to=1.0),
    change("coverage", "kl_budget", to=1.0),
    change("coverage", "draws", to=3),
    change("members", 0, "log_ratio", to=-3.0),
    change("members", 0, "miscoverage_bound", to=0.1),
    change("members", 1, "tuned_on", to=901),
    change("members", 0, "tuned_on", to=-1),
    change("options", "serve", to="best"),
    without_a_block,
    every_member,
    change("efficiency", "upper_bound", to=lambda v: 0.95 * v),
    change("efficiency", "size_counts", to=lambda v: [[1024, 300]]),
    change("efficiency", "size_counts", to=None),
    change("efficiency", "size_counts", to=lambda v: v[:-1]),
    change("efficiency", "size_steps", to=3),
    change("efficiency", "grid_size", to=1),
    change("efficiency", "grid_size", to=None),
    change("efficiency", "bound", to="grid_kl"),
    change("efficiency", "bound", to=None),
    change("efficiency", "gamma", to=0.5),
    change("efficiency", "cap", to=2.0),
    change("efficiency", "quantile", "k", to=lambda k: k + 30),
    change("efficiency", "quantile", "k", to=None),
    change("efficiency", "quantile", "gamma", to=0.01),
    change("members", 0, "efficiency_empirical", to=0.1),
    change("members", 0, "efficiency_empirical", to=None),
    change("members", 0, "efficiency_bound", to=1.0),
]


@pytest.mark.parametrize("edit", POOL_EDITS, ids=lambda edit: edit.__name__)
def test_no_number_can_be_changed(certificate: Certificate, edit: Callable[[Content], None]) -> None:
    content = json.loads(json.dumps(certificate.to_json()))
    edit(content)
    forged = reissued(content)
    # As careful as a forger can be, too: all words follow from the numbers.
    for made in (forged, completed(forged)):
        assert not made.verify().valid


@pytest.mark.parametrize(
    "said",
    [
        change("members", 0, "weight", to=1.0),
        change("members", 0, "n", to=300),
        change("members", 0, "tuned_on", to=300),
        change("coverage", "sizes", to=[300]),
        change("coverage", "tail", to=0.01),
        change("efficiency", "size_counts", to=[[1, 300]]),
        change("efficiency", "quantile", "k", to=2),
    ],
    ids=lambda edit: edit.__name__,
)
def test_other_guarantees_know_no_weights_or_blocks(point: Certificate, said: Callable[[Content], None]) -> None:
    """A mean over equal members served by other weights would be nobody's promise."""
    content = json.loads(json.dumps(point.to_json()))
    for place, name in (("coverage", "sizes"), ("coverage", "tail"), ("efficiency", "size_counts")):
        assert name not in content[place]
    assert not {"weight", "n", "tuned_on"} & set(content["members"][0])
    content["members"][0] |= {"weight": None, "n": None, "tuned_on": None}
    content["coverage"] |= {"sizes": None, "tail": None}
    content["efficiency"] |= {"size_counts": None}
    content["efficiency"]["quantile"] |= {"k": None}
    assert reissued(json.loads(json.dumps(content))).verify().valid
    said(content)
    assert not reissued(content).verify().valid


def test_a_tail_that_was_computed_less_finely_elsewhere_still_holds(certificate: Certificate) -> None:
    """Another machine may stop refining one step earlier or later."""
    assert certificate.coverage.tail is not None
    for factor in (1 - 1e-4, 1 + 1e-4):
        coverage = replace(certificate.coverage, tail=certificate.coverage.tail * factor)
        other = replace(certificate, coverage=coverage)
        assert replace(other, id=other.digest_id).verify().valid
