"""One table says what goes together: fits refuse by it, and the documentation shows it."""

from pathlib import Path

import pytest

from certiset.core.errors import OptionError
from certiset.core.fit.combinations import FEATURES, REFUSED, ROWS, as_table, check_combinations, go_together
from certiset.core.fit.options import FitOptions


def test_every_refusal_is_of_known_features_in_their_order_and_says_what_to_do() -> None:
    order = list(FEATURES)
    for (first, second), sentence in REFUSED.items():
        assert order.index(first) < order.index(second)
        assert sentence.startswith(f"{first} cannot be combined with {second}: ")
        assert any(word in sentence for word in ("choose", "leave")), sentence


def test_options_that_do_not_go_together_are_refused_by_name() -> None:
    with pytest.raises(OptionError, match="groups: class cannot be combined with method progressive") as caught:
        check_combinations(FitOptions(groups="class", method="progressive"))
    assert caught.value.field == "method"
    with pytest.raises(OptionError, match="groups cannot be combined with guarantee posterior"):
        check_combinations(FitOptions(guarantee="posterior"), {"groups"})
    check_combinations(FitOptions(guarantee="pool"), {"groups"})
    with pytest.raises(OptionError, match="groups: class cannot be combined with method pac_bayes"):
        check_combinations(FitOptions(groups="class", method="pac_bayes"))
    check_combinations(FitOptions(groups=["sex", "age"], method="learned", clusters="patient", order="time"))


def test_the_table_shows_every_feature_and_agrees_with_what_is_refused() -> None:
    lines = as_table().splitlines()[2:]
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines] == list(FEATURES)
    for name, line in zip(FEATURES, lines, strict=True):
        for row, cell in zip(ROWS, line.split("|")[2:-1], strict=True):
            alike = FEATURES[row].field == FEATURES[name].field
            assert cell.strip() == ("" if alike else "yes" if go_together(row, name) else "no")


def test_the_table_stands_in_the_documentation() -> None:
    page = Path(__file__).parents[3] / "docs" / "choosing.md"
    assert as_table() in page.read_text()


def test_weights_come_with_a_bound_and_a_bound_with_weights() -> None:
    with pytest.raises(OptionError, match="weights need weight_bound") as caught:
        check_combinations(FitOptions(weights="w"))
    assert caught.value.field == "weight_bound"
    with pytest.raises(OptionError, match="there are none"):
        check_combinations(FitOptions(weight_bound=2.0))
    check_combinations(FitOptions(weight_bound=2.0), {"weights"})
    check_combinations(FitOptions(weight_bound=2.0), {"target"})


@pytest.mark.parametrize(
    ("given", "arrays", "sentence"),
    [
        ({"prevalences": [0.5, 0.5], "weights": "w"}, (), "weights cannot be combined with prevalences"),
        ({"prevalences": [0.5, 0.5]}, ("target",), "target inputs cannot be combined with prevalences"),
        ({"prevalences": [0.5, 0.5], "clusters": "patient"}, (), "choose one row of each cluster"),
        ({"prevalences": [0.5, 0.5], "groups": "class"}, (), "holds in any mixture"),
        ({"alpha": "all", "method": "progressive"}, (), "one fixed score function"),
        ({"alpha": "all", "guarantee": "posterior"}, (), "one fixed score function"),
        ({"alpha": "all", "bound": "vovk_2a"}, (), "joint law"),
        ({"alpha": "all", "groups": "class"}, (), "one threshold each"),
    ],
)
def test_another_population_and_all_levels_are_refused_where_they_do_not_go(
    given: dict[str, object], arrays: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(OptionError, match=sentence):
        check_combinations(FitOptions.read(given), arrays)
