"""What the simulation of the promises says: for each how often it was broken, beside how often it may be."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.evidence.charts import save
from benchmarks.evidence.promises import FAMILIES
from benchmarks.evidence.promises.family import CHAPTERS, Family
from benchmarks.evidence.promises.margin import CHANCE, most_broken, p_value, within_margin
from benchmarks.evidence.summary import table
from certiset.service.figures.plot import BLUE, GREY, RED, Plot

_FACTS = {
    "missed": "missed on average {:.3f}",
    "stepped": "a posterior served in {:.0%} of the fits",
    "kl": "mean KL {:.2f}",
    "budget": "KL budget {:.2f}",
    "effective": "{:.0f} rows kept on average",
    "bound": "promised {:.3f}",
    "listed": "{:.1f} groups listed on average",
    "alarms": "{:.2f} false alarms a deployment",
    "equal": "equal {:.3f}",
    "near": "nearly equal {:.3f}",
}


@dataclass(frozen=True)
class Total:
    """One statement of one case, over all of its parts."""

    case: str
    statement: str
    level: float
    promised: bool
    made: int
    broken: int
    facts: dict[str, float]

    @property
    def share(self) -> float:
        return self.broken / self.made

    @property
    def kept(self) -> bool:
        return within_margin(self.broken, self.made, self.level)


def report(result: dict[str, Any], folder: Path) -> str:
    by_family = {name: totals(run for run in result["runs"] if run["family"] == name) for name in FAMILIES}
    found = {name: ones for name, ones in by_family.items() if ones}
    parts = [_summary([one for ones in found.values() for one in ones])]
    in_order = []
    for chapter, title in CHAPTERS.items():
        families = [FAMILIES[name] for name in found if FAMILIES[name].chapter == chapter]
        if families:
            parts.append(f"## {title}\n")
            parts += [_section(family, found[family.kind]) for family in families]
            in_order += [one for family in families for one in found[family.kind] if one.promised]
    save(_figure(in_order), folder / "promises" / "shares.svg")
    return "\n".join(parts)


def totals(runs: Iterable[dict[str, Any]]) -> list[Total]:
    """In the order in which they come."""
    grouped: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        grouped[run["case"], run["statement"], run["level"], run["promised"]].append(run)
    answer = []
    for (case, statement, level, promised), ones in grouped.items():
        made = sum(one["made"] for one in ones)
        names = {name for one in ones for name in one["facts"]}
        facts = {name: sum(one["made"] * one["facts"].get(name, 0.0) for one in ones) / made for name in sorted(names)}
        answer.append(Total(case, statement, level, promised, made, sum(one["broken"] for one in ones), facts))
    return answer


def _summary(found: Sequence[Total]) -> str:
    promised = [one for one in found if one.promised]
    false = [one for one in promised if not one.kept]
    verdict = (
        f"**{len(false)} of them were broken more often than they may be**: {'; '.join(one.case for one in false)}."
        if false
        else "None of them was broken more often than it may be."
    )
    return (
        f"{len(promised)} statements, each made in many independent runs, {sum(one.made for one in promised):,} in "
        f"all, and held against the truth, which is known. {verdict}\n\nA count is called too large where chance would "
        f"give so many, or more, with a probability of less than {CHANCE:g} (binomial) if the statement were false "
        "exactly as often as it may be; *at most* is the largest count that is not, and p the probability of so many "
        "or more. With so many statements, one that is just kept may look broken now and then. What is not promised "
        "stands in tables of its own, to show what the promise is good for.\n\n"
        "![the share of broken runs, against the share that may be](promises/shares.svg)\n"
    )


def _section(family: Family, found: Sequence[Total]) -> str:
    promised, others = ([one for one in found if one.promised is wanted] for wanted in (True, False))
    parts = [f"### {family.title}\n\n{family.about}\n"]
    if promised:
        head = ["setting", "statement", "may be broken", "runs", "broken", "share", "at most", "p"]
        parts.append(table(head, [_row(one) for one in promised]))
    if others:
        head = ["not promised", "level", "runs", "in how many", "share"]
        rows = [[one.case, f"{one.level:g}", f"{one.made:,}", f"{one.broken:,}", f"{one.share:.3f}"] for one in others]
        parts.append(table(head, rows))
    return "\n".join(parts)


def _row(one: Total) -> list[str]:
    told = ", ".join(text.format(one.facts[name]) for name, text in _FACTS.items() if name in one.facts)
    broken = f"{one.broken:,}" if one.kept else f"**{one.broken:,}**"
    return [
        f"{one.case} ({told})" if told else one.case,
        one.statement,
        f"{one.level:g}",
        f"{one.made:,}",
        broken,
        f"{one.share:.4f}",
        f"{most_broken(one.made, one.level):,}",
        f"{p_value(one.broken, one.made, one.level):.2g}",
    ]


def _figure(found: Sequence[Total]) -> Plot:
    """Shares divided by what they may be, statement by statement in the order of the page."""
    ratios = [one.share / one.level for one in found]
    limits = [most_broken(one.made, one.level) / one.made / one.level for one in found]
    plot = Plot(
        "Broken, as a share of what may be",
        f"{len(found)} statements; the largest ratio is {max(ratios):.2f}. At most 1 is promised.",
        "statement, in the order of the page",
        "share / allowed share",
        (0, len(found) + 1),
        (0.0, min(3.0, max(1.2, *ratios, *limits)) * 1.05),
        height=340,
    )
    places = list(range(1, len(found) + 1))
    plot.points(places, limits, GREY, "what chance explains", radius=2)
    for name, colour, kept in (("broken share", BLUE, True), ("more than chance explains", RED, False)):
        chosen = [place for place, one in enumerate(found) if one.kept is kept]
        if chosen:
            plot.points([places[at] for at in chosen], [ratios[at] for at in chosen], colour, name)
    plot.level(1.0, "promised")
    return plot
