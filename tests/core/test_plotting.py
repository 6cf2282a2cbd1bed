"""What is drawn by Matplotlib has the numbers of what it is drawn from."""

import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from certiset.core.bounds import Supermartingale
from certiset.core.drawing import Drawing
from certiset.core.errors import ConflictError, DataError, OptionError
from certiset.core.fit import Predictor, fit
from certiset.core.models import Model
from certiset.core.monitor_resources import GroupMonitor, Monitor, PathPoint
from certiset.core.plotting import draw
from certiset.core.sets import Balls, Intervals, LabelSets
from certiset.extras import MissingExtraError

NAMES = ("$ant$", "_bee", "cat")


@pytest.fixture(autouse=True)
def no_window() -> Iterator[None]:
    with mpl.rc_context({"backend": "agg"}):
        yield
        pyplot.close("all")


@pytest.fixture(scope="module")
def by_class() -> Predictor:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    manifest = {"name": "m", "task": "classification", "classes": 3, "labels": list(NAMES), "input_shape": [3]}
    x = 2.0 * np.eye(3)[y] + rng.normal(size=(600, 3))
    return fit(Model.from_manifest(manifest), x, y, method="standard", groups="class")


def monitor(missed: NDArray[np.bool_], **further: Any) -> Monitor:
    """As the service has it, of these outcomes in a row."""
    counts = np.cumsum(missed).tolist()
    path = tuple(
        PathPoint(outcomes=n, misses=m, log_capital=Supermartingale(0.1, outcomes=n, misses=m).log_capital)
        for n, m in enumerate(counts, 1)
    )
    return Monitor(
        predictor_id="pred-1",
        certificate_id="cert-1",
        status="consistent",
        promised_miscoverage=0.1,
        outcomes=len(missed),
        misses=int(missed.sum()),
        miscoverage=float(missed.mean()),
        interval=(0.0, 1.0),
        eta=0.01,
        log_capital=0.0,
        log_peak=0.0,
        log_threshold=float(np.log(100)),
        contradicted_at=None,
        path=path,
        **further,
    )


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    return [] if found is None else [text.get_text() for text in found.get_texts()]


def points(ax: Axes, name: str) -> NDArray[np.float64]:
    """(points, 2): of the series with this name."""
    (line,) = [line for line in ax.lines if line.get_label() == name]
    return np.asarray(line.get_xydata())


def test_the_budget_shows_where_the_certificate_stands(by_class: Predictor) -> None:
    certificate = fit(
        Model.from_manifest({"name": "line", "task": "regression", "input_shape": [1]}),
        np.arange(300.0)[:, None],
        np.arange(300.0) + np.random.default_rng(0).normal(size=300),
        method="standard",
    ).certificate
    ax = certificate.plot()
    assert ax.get_title() == "Budget and chosen point"
    assert points(ax, "this certificate")[0, 0] == certificate.coverage.k
    assert certificate.plot("members").get_title() == "Members"
    with pytest.raises(ConflictError, match="no groups"):
        certificate.plot("coverage_by_group")


def test_coverage_by_group_is_that_of_each_rank_under_the_names_of_the_classes(by_class: Predictor) -> None:
    ax = by_class.certificate.plot("coverage_by_group")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list(NAMES)
    groups = by_class.certificate.groups or []
    np.testing.assert_allclose(points(ax, "on average")[:, 1], [1 - g.k / (g.n + 1) for g in groups])
    assert by_class.certificate.plot("sizes_by_group").get_title() == "Size by group"


def test_a_figure_that_there_is_not_is_refused(by_class: Predictor) -> None:
    with pytest.raises(OptionError, match="which is no figure: choose budget, members"):
        by_class.certificate.plot("bugdet")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="choose coverage, capital, groups"):
        monitor(np.zeros(3, dtype=bool)).plot("size")  # type: ignore[arg-type]


def test_sizes_are_shares_of_the_rows() -> None:
    sets = LabelSets(np.array([[True, False], [True, True], [True, True], [False, False]]))
    ax = sets.plot()
    assert [bar.get_height() for bar in ax.patches if isinstance(bar, Rectangle)] == [0.25, 0.25, 0.5]
    assert "mean 1.25" in legend(ax)


def test_intervals_over_x_with_truths_inside_and_outside() -> None:
    x = np.array([3.0, 1.0, 2.0])
    ax = Intervals(x - 1, x + 1).plot(x, [3.5, 5.0, 1.5])
    assert points(ax, "inside").tolist() == [[2.0, 1.5], [3.0, 3.5]]
    assert points(ax, "outside").tolist() == [[1.0, 5.0]]
    assert points(Intervals(x - 1, x + 1).plot(x), "inside").tolist() == []


def test_label_sets_over_x_have_a_line_for_each_class() -> None:
    sets = LabelSets(np.array([[True, False, True], [False, True, False]]), NAMES)
    ax = sets.plot([0.5, 0.1], ["cat", "$ant$"])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(NAMES)
    assert sorted(points(ax, "in the set").tolist()) == [[0.1, 1.0], [0.5, 0.0], [0.5, 2.0]]
    assert points(ax, "inside").tolist() == [[0.5, 2.0]]
    assert points(ax, "outside").tolist() == [[0.1, 0.0]]


def test_what_cannot_be_drawn_over_x_says_so() -> None:
    with pytest.raises(DataError, match="one number for each of the 2 sets"):
        Intervals(np.zeros(2), np.ones(2)).plot([1.0])
    with pytest.raises(DataError, match="Only intervals and sets of labels"):
        Balls(np.zeros((1, 2)), np.ones(1)).plot([1.0])


def test_a_monitor_shows_when_outcomes_contradicted() -> None:
    calm, broken = monitor(np.arange(200) % 20 == 0), monitor(np.arange(200) % 2 == 0)
    assert not [name for name in legend(calm.plot()) if name.startswith("contradicted")]
    ax = broken.plot("capital")
    (found,) = [name for name in legend(ax) if name.startswith("contradicted: outcome ")]
    first = next(p.outcomes for p in broken.path if p.log_capital >= broken.log_threshold)
    assert found.endswith(f" {first}")
    assert points(broken.plot(), "coverage seen")[-1].tolist() == [200, 0.5]


def test_outcomes_by_group() -> None:
    group = GroupMonitor(
        name=("left",),
        outcomes=10,
        misses=2,
        miscoverage=0.2,
        interval=(0.05, 0.5),
        log_capital=0.0,
        log_peak=0.0,
        contradicted=False,
    )
    ax = monitor(np.zeros(10, dtype=bool), groups=(group,)).plot("groups")
    assert points(ax, "missed so far").tolist() == [[1.0, 0.2]]


def test_axes_that_are_given_are_drawn_on() -> None:
    _, axes = pyplot.subplots(1, 2)
    assert LabelSets(np.eye(2, dtype=bool)).plot(ax=axes[1]) is axes[1]
    assert not axes[0].patches


def test_names_are_shown_as_they_are(tmp_path: Any) -> None:
    """Dollars are no formula, and an underscore hides nothing."""
    drawing = Drawing("$\\frac$", "", "$\\x$", "y", (0, 1), (0, 1), x_ticks=[0.5], x_names=["$\\nonsense{$"])
    drawing.line([0, 1], [0, float("inf")], "red", "_hidden $\\x$")
    ax = draw(drawing)
    assert legend(ax) == ["\u200b_hidden $\\x$"]
    ax.figure.savefig(tmp_path / "figure.png")  # type: ignore[union-attr]


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"plot needs the package matplotlib: pip install 'certiset\[plot\]'"):
        LabelSets(np.eye(2, dtype=bool)).plot()
