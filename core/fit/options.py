"""The options of a fit: defaults, and a sentence for every value that does not do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from core.bounds.domain import open_unit
from core.errors import OptionError
from core.scores import Score, make_score
from core.scores.protocol import Task

Method: TypeAlias = Literal["standard", "learned", "pac_bayes"]
Guarantee: TypeAlias = Literal["per_draw", "posterior"]
CoverageBound: TypeAlias = Literal["seeger", "chernoff", "vovk_2a", "vovk_2b"]
Tune: TypeAlias = Literal["auto", "head", "score", "both"]
Train: TypeAlias = Literal["none", "mean", "mean_variance"]
Objective: TypeAlias = Literal["auto", "size", "proper", "cross_entropy", "laplace", "mix"]
OptimizerKind: TypeAlias = Literal["projected", "augmented_lagrangian"]
SizeMeasure: TypeAlias = Literal["size", "log_radius"]

GRID_SHARES = (0.2, 0.35, 0.5, 0.65, 0.8)
"""alpha_hat / alpha of the default grid, as in the paper"""


@dataclass(frozen=True)
class PriorOptions:
    split: float = 0.5
    """share of the data that tunes the prior and is not used for calibration"""
    train: Train = "mean_variance"
    """which of the prior's parameters are tuned"""
    objective: Objective = "auto"
    """what they are tuned for: set size (the paper); a proper score (cross_entropy for classes, laplace for scales;
    proper is whichever fits); the mix of both; or auto: each of size and proper, chosen by certificate"""
    scale: float = 0.01
    """the prior's variance before tuning is scale / sqrt(fan_in)"""
    steps: int | None = None
    """steps of Adam; 1000 where a head is tuned, 300 for a scale alone"""
    rate: float | None = None
    """its learning rate; 0.002 where a head is tuned, 0.004 if it is a wide one, 0.008 for a scale alone"""
    batch: int | None = None
    """rows in a step; 256 where a head is tuned, 128 for a scale alone"""
    dropout: float | None = None
    """share of the features that a row goes without in each step; 0.3 where a wide head is tuned (64 features or more),
    which has more parameters than D_0 has rows, and otherwise 0"""


@dataclass(frozen=True)
class OptimizerOptions:
    kind: OptimizerKind = "projected"
    """ours, or the paper's"""
    steps: int = 100
    """steps of the projected loop; inner steps a round of the augmented Lagrangian"""
    outer: int = 7
    """rounds of the augmented Lagrangian"""
    rate: float | None = None
    """learning rate; each optimizer has its own default"""
    draws: int = 1
    """draws of theta a step"""
    batch: int = 128
    """rows in a step"""
    quantile: Literal["smooth", "neural_sort"] = "smooth"
    """how the threshold is differentiated"""
    temperature: float = 0.1
    """of the soft set size"""
    measure: SizeMeasure = "size"
    """what is minimised: the mean size, or (the paper's, for intervals) the mean log radius"""


@dataclass(frozen=True)
class FitOptions:
    alpha: float = 0.1
    delta: float = 0.05
    gamma: float = 0.05
    method: Method = "pac_bayes"
    guarantee: Guarantee = "per_draw"
    bound: CoverageBound = "chernoff"
    score: Score = field(default_factory=lambda: make_score("log_prob"))
    tune: Tune = "auto"
    prior: PriorOptions = field(default_factory=PriorOptions)
    alpha_hat: tuple[float, ...] = ()
    members: int = 32
    optimizer: OptimizerOptions = field(default_factory=OptimizerOptions)
    seed: int = 0
    device: str = "auto"
    dtype: str = "float32"
    size_cap: float | None = None
    """the size that counts as 1 in the efficiency certificate; taken from the tuning data if not given"""
    allow_missing_classes: bool = False
    name: str = ""


_CHOICES: dict[str, Any] = {
    "method": Method,
    "guarantee": Guarantee,
    "bound": CoverageBound,
    "tune": Tune,
    "dtype": Literal["float32", "float64"],
}


