"""How the mean size is bounded: by betting on counts that stand on the certificate, or as the paper does, if asked."""

from dataclasses import replace
from typing import Any

import pytest

from certiset.core.certificate import Certificate
from certiset.core.certificate.size_statement import size_statement
from certiset.core.fit import Predictor, fit
from tests.core.fit.problems import class_data, class_model, toy_data, toy_model, untrained, untrained_model

QUICK: dict[str, Any] = {"prior": {"steps": 20}, "optimizer": {"steps": 5}, "members": 8}
TOY, CLASSES = (toy_model(), toy_data(600, 0)), (class_model(), class_data(600, 0))


def fitted(problem: Any, **options: Any) -> Predictor:
    return fit(problem[0], *problem[1], **(QUICK | options))


@pytest.mark.parametrize(
    ("problem", "options", "bound"),
    [
        (CLASSES, {"method": "learned"}, "grid_betting"),
        (CLASSES, {"method": "learned", "size_bound": "betting"}, "grid_betting"),
        (CLASSES, {"method": "learned", "size_bound": "grid_kl"}, "grid_kl"),
        (CLASSES, {"method": "learned", "size_bound": "monotone"}, "monotone"),
        (CLASSES, {"method": "pac_bayes"}, "grid_betting"),
        (CLASSES, {"method": "standard"}, "grid_betting"),
        (TOY, {"method": "learned", "size_cap": 6.0}, "grid_betting"),
        (TOY, {"method": "pac_bayes", "size_cap": 6.0}, "grid_kl"),
        (TOY, {"method": "pac_bayes", "size_cap": 6.0, "members": 4}, "grid_betting"),
        (TOY, {"method": "pac_bayes", "size_cap": 6.0, "size_bound": "betting"}, "grid_betting"),
        (TOY, {"method": "standard"}, "exact"),
    ],
    ids=lambda value: "toy" if value is TOY else "classes" if value is CLASSES else str(value),
)
def test_the_bound_is_the_one_that_was_asked_for_and_verifies(
    problem: Any, options: dict[str, Any], bound: str
) -> None:
    certificate = fitted(problem, **options).certificate
    assert certificate.efficiency.bound == bound
    assert [check for check in certificate.verify().checks if not check.ok] == []
    counted = [member.size_counts for member in certificate.members]
    assert all((counts is not None) == (bound == "grid_betting") for counts in counted)
    for counts in counted:
        assert counts is None or sum(count for _, count in counts) == certificate.coverage.n


@pytest.mark.parametrize("problem", [(class_model(10), class_data(900, 0, 10)), TOY], ids=["ten labels", "widths"])
def test_betting_is_tighter_than_the_papers_bound(problem: Any) -> None:
    bounds = [
        fitted(problem, method="learned", size_bound=name, size_cap=6.0).certificate.efficiency.upper_bound or 0.0
        for name in ("betting", "grid_kl", "monotone")
    ]
    assert bounds[0] < min(bounds[1:])


def renamed(certificate: Certificate) -> Certificate:
    said = replace(certificate, size_statement=size_statement(certificate))
    return replace(said, id=said.digest_id)


@pytest.mark.parametrize("method", ["learned", "pac_bayes", "auto"])
def test_whoever_verifies_recomputes_the_bound_from_the_counts(method: str) -> None:
    """Of a single member, of members that are drawn, and of a tuned one that auto has stopped at."""
    certificate = fitted(CLASSES if method != "auto" else TOY, method=method, size_cap=6.0).certificate
    assert certificate.efficiency.bound == "grid_betting"
    assert renamed(certificate).verify().valid
    for place, member in enumerate(certificate.members[:2]):
        assert member.size_counts is not None
        (size, count), *others = member.size_counts
        larger = [[size, count - 1], *others[:-1], [others[-1][0], others[-1][1] + 1]]
        for wrong in ({"size_counts": larger}, {"efficiency_bound": 0.99 * (member.efficiency_bound or 1.0)}):
            members = list(certificate.members)
            members[place] = replace(member, **wrong)
            assert not renamed(replace(certificate, members=members)).verify().valid


def test_a_pools_mean_size_follows_from_the_counts_of_its_last_block() -> None:
    certificate = fit(untrained_model(), *untrained(700, 0), method="progressive", prior={"steps": 20}).certificate
    efficiency = certificate.efficiency
    assert efficiency.bound == "grid_betting"
    assert efficiency.upper_bound is not None
    assert efficiency.empirical <= efficiency.upper_bound
    assert certificate.verify().valid
    smaller = replace(efficiency, upper_bound=0.99 * efficiency.upper_bound)
    assert not renamed(replace(certificate, efficiency=smaller)).verify().valid
