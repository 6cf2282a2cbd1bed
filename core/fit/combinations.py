"""What goes together: one table, by which a fit refuses what does not, and which the documentation shows.

A feature is something that options or arrays ask for. Each feature of the rows below has, for every other feature that
it does not go with, the sentence that refuses the two; whatever is not named goes together, and is tested so.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from certiset.core.certificate.population import BY_CLASS
from certiset.core.errors import OptionError
from certiset.core.fit.options import FitOptions


@dataclass(frozen=True)
class Feature:
    name: str
    """as a reader writes it"""
    is_used: Callable[[FitOptions, Collection[str]], bool]
    """given the options and the roles for which arrays were given"""
    field: str
    """the option that asks for it"""


def _of_method(method: str) -> Feature:
    return Feature(f"method {method}", lambda options, _: options.method == method, "method")


FEATURES: dict[str, Feature] = {
    feature.name: feature
    for feature in (
        Feature("groups", lambda o, arrays: "groups" in arrays or o.groups not in (None, BY_CLASS), "groups"),
        Feature("groups: class", lambda o, _: o.groups == BY_CLASS, "groups"),
        Feature("weights", lambda o, arrays: "weights" in arrays or o.weights is not None, "weights"),
        Feature("target inputs", lambda _, arrays: "target" in arrays, "target"),
        Feature("prevalences", lambda o, _: o.prevalences is not None, "prevalences"),
        Feature("alpha: all", lambda o, _: o.all_levels, "alpha"),
        Feature("clusters", lambda o, arrays: "clusters" in arrays or o.clusters is not None, "clusters"),
        Feature("order", lambda o, arrays: "order" in arrays or o.order is not None, "order"),
        Feature("ties: hash", lambda o, _: o.ties == "hash", "ties"),
        Feature("non_empty", lambda o, _: o.non_empty, "non_empty"),
        Feature("guarantee pool", lambda o, _: o.guarantee == "pool", "guarantee"),
        Feature("guarantee posterior", lambda o, _: o.guarantee == "posterior", "guarantee"),
        Feature("bound vovk_2a", lambda o, _: o.bound == "vovk_2a", "bound"),
        *map(_of_method, ("auto", "standard", "learned", "pac_bayes", "progressive")),
    )
}

_OF_A_POOL = (
    "the promise of a pool is for the mean of its members, each with a block of its own, and a class would have too "
    "few rows in each block: choose method auto, standard or learned, which give every class one threshold."
)
_OF_A_POSTERIOR = (
    "a posterior is fitted to all calibration rows at once, and what it costs is not known group by group: choose "
    "method auto, standard or learned."
)
_BY_THE_EXACT_LAW = "thresholds of groups are by the exact law (vovk_2b): leave bound out."

_IN_ANY_MIXTURE = "the promise for every class holds in any mixture of classes: leave prevalences out."
_OF_CLUSTERS = (
    "one row is drawn from each cluster, and another choice of rows beside it would be for a population that nobody "
    "named: choose one row of each cluster yourself, and leave clusters out."
)
_ONE_POPULATION = "each of the two describes the population of future inputs: leave one of them out."
_ONE_SCORE = (
    "all levels at once are promised for one fixed score function, and not for several members: choose method auto, "
    "standard or learned."
)
_ONE_THRESHOLD = (
    "all levels at once are promised for one threshold each, and not for one in every group: choose one alpha, or "
    "leave groups out."
)
_JOINT_LAW = "all levels at once are by their exact joint law: leave bound out."

_PARTS: Sequence[tuple[Sequence[str], Sequence[str], str]] = (
    (("groups: class",), ("method progressive", "guarantee pool"), _OF_A_POOL),
    (("groups", "groups: class"), ("method pac_bayes", "guarantee posterior"), _OF_A_POSTERIOR),
    (("groups", "groups: class"), ("bound vovk_2a",), _BY_THE_EXACT_LAW),
    (("groups", "groups: class"), ("alpha: all",), _ONE_THRESHOLD),
    (("groups: class",), ("prevalences",), _IN_ANY_MIXTURE),
    (("weights",), ("target inputs", "prevalences"), _ONE_POPULATION),
    (("target inputs",), ("prevalences",), _ONE_POPULATION),
    (("weights", "target inputs", "prevalences"), ("clusters",), _OF_CLUSTERS),
    (("alpha: all",), ("guarantee pool", "guarantee posterior", "method pac_bayes", "method progressive"), _ONE_SCORE),
    (("alpha: all",), ("bound vovk_2a",), _JOINT_LAW),
)
REFUSED: Mapping[tuple[str, str], str] = {
    (first, second): f"{first} cannot be combined with {second}: {reason}"
    for firsts, seconds, reason in _PARTS
    for first in firsts
    for second in seconds
}
"""by the names of two features, in the order of `FEATURES`"""

ROWS = ("groups", "groups: class", "weights", "target inputs", "prevalences", "alpha: all")
"""features that the table has a row for"""


def check_combinations(options: FitOptions, arrays: Collection[str] = ()) -> None:
    """Refuses what does not go together; ``arrays`` are the roles for which arrays were given in place of names."""
    used = [feature.name for feature in FEATURES.values() if feature.is_used(options, arrays)]
    for pair in combinations(used, 2):
        if pair in REFUSED:
            raise OptionError(REFUSED[pair], field=FEATURES[pair[1]].field)
    _check_weight_bound(options, used)


def _check_weight_bound(options: FitOptions, used: Collection[str]) -> None:
    if "weights" in used and options.weight_bound is None:
        raise OptionError(
            "weights need weight_bound, what no weight can exceed: known without the rows, and not the largest weight "
            "among them, with which the promise would be false.",
            field="weight_bound",
        )
    if options.weight_bound is not None and not {"weights", "target inputs"} & set(used):
        raise OptionError(
            "weight_bound is the bound of weights, and there are none: leave it out.", field="weight_bound"
        )


def go_together(first: str, second: str) -> bool:
    return (first, second) not in REFUSED and (second, first) not in REFUSED


def as_table() -> str:
    """In Markdown, with a row for each of `ROWS`."""
    lines = ["| | " + " | ".join(f"`{name}`" for name in ROWS) + " |", "|---" * (len(ROWS) + 1) + "|"]
    for name in FEATURES:
        cells = [_cell(row, name) for row in ROWS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(row: str, name: str) -> str:
    """Nothing where one option asks for both, which it cannot at once."""
    if FEATURES[row].field == FEATURES[name].field:
        return ""
    return "yes" if go_together(row, name) else "no"
