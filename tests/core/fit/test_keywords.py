import inspect

from certiset.core.fit import fit
from certiset.core.fit.keywords import FitKeywords, OptimizerKeywords, PriorKeywords
from certiset.core.fit.optimizer_options import OptimizerOptions
from certiset.core.fit.options import FitOptions, PriorOptions


def test_every_option_is_a_typed_keyword_and_every_keyword_an_option() -> None:
    own = set(inspect.signature(fit).parameters) & set(FitOptions.model_fields)
    assert {*FitKeywords.__annotations__} | own == set(FitOptions.model_fields)
    assert set(PriorKeywords.__annotations__) == set(PriorOptions.model_fields)
    assert set(OptimizerKeywords.__annotations__) == set(OptimizerOptions.model_fields)


def test_words_to_choose_from_are_the_same() -> None:
    for keywords, options in (
        (FitKeywords, FitOptions),
        (PriorKeywords, PriorOptions),
        (OptimizerKeywords, OptimizerOptions),
    ):
        own = {name: hint for name, hint in keywords.__annotations__.items() if "Literal" in str(hint)}
        for name, hint in own.items():
            if name not in ("alpha", "alpha_hat"):
                assert str(hint) == str(options.model_fields[name].annotation), name
