"""Drawings as SVG for the page."""

from certiset.core.drawing import Drawing
from certiset.service.figures.plot import WIDTH, Plot


def svg(drawing: Drawing, width: int = WIDTH) -> str:
    """The figure, in as many pixels as the page has."""
    plot = Plot(
        drawing.title,
        drawing.description,
        drawing.x_label,
        drawing.y_label,
        drawing.x_range,
        drawing.y_range,
        width=width,
        height=drawing.height,
        x_ticks=drawing.x_ticks,
        x_names=drawing.x_names,
    )
    drawing.onto(plot)
    return plot.svg()
