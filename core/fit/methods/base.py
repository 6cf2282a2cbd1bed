"""What every method knows: what it fixes before D_N is seen, and how it gets from rows to certified members."""

import math
from abc import ABC, abstractmethod
from typing import ClassVar

from certiset.core.bounds import TooFewPointsError
from certiset.core.errors import OptionError
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import DEFAULT_SPLIT, Plan, tuning_count
from certiset.core.fit.serving_choice import check_best_is_promised
from certiset.core.fit.workspace import Workspace


class Method(ABC):
    """One way from rows to certified members."""

    guarantees: ClassVar[tuple[str, ...]] = ("per_draw",)
    """that it can give; the first is what ``guarantee: auto`` means"""
    bounds: ClassVar[tuple[str, ...]] = ("chernoff", "seeger")
    """values of the option ``bound`` that make sense; the first two are the default and change nothing elsewhere"""
    tunes: ClassVar[bool] = True
    """whether anything is learned from rows"""
    split: ClassVar[float | None] = DEFAULT_SPLIT
    """the share of the rows that tunes, if none is given; None where that is no fixed one"""
    chooses: ClassVar[bool] = False
    """whether revealed rows choose what is tuned, and how"""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def check(self, options: FitOptions) -> None:
        """Refuses options that do not go with the method."""
        if options.guarantee not in ("auto", *self.guarantees):
            raise OptionError(
                f"method {self.kind} cannot give guarantee {options.guarantee}: choose {_either(self.guarantees)}, or "
                f"{_other_methods(options.guarantee)}.",
                field="guarantee",
            )
        if options.bound not in self.bounds:
            raise OptionError(
                f"bound {options.bound} cannot be used with method {self.kind}: choose {_either(self.bounds)}.",
                field="bound",
            )
        if options.serve == "best":
            check_best_is_promised(self.guarantee_of(options))

    def guarantee_of(self, options: FitOptions) -> str:
        """The guarantee that is meant by the options."""
        return self.guarantees[0] if options.guarantee == "auto" else options.guarantee

    def tuned_rows(self, options: FitOptions, rows: int) -> int | None:
        """How many of the rows, or clusters, tune, if the options say so; None where revealed rows do."""
        return tuning_count(options, rows)

    @abstractmethod
    def plan(self, options: FitOptions, rows: int, unit: str = "rows") -> Plan:
        """What is fixed beforehand; a `TooFewPointsError` says how many rows are enough.

        ``unit`` is clusters where these are counted.
        """

    def for_groups(self, plan: Plan, groups: int | None) -> Plan:
        """The plan where so many groups have thresholds of their own, which it may make wiser.

        None where their number would say something about rows that are not revealed.
        """
        return plan

    @abstractmethod
    def run(self, work: Workspace) -> Fitted:
        """From the rows to members; ``work.plan`` is what `plan` returned."""


def check_points(plan: Plan, unit: str, split: float) -> None:
    """That D_N has as many points as a single predictor needs; ``split`` is the share that tunes."""
    options = plan.options
    needed = plan.point_guarantee.smallest_n(options.level, plan.delta(0))
    assert needed is not None
    if plan.n < needed:
        rows = math.ceil(needed / (1 - split)) + 1 if plan.n_tune else needed
        raise TooFewPointsError(
            f"{plan.n + plan.n_tune} {unit} leave n = {plan.n} for calibration, too few for "
            f"alpha = {options.level:g}, delta = {options.own_delta:g}: at least {needed} are needed, "
            f"that is {rows} {unit} in all.",
            needed,
        )


def _either(names: tuple[str, ...]) -> str:
    return " or ".join(names)


def _other_methods(guarantee: str) -> str:
    from certiset.core.fit.methods import METHODS  # noqa: PLC0415 (which imports this module)

    return "method " + " or ".join(method.kind for method in METHODS.values() if guarantee in method.guarantees)
