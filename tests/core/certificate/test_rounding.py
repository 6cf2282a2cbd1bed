"""Sentences and answers never promise more than was proved, not even by a digit."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from certiset.core.certificate.rounding import about, promise, promised_share, risk, total_risk, without_noise

shares = st.floats(min_value=1e-300, max_value=1, exclude_max=True)


def in_percent(text: str) -> Fraction:
    number, unit = text.split(" ")
    assert unit == "%"
    assert "e" not in number.lower()
    return Fraction(number) / 100


def written(number: float) -> Fraction:
    return Fraction(repr(number))


@given(shares)
def test_a_risk_is_rounded_up_and_a_promise_down(share: float) -> None:
    assert written(share) <= in_percent(risk(share)) <= written(share) * (1 + Fraction("1e-5"))
    assert in_percent(promise(share)) <= 1 - written(share)
    assert promise(share) != "100 %"


@given(shares)
def test_a_promised_share_is_as_close_as_a_number_can_be(share: float) -> None:
    promised = promised_share(share)
    assert promised < 1
    assert written(promised) <= 1 - written(share)
    assert 1 - written(share) - written(promised) < Fraction("3e-16")


@given(shares, shares)
def test_risks_add_up_to_no_less(first: float, second: float) -> None:
    assert written(total_risk(first, second)) >= written(first) + written(second)


def test_usual_numbers_are_as_people_write_them() -> None:
    assert [risk(0.05), promise(0.05), promise(0.1), promise(1e-7)] == ["5 %", "95 %", "90 %", "99.99999 %"]
    assert [promised_share(0.1), total_risk(0.05, 0.05), total_risk(0.1, 0.2)] == [0.9, 0.1, 0.3]
    assert [about(0.0512), about(0.5), about(0.999), about(1.0), about(1e-5)] == [
        "5.1 %",
        "50 %",
        "100 %",
        "100 %",
        "0.001 %",
    ]


def test_a_sum_loses_the_noise_of_floats_and_nothing_else() -> None:
    assert sum([0.05] * 3) != 0.15
    assert without_noise(sum([0.05] * 3)) == 0.15
    for exact in (0.15 + 1e-13, 1e-9 / 3, 0.1, 2.5):
        assert without_noise(exact) == exact
