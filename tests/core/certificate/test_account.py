"""The account is signed and outside the digest; what it says follows from its numbers."""

from dataclasses import replace

import pytest

from certiset.core.certificate import Certificate
from certiset.core.certificate.account import account_of
from certiset.core.certificate.signing import Signer
from certiset.core.fit import Predictor, fit
from tests.core.fit.problems import QUICK, class_data, class_model


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return fit(class_model(), *class_data(600, 0), **QUICK, family=4)


def test_planned_attempts_share_delta_and_gamma_and_the_sentence_says_so(predictor: Predictor) -> None:
    certificate = predictor.certificate
    assert certificate.options is not None
    assert (certificate.options["delta"], certificate.options["family"]) == (0.05, 4)
    assert (certificate.coverage.delta, certificate.efficiency.gamma) == (0.05 / 4, 0.05 / 4)
    assert "at least 98.75 %" in certificate.statement
    assert certificate.statement.endswith(
        "It is one of 4 planned attempts on these rows, which share the risk of 5 %: their promises hold all at once, "
        "and so does that of the best one, with probability at least 95 %."
    )
    assert certificate.verify().valid
    for wrong in ({"family": 5}, {"family": 1}, {"delta": 0.01}):
        changed = replace(certificate, options={**certificate.options, **wrong})
        assert not replace(changed, id=changed.digest_id).verify().valid


def test_the_account_is_signed_and_leaves_the_id_as_it_is(
    predictor: Predictor, tmp_path_factory: pytest.TempPathFactory
) -> None:
    signer = Signer.from_file_or_new(tmp_path_factory.mktemp("key") / "signing.pem")
    counted = replace(predictor.certificate, account=account_of(3, 0.0375, 4))
    assert (counted.digest, counted.digest_id) == (predictor.certificate.digest, predictor.certificate.id)
    signed = signer.sign(counted)
    assert Certificate.from_json(signed.to_json()).verify(signer.public_key).valid
    changed = replace(signed, account=account_of(2, 0.025, 4))
    assert [check.name for check in changed.verify().checks if not check.ok] == ["signature"]
    for wrong in (account_of(0, 0.05, 4), account_of(1, 0.001, 4), account_of(1, 0.05, 1)):
        assert not replace(predictor.certificate, account=wrong).verify().valid
    assert account_of(3, 0.0375, 4).statement != account_of(2, 0.0375, 4).statement
    forged = replace(account_of(3, 0.0375, 4), statement=account_of(1, 0.0125, 4).statement)
    assert not replace(predictor.certificate, account=forged).verify().valid


def test_what_is_promised_for_the_best_is_said() -> None:
    assert account_of(1, 0.05, 1).statement == "This is the first attempt on these rows that the issuer knows of."
    second = account_of(2, 0.1, 1)
    assert second.is_caveat
    assert "attempt 2 on these rows. The best of the 2 keeps its promise with probability at least 90 %, if" in (
        second.statement
    )
    assert "nothing is promised for it without fresh rows" in second.statement
    assert "although only 3 were planned" in account_of(4, 0.2, 3).statement
    assert not account_of(3, 0.05, 3).is_caveat
    assert account_of(30, 1.5, 1).statement.endswith("Nothing is promised for the best of the 30 without fresh rows.")
