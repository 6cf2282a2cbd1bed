"""How a fit goes: its loss, and the KL that it has spent of its budget."""

from collections.abc import Sequence
from typing import Any

from certiset.service.figures.plot import BLUE, GREEN, ORANGE, WIDTH, Plot, extent

_PHASES = {"tune": ("loss while the model is tuned", BLUE), "fit": ("loss of the posterior", GREEN)}


def loss_figure(reports: Sequence[dict[str, Any]], width: int = WIDTH) -> str:
    """The loss of both phases over the share of the work that is done."""
    losses = _series(reports, "loss")
    values = [value for _, _, value in losses]
    last = f"The last loss is {values[-1]:.4g}." if values else "No loss has been reported yet."
    plot = Plot("Loss", last, "share of the fit that is done", "loss", (0, 1), extent(values), width=width)
    for phase, (label, colour) in _PHASES.items():
        own = [(done, value) for name, done, value in losses if name == phase]
        if own:
            plot.line([done for done, _ in own], [value for _, value in own], colour, label)
            plot.points([own[-1][0]], [own[-1][1]], colour)
    return plot.svg()


def kl_figure(reports: Sequence[dict[str, Any]], width: int = WIDTH) -> str:
    """The KL of the posterior against what the bound allows it."""
    spent, budgets = _series(reports, "kl"), _series(reports, "budget")
    values = [value for _, _, value in spent]
    if values and budgets:
        words = f"The posterior has spent {values[-1]:.3g} of {budgets[-1][2]:.3g} nats."
    else:
        words = "Nothing is spent before the posterior leaves its prior."
    ceiling = extent([*values, *(value for _, _, value in budgets)], include=[0.0]) if spent else (0.0, 1.0)
    plot = Plot("KL spent", words, "share of the fit that is done", "KL in nats", (0, 1), ceiling, width=width)
    plot.line([done for _, done, _ in spent], values, ORANGE, "KL spent")
    plot.line([done for _, done, _ in budgets], [value for _, _, value in budgets], BLUE, "budget", dash="6 4")
    if spent:
        plot.points([spent[-1][1]], [values[-1]], ORANGE)
    return plot.svg()


def _series(reports: Sequence[dict[str, Any]], metric: str) -> list[tuple[str, float, float]]:
    """(phase, share done, value) wherever the metric was reported. An attempt that began anew begins anew here."""
    found: list[tuple[str, float, float]] = []
    done = 0.0
    for report in reports:
        if report["fraction"] < done:
            found = []
        done = report["fraction"]
        value = report["metrics"].get(metric)
        if value is not None:
            found.append((report["phase"], done, value))
    return found
