"""A certificate verifies as issued, and no overclaim made by editing it does, whichever bound it rests on."""

import contextlib
import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from certiset.core.certificate import Certificate
from certiset.core.errors import DamagedFileError
from certiset.core.fit import fit
from tests.core.fit.problems import QUICK, STEPS_PAY, class_data, class_model, shifted_logits, shifted_logits_model

Content = dict[str, Any]


@pytest.fixture(scope="module")
def certificates() -> dict[str, Certificate]:
    point = fit(class_model(), *class_data(600, 0), method="learned", **QUICK).certificate
    drawn = fit(shifted_logits_model(), *shifted_logits(3000, 8), **STEPS_PAY).certificate
    pool = STEPS_PAY | {"guarantee": "posterior", "members": 128}
    posterior = fit(shifted_logits_model(), *shifted_logits(3000, 8), **pool).certificate
    assert [c.coverage.bound for c in (point, drawn, posterior)] == ["vovk_2b", "per_draw", "chernoff"]
    return {"point": point, "every draw": drawn, "posterior": posterior}


def reissued(content: Content) -> Certificate:
    """As a forger would: with an id that fits the new content."""
    certificate = Certificate.from_json(content)
    return replace(certificate, id=certificate.digest_id)


KINDS = ["point", "every draw", "posterior"]


@pytest.mark.parametrize("kind", KINDS)
def test_as_issued_it_verifies_and_reads_back(certificates: dict[str, Certificate], kind: str) -> None:
    certificate = certificates[kind]
    answer = certificate.verify()
    assert answer.valid, [check for check in answer.checks if not check.ok]
    assert answer.holds
    assert answer
    assert not answer.trusted, "nobody has signed it"
    assert Certificate.from_json(json.dumps(certificate.to_json())) == certificate
    assert answer.to_json()["valid"] is True
    json.dumps(answer.to_json(), allow_nan=False)


def test_the_posterior_statement_tells_the_pool_from_the_posterior(certificates: dict[str, Certificate]) -> None:
    certificate = certificates["posterior"]
    assert "on average over the posterior" in certificate.statement
    assert "128 stored members together" in certificate.statement
    assert certificate.coverage.pool_miscoverage_bound > certificate.coverage.miscoverage_bound
    assert "every one of the" in certificates["every draw"].statement


def change(*path: Any, to: Any) -> Callable[[Content], None]:
    def edit(content: Content) -> None:
        place: Any = content
        for key in path[:-1]:
            place = place[key]
        old = place[path[-1]]
        place[path[-1]] = to(old) if callable(to) else to

    edit.__name__ = ".".join(map(str, path))
    return edit


def more_members(content: Content) -> None:
    members = content["members"]
    content["members"] = [dict(m, member=i) for i, m in enumerate(members * 3)]


EDITS: list[Callable[[Content], None]] = [
    change("statement", to="All is well."),
    change("assumptions", to=[]),
    change("coverage", "alpha", to=lambda v: v - 0.02),
    change("coverage", "delta", to=lambda v: v / 10),
    change("coverage", "n", to=lambda v: v * 2),
    change("coverage", "k", to=lambda v: v + 1),
    change("coverage", "alpha_hat", to=lambda v: v / 2),
    change("coverage", "guarantee", to=lambda v: {"per_draw": "posterior", "posterior": "per_draw"}[v]),
    change("coverage", "miscoverage_bound", to=lambda v: v / 2),
    change("coverage", "pool_miscoverage_bound", to=lambda v: v / 2),
    change("coverage", "kl", to=-1.0),
    change("coverage", "union", "weights", 0, to=1.5),
    change("coverage", "union", "taken", to=-1),
    change("coverage", "union", "taken", to=99),
    change("members", 0, "k", to=lambda v: v + 400),
    change("members", 0, "k", to=0),
    change("members", 0, "miscoverage_bound", to=1e-6),
    change("members", 0, "member", to=7),
    change("members", to=[]),
    change("efficiency", "upper_bound", to=lambda v: v * 0.9),
    change("efficiency", "cap", to=lambda v: -v),
    change("efficiency", "gamma", to=0.0),
    change("efficiency", "measure", to="beauty"),
    change("efficiency", "empirical", to=-1.0),
    change("provenance", "n_calibrate", to=lambda v: v + 1),
    change("options", "alpha", to=lambda v: v / 2),
    change("data", "rows", to=10),
    change("options", to=None),
    change("provenance", "n_tune", to=-1),
    change("provenance", "members_sha256", to="0"),
    change("provenance", "predictor_sha256", to=""),
    change("data", "order_p_value", to=1e-6),
    change("coverage", "ranks", to=[]),
    change("coverage", "rank_weights", 0, to=-1.0),
    change("efficiency", "monte_carlo", to=0.5),
    change("efficiency", "empirical", to=1e9),
    more_members,
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_edited_certificate_does_not_verify(
    certificates: dict[str, Certificate], kind: str, edit: Callable[[Content], None]
) -> None:
    content = json.loads(json.dumps(certificates[kind].to_json()))
    edit(content)
    assert not reissued(content).verify().valid


HOSTILE: list[Any] = [
    10**400,
    -(2**63),
    2**31,
    -1,
    0,
    1e308,
    5e-324,
    True,
    None,
    "",
    "\u0430lpha",
    [],
    {},
    [[]],
    {"a": 1},
]


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    entries = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [found for key, value in entries for found in [(*path, key), *places(value, (*path, key))]]


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_stands_in_a_field_the_answer_is_a_verdict_or_a_refusal(
    certificates: dict[str, Certificate], kind: str
) -> None:
    text, chance = json.dumps(certificates[kind].to_json()), random.Random(0)
    fields = places(json.loads(text))
    for path in chance.sample(fields, 100):
        content = json.loads(text)
        change(*path, to=chance.choice(HOSTILE))(content)
        with contextlib.suppress(DamagedFileError):
            assert isinstance(reissued(content).verify().holds, bool)


def test_a_certificate_under_another_id_does_not_verify(certificates: dict[str, Certificate]) -> None:
    assert not replace(certificates["point"], id="cert-of-somebody-else").verify().valid


def test_tiny_units_are_checked_like_any_other(certificates: dict[str, Certificate]) -> None:
    content = json.loads(json.dumps(certificates["every draw"].to_json()))
    content["efficiency"]["cap"] *= 1e-12
    content["efficiency"]["upper_bound"] = 0.0
    for member in content["members"]:
        member["efficiency_bound"] = 0.0
    assert not reissued(content).verify().valid


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("[" * 100_000, "not JSON"),
        ("{", "not JSON"),
        ("[]", "must be an object"),
        ("{}", "is missing"),
        (change("members", 0, "tau", to=math.nan), "tau must be finite"),
        (change("members", 0, "k", to=1.5), "k must be of type int"),
        (change("members", 0, "k", to=True), "k must be of type int"),
        (change("coverage", "delta", to=10**400), "delta must be finite"),
        (change("coverage", "alpha", to="0.1"), "alpha must be a number"),
        (change("coverage", "ranks", to=5), "ranks must be a list"),
        (change("provenance", "software", to={"torch": 2}), "software must be an object of strings"),
        (lambda content: content.update(colour="blue"), "'colour' is not known"),
    ],
    ids=range(12),
)
def test_what_is_not_a_certificate_is_refused(
    certificates: dict[str, Certificate], source: str | Callable[[Content], None], message: str
) -> None:
    content: Any = source
    if callable(source):
        content = certificates["point"].to_json()
        source(content)
    with pytest.raises(DamagedFileError, match=message):
        Certificate.from_json(content)