def read_options(task: Task, given: Mapping[str, Any]) -> FitOptions:
    """Options as users give them, with defaults for the task."""
    options = dict(given)
    _known("the fit", options, {*FitOptions.__dataclass_fields__, "confidence_level"})
    if "confidence_level" in options:
        if "alpha" in options:
            raise OptionError("confidence_level is another word for 1 - alpha: give one of the two.")
        options["alpha"] = round(1 - _level("confidence_level", options.pop("confidence_level")), 12)
    values: dict[str, Any] = {}
    for name in ("alpha", "delta", "gamma"):
        values[name] = _level(name, options.pop(name, getattr(FitOptions, name)))
    values["score"] = _score(task, options.pop("score", None))
    values["prior"] = _section("prior", PriorOptions, options.pop("prior", None))
    values["optimizer"] = _section("optimizer", OptimizerOptions, options.pop("optimizer", None))
    values["alpha_hat"] = _levels(values["alpha"], options.pop("alpha_hat", "grid"))
    for name, value in options.items():
        if name in _CHOICES and value not in get_args(_CHOICES[name]):
            raise OptionError(f"{name} must be one of {', '.join(get_args(_CHOICES[name]))}, not {value!r}.")
        values[name] = value
    read = FitOptions(**values)
    if read.prior.objective in ("cross_entropy", "laplace"):
        meant = "cross_entropy" if task == "classification" else "laplace"
        if read.prior.objective != meant:
            raise OptionError(f"prior.objective {read.prior.objective} does not go with {task}: choose {meant}.")
        read = replace(read, prior=replace(read.prior, objective="proper"))
    _whole("members", read.members, 1, 10_000)
    _whole("seed", read.seed, 0, 2**63 - 1)
    if read.size_cap is not None:
        _positive("size_cap", read.size_cap)
    if read.method == "pac_bayes" and read.bound not in ("seeger", "chernoff"):
        raise OptionError(f"bound must be seeger or chernoff for pac_bayes, not {read.bound}.")
    return read


def _score(task: Task, given: Any) -> Score:
    default = "log_prob" if task == "classification" else "scaled_residual"
    score = make_score(default if given is None else given)
    if score.task != task:
        raise OptionError(f"score {score.kind} is for {score.task}, but the model is for {task}.")
    return score


def _section(name: str, kind: Any, given: Any) -> Any:
    if given is None:
        return kind()
    if not isinstance(given, kind | Mapping):
        raise OptionError(f"{name} must be an object with named fields.")
    if isinstance(given, Mapping):
        _known(name, given, set(kind.__dataclass_fields__))
    section = kind(**given) if isinstance(given, Mapping) else given
    if isinstance(section, PriorOptions):
        _share("prior.split", section.split)
        _one_of("prior.train", section.train, get_args(Train))
        _one_of("prior.objective", section.objective, get_args(Objective))
        _positive("prior.scale", section.scale)
        if section.rate is not None:
            _positive("prior.rate", section.rate)
        if section.steps is not None:
            _whole("prior.steps", section.steps, 0, 1_000_000)
        if section.batch is not None:
            _whole("prior.batch", section.batch, 2, 1_000_000)
        if section.dropout is not None:
            _share("prior.dropout", section.dropout)
    else:
        _one_of("optimizer.kind", section.kind, get_args(OptimizerKind))
        _one_of("optimizer.quantile", section.quantile, ("smooth", "neural_sort"))
        _one_of("optimizer.measure", section.measure, get_args(SizeMeasure))
        _whole("optimizer.steps", section.steps, 1, 1_000_000)
        _whole("optimizer.outer", section.outer, 1, 1000)
        _whole("optimizer.draws", section.draws, 1, 1000)
        _whole("optimizer.batch", section.batch, 2, 1_000_000)
        _positive("optimizer.temperature", section.temperature)
        if section.rate is not None:
            _positive("optimizer.rate", section.rate)
    return section


def _levels(alpha: float, given: Any) -> tuple[float, ...]:
    if isinstance(given, str) and given == "grid":
        return tuple(round(alpha * share, 12) for share in GRID_SHARES)
    checked = tuple(open_unit("alpha_hat", given).reshape(-1).tolist())
    if not 1 <= len(checked) <= 100:
        raise OptionError("alpha_hat must be 'grid', a number, or a list of 1 to 100 numbers.")
    if max(checked) > alpha:
        raise OptionError(f"alpha_hat must not exceed alpha = {alpha:g}, and {max(checked):g} does.")
    return tuple(sorted(set(checked)))


def _level(name: str, value: Any) -> float:
    level = open_unit(name, value)
    if level.ndim != 0:
        raise OptionError(f"{name} must be one number.")
    return float(level)


def _known(name: str, given: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(set(given) - known)
    if unknown:
        raise OptionError(f"{name} has no option {unknown[0]!r}; known are {', '.join(sorted(known))}.")


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise OptionError(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")


def _share(name: str, value: Any) -> None:
    if not isinstance(value, int | float) or not 0 <= value < 1:
        raise OptionError(f"{name} must be at least 0 and below 1, not {value!r}.")


def _positive(name: str, value: Any) -> None:
    if not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise OptionError(f"{name} must be a positive number, not {value!r}.")


def _whole(name: str, value: Any, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise OptionError(f"{name} must be a whole number from {low} to {high}, not {value!r}.")
