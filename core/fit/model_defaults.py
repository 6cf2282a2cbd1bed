"""Defaults that depend on the model and on other options: which parameters are tuned, for how long and how fast."""

from dataclasses import asdict, dataclass, replace

from certiset.core.fit.optimizer_options import OptimizerOptions
from certiset.core.fit.options import FitOptions, PriorOptions
from certiset.core.models import Model


@dataclass(frozen=True)
class TuningSchedule:
    """How a prior is tuned; the fields are those of `PriorOptions` that may be left open."""

    steps: int
    rate: float
    batch: int
    dropout: float = 0.0


_FOR_HEADS = TuningSchedule(steps=1000, rate=2e-3, batch=256)
_FOR_WIDE_HEADS = TuningSchedule(steps=1000, rate=4e-3, batch=256, dropout=0.3)
_FOR_SCALES = TuningSchedule(steps=300, rate=8e-3, batch=128)
_WIDE = 64
"""features"""
_OPTIMIZER_RATES = {"projected": 0.2, "augmented_lagrangian": 1e-3}


def tuning_schedule(prior: PriorOptions, *, tunes_head: bool, features: int) -> TuningSchedule:
    """What is given, and the defaults for the rest."""
    usual = (_FOR_WIDE_HEADS if features >= _WIDE else _FOR_HEADS) if tunes_head else _FOR_SCALES
    given = {name: getattr(prior, name) for name in asdict(usual)}
    return replace(usual, **{name: value for name, value in given.items() if value is not None})


def optimizer_rate(optimizer: OptimizerOptions) -> float:
    return optimizer.rate if optimizer.rate is not None else _OPTIMIZER_RATES[optimizer.kind]


def completed(options: FitOptions, model: Model, *, split: float | None, chooses: bool) -> FitOptions:
    """Resolved options with nothing left open, so that what is stored means the same in every later version.

    ``split`` is the method's own, if it has one. What the method ``chooses`` by revealed rows stays open: which
    parameters are tuned, and how, which differs between them.
    """
    prior = options.prior
    if prior.split is None:
        prior = prior.model_copy(update={"split": split})
    optimizer = options.optimizer.model_copy(update={"rate": optimizer_rate(options.optimizer)})
    if chooses:
        return options.model_copy(update={"prior": prior, "optimizer": optimizer})
    tune = options.tune
    if tune == "auto":
        tune = "score" if options.chosen_score.has_scale else "head"
    schedule = tuning_schedule(prior, tunes_head=tune in ("head", "both"), features=model.head.inputs)
    prior = prior.model_copy(update=asdict(schedule))
    return options.model_copy(update={"tune": tune, "prior": prior, "optimizer": optimizer})
