"""What all methods have in common: they are found by name, refuse what they cannot give, and repeat themselves."""

from typing import Any, get_args

import pytest
import torch

from certiset.core.errors import OptionError
from certiset.core.fit import fit
from certiset.core.fit.fitting import check
from certiset.core.fit.methods import METHODS
from certiset.core.fit.options import FitOptions
from tests.core.fit.problems import class_data, class_model, untrained, untrained_model

QUICK: dict[str, Any] = {"prior": {"steps": 20}, "optimizer": {"steps": 5}, "members": 4}


def test_every_method_of_the_options_is_there_and_no_other() -> None:
    named = get_args(FitOptions.model_fields["method"].annotation)
    assert sorted(METHODS) == sorted(named)
    assert all(METHODS[name].kind == name for name in named)
    assert FitOptions().method == "auto"


@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        (
            {"method": "learned", "guarantee": "posterior"},
            "guarantee",
            "method learned cannot give guarantee posterior: choose per_draw, or method pac_bayes.",
        ),
        ({"method": "standard", "guarantee": "pool"}, "guarantee", "or method auto or progressive."),
        ({"method": "pac_bayes", "guarantee": "pool"}, "guarantee", "choose per_draw or posterior, or method"),
        ({"method": "progressive", "guarantee": "per_draw"}, "guarantee", "choose pool, or method auto or learned"),
        ({"guarantee": "posterior"}, "guarantee", "method auto cannot give guarantee posterior"),
        ({"bound": "vovk_2a"}, "bound", "bound vovk_2a cannot be used with method auto"),
        ({"method": "pac_bayes", "bound": "vovk_2b"}, "bound", "choose chernoff or seeger"),
        ({"method": "progressive", "bound": "vovk_2b"}, "bound", "cannot be used with method progressive"),
        ({"prior": {"split": 0.5}}, "prior.split", "method auto chooses prior.split itself"),
        ({"method": "progressive", "prior": {"split": 0}}, "prior", "Choose method standard"),
        ({"method": "progressive", "prior": {"train": "none"}}, "prior", "Choose method standard"),
        ({"method": "progressive", "size_bound": "grid_kl"}, "size_bound", "bounded by betting"),
        ({"guarantee": "pool", "serve": "best"}, "serve", "guarantee pool is for the mean over all of them"),
    ],
    ids=str,
)
def test_what_a_method_cannot_give_is_refused_with_what_can(options: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(OptionError) as refused:
        check(class_model(), *class_data(600, 0), **options)
    assert refused.value.field == field
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("method", "guarantee"),
    [("standard", "per_draw"), ("learned", "per_draw"), ("pac_bayes", "per_draw"), ("progressive", "pool")],
)
def test_guarantee_auto_is_the_methods_own(method: Any, guarantee: str) -> None:
    _, plan = check(class_model(), *class_data(600, 0), method=method)
    assert plan.options.guarantee == guarantee


@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_same_seed_gives_the_same_bytes_and_another_other_rows(method: Any) -> None:
    found = [fit(untrained_model(), *untrained(600, 0), method=method, seed=seed, **QUICK) for seed in (0, 0, 1)]
    assert found[0].stored.to_bytes() == found[1].stored.to_bytes()
    assert found[0].certificate.id == found[1].certificate.id
    assert found[0].certificate.id != found[2].certificate.id
    assert method == "standard" or not torch.equal(found[0].theta, found[2].theta)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_stored_options_have_nothing_open_but_what_revealed_rows_choose(method: Any) -> None:
    _, plan = check(class_model(), *class_data(600, 0), method=method)
    stored = plan.options.to_json()
    assert FitOptions.read(stored) == plan.options
    split, tuned = stored["prior"]["split"], [stored["tune"], stored["prior"]["steps"]]
    assert split == (None if method in ("auto", "standard") else 0.5)
    assert tuned == (["auto", None] if method in ("auto", "progressive") else ["head", 1000])
