"""What a certificate says of its deployment is signed, outside the digest, and follows from its numbers."""

from dataclasses import replace

import pytest

from certiset.core.certificate import Certificate
from certiset.core.certificate.deployment_account import deployment_account
from certiset.core.certificate.signing import Signer
from certiset.core.fit import Predictor, fit
from tests.core.fit.problems import QUICK, class_data, class_model


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return fit(class_model(), *class_data(300, 0), **QUICK)


def test_it_is_signed_and_leaves_the_id_as_it_is(
    predictor: Predictor, tmp_path_factory: pytest.TempPathFactory
) -> None:
    signer = Signer.from_file_or_new(tmp_path_factory.mktemp("key") / "signing.pem")
    told = deployment_account("fraud", 3, 500, 800, 0.1, (0.2, 20))
    certificate = replace(predictor.certificate, deployment=told)
    assert certificate.digest_id == predictor.certificate.id
    signed = signer.sign(certificate)
    assert Certificate.from_json(signed.to_json()).verify(signer.public_key).valid
    assert "deployment" not in predictor.certificate.to_json()
    changed = replace(signed, deployment=deployment_account("fraud", 2, 500, 800, 0.1, (0.2, 20)))
    assert [check.name for check in changed.verify().checks if not check.ok] == ["signature"]


def test_it_says_what_is_assumed_and_what_is_spent() -> None:
    plain = deployment_account("fraud", 3, 500, 800, 0.15).statement
    assert plain == (
        "Calibrated on block 3 of the deployment fraud: 500 inputs that were asked there and whose truths were "
        "reported, 62 % of those asked meanwhile. It is assumed that truths are reported regardless of the set and "
        "of what they are. All promises of this deployment up to this one hold at once with probability at least 85 %."
    )
    shared = deployment_account("fraud", 3, 500, 0, 0.1, (0.2, 20)).statement
    assert "share a risk of 20 %, of which 10 % is spent" in shared
    assert "asked meanwhile" not in shared
    summed = deployment_account("fraud", 3, 500, 0, 0.05 + 0.025, (0.2, 20)).statement
    assert "of which 7.5 % is spent: up to this one they hold all at once with probability at least 92.5 %" in summed
    assert "Nothing is promised for all" in deployment_account("fraud", 30, 500, 800, 1.5).statement
    assert "on the last of the 1,200 rows before them" in deployment_account("f", 3, 5, 8, 0.1, kept=1200).statement


def test_numbers_that_cannot_be_are_noticed(predictor: Predictor) -> None:
    certificate = predictor.certificate
    good = deployment_account("fraud", 3, 500, 800, 0.1, (0.2, 20))
    assert replace(certificate, deployment=good).verify().holds
    for wrong in (
        deployment_account("fraud", 3, 500, 800, 0.01),
        deployment_account("fraud", 3, 500, 800, 0.3, (0.2, 20)),
        deployment_account("fraud", 0, 500, 800, 0.1),
        deployment_account("fraud", 3, 0, 800, 0.1),
        replace(good, delta_all=0.15),
        replace(good, kept=100),
    ):
        assert not replace(certificate, deployment=wrong).verify().holds
