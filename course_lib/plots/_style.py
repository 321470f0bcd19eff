"""One palette and one way to begin a figure."""

from fractions import Fraction
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

INK = "#1f2933"
MUTED = "#55606b"
"""Both have a contrast above 4.5 on white; on a dark page the figure keeps its light paper."""

COLOURS = ("#1668a7", "#b4490a", "#2a7440", "#7b3b9a")
"""One for each person of the island, in the order of island.NAMES; never without a marker."""

ACCENT = "#f2b400"
"""Fill of the star; its edge is INK, so it need not be told from the paper by colour."""


def style() -> dict[Any, Any]:
    """Return the rcParams of every figure; plt.rc_context(style()) gives them to your own."""
    return {
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "font.size": 11,
        "axes.titlesize": 12,
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }


def new_figure(width: float, height: float, mosaic: Any = None, **grid: Any) -> tuple[Figure, Any]:
    """Return a figure and its axes, as plt.subplots or, with a mosaic, plt.subplot_mosaic.

    It is closed, so that a notebook shows it once: as the value of the cell.
    """
    with plt.rc_context(style()):
        grid |= {"figsize": (width, height), "layout": "constrained"}
        axes: Any
        fig, axes = plt.subplot_mosaic(mosaic, **grid) if mosaic else plt.subplots(**grid)
    plt.close(fig)
    return fig, axes


def blank_figure(width: float, height: float) -> Figure:
    """Return a figure without axes."""
    with plt.rc_context(style()):
        fig = plt.figure(figsize=(width, height))
    plt.close(fig)
    return fig


def finish(fig: Figure, alt: str) -> Figure:
    """Attach the words for readers who do not see the figure."""
    fig.alt = alt  # type: ignore[attr-defined]  # our own: the page asks the figure for its words
    return fig


def share(weight: float) -> str:
    """Return a weight as it is said: '1/8' where it is a small fraction, else two decimals."""
    fraction = Fraction(float(weight)).limit_denominator(32)
    if abs(fraction - weight) < 1e-9:
        return str(fraction)
    return f"{weight:.2f}" if weight >= 0.005 else "<0.01"
