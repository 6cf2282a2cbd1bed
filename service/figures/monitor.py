"""The path of the capital that bets against a certificate."""

import math
from collections.abc import Sequence

from certiset.service.figures.plot import BLUE, ORANGE, Plot, extent


def capital_figure(path: Sequence[tuple[int, float]], log_threshold: float) -> str:
    """(outcomes, log capital) along the way, against the level at which the certificate is contradicted."""
    counts, capitals = [0, *(count for count, _ in path)], [0.0, *(capital for _, capital in path)]
    tens, threshold = [capital / math.log(10) for capital in capitals], log_threshold / math.log(10)
    words = (
        f"After {counts[-1]} outcomes the capital is 10^{tens[-1]:.2f}, at its peak 10^{max(tens):.2f}; "
        f"at 10^{threshold:.2f} the certificate is contradicted."
    )
    bounds = extent(tens, include=[0.0, threshold * 1.1])
    plot = Plot(
        "Capital against the certificate", words, "outcomes reported", "capital, powers of ten", (0, counts[-1]), bounds
    )
    plot.line(counts, tens, BLUE, "capital")
    plot.level(threshold, "contradicted from here on", ORANGE, named_left=True)
    return plot.svg()
