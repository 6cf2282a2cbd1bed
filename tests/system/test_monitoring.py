"""`certiset.monitor` says of outcomes what the service's monitor says of the same ones."""

from dataclasses import replace

import numpy as np
import pytest

import certiset
from certiset.core.bounds import Supermartingale
from certiset.core.certificate import Certificate
from certiset.core.errors import DataError, OptionError
from certiset.core.fit import fit
from tests.core.fit.problems import class_data, class_model


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return fit(class_model(), *class_data(400, 0), method="standard").certificate


def test_it_counts_and_ends_with_the_capital_of_all_outcomes(certificate: Certificate) -> None:
    covered = np.random.default_rng(0).random(2000) > 0.08
    found = certiset.monitor(certificate, covered)
    assert (found.outcomes, found.misses) == (2000, int((~covered).sum()))
    assert found.promised_miscoverage == certificate.coverage.alpha
    assert found.log_capital == Supermartingale(certificate.coverage.alpha).update_many(~covered).log_capital
    assert found.path[-1].log_capital == pytest.approx(found.log_capital)
    assert len(found.path) <= 500
    assert found.status == "consistent"
    assert found.interval[0] < 0.08 < found.interval[1]


def test_a_broken_promise_is_contradicted_and_stays_so(certificate: Certificate) -> None:
    covered = np.concatenate([np.ones(50, dtype=bool), np.zeros(50, dtype=bool), np.ones(2000, dtype=bool)])
    found = certiset.monitor(certificate, covered)
    assert found.status == "contradicted"
    assert found.log_capital < found.log_threshold <= found.log_peak
    assert "The outcomes contradict the certificate" in repr(found)
    assert "2100, of which 50 missed" in repr(found)
    assert len(repr(found).split("\n")) < 20
    assert "do not rely on its promise" in found._repr_html_()


def test_the_level_is_that_of_what_is_served(certificate: Certificate) -> None:
    coverage = replace(certificate.coverage, alpha=0.2)
    assert certiset.monitor(replace(certificate, coverage=coverage), np.ones(3, dtype=bool)).promised_miscoverage == 0.2


def test_no_outcomes_say_nothing(certificate: Certificate) -> None:
    found = certiset.monitor(certificate, np.zeros(0, dtype=bool))
    assert (found.status, found.path, found.miscoverage) == ("consistent", (), None)


def test_what_is_no_outcome_is_refused(certificate: Certificate) -> None:
    with pytest.raises(DataError, match="one truth value for each outcome"):
        certiset.monitor(certificate, [0.3, 0.4])
    with pytest.raises(OptionError, match="eta must be between 0 and 1"):
        certiset.monitor(certificate, [True], eta=2.0)
