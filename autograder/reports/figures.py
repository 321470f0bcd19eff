"""The picture at the head of the class report: how the class did, and where it stumbled."""

import io
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator

from autograder.reports.class_summary import ExerciseCount, Summary
from course_lib.plots import COLOURS, INK, MUTED, new_figure

BARS = 8
"""So many of the hardest properties and of the misconceptions are drawn; tables have all."""
NOTHING = "#d5d9dd"
WORDS = 58


@dataclass(frozen=True)
class Shape:
    """How wide the pictures are, in inches, and whether two panels stand side by side."""

    width: float
    beside: bool


SHAPES = {"broad": Shape(9.6, True), "narrow": Shape(4.6, False)}
"""The second is for a phone, where the first would be too small to read."""


def class_pictures(summary: Summary) -> dict[str, list[Markup]]:
    """Totals, exercises, and what went wrong most often, as SVG whose words are text."""
    return {name: list(_pictures(summary, shape)) for name, shape in SHAPES.items()}


def _pictures(summary: Summary, shape: Shape) -> Iterator[Markup]:
    totals, axes = new_figure(shape.width, 2.7)
    _totals(axes, summary)
    alt_text = "How many students have how many points; the tables hold the numbers."
    yield _svg(totals, alt_text, shape)
    lines = 0.36 if shape.beside else 0.6
    exercises, axes = new_figure(shape.width, lines * len(summary.exercises) + 1.4)
    _exercises(axes, summary.exercises, shape)
    alt_text = "How much of each exercise was earned; the first table holds the numbers."
    yield _svg(exercises, alt_text, shape)
    hardest, slips = summary.hardest[:BARS], summary.misconceptions[:BARS]
    heights = [0.55 * max(1, len(bars)) + 0.5 for bars in (hardest, slips)]
    stumbled, (first, second) = (
        new_figure(shape.width, max(heights), ncols=2)
        if shape.beside
        else new_figure(shape.width, sum(heights), nrows=2, height_ratios=heights)
    )
    fails = [
        (f"{p.number}: {p.property}", p.failed / p.of, f"{p.failed} of {p.of}") for p in hardest
    ]
    _bars(first, "Properties that fail", fails, COLOURS[0])
    made = [(f"{m.number}: {m.mistake}", float(m.students), f"{m.students}") for m in slips]
    _bars(second, "Mistakes that were recognised", made, COLOURS[1])
    alt_text = "The hardest properties and the commonest mistakes; tables hold them all."
    yield _svg(stumbled, alt_text, shape)


def _svg(fig: Figure, alt: str, shape: Shape) -> Markup:
    out = io.StringIO()
    salt = f"{alt} {shape}"  # a hatch that another picture defines is not drawn if that is hidden
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        fig.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    svg = out.getvalue()
    return Markup(
        svg[svg.index("<svg") :].replace("<svg ", f'<svg role="img" aria-label="{alt}" ', 1)
    )


def _totals(axes: Axes, summary: Summary) -> None:
    bins = np.linspace(0, summary.most, min(11, int(summary.most) + 1) or 2)
    counts, edges = np.histogram(summary.totals, bins)
    axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=COLOURS[0], edgecolor="white")
    for left, width, count in zip(edges, np.diff(edges), counts, strict=False):
        if count:
            where = left + width / 2, count
            paper = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # over the median's line
            axes.annotate(
                f"{count}", where, xytext=(0, 2), textcoords="offset points",
                ha="center", va="bottom", color=INK, bbox=paper,
            )  # fmt: skip
    axes.axvline(summary.median, color=MUTED, linestyle="--", linewidth=1, zorder=0)
    axes.margins(y=0.15)  # the number on the highest bar stays below the word on the median
    axes.annotate(
        f"median {summary.median:g}",
        (summary.median, 1),
        xycoords=("data", "axes fraction"),
        xytext=(4, 2),
        textcoords="offset points",
        color=INK,
    )
    axes.set(xlabel="points", ylabel="students", xlim=(0, summary.most))
    number = len(summary.totals)
    axes.set_title(f"{number} submission{'s' * (number != 1)}", loc="left", pad=14)
    axes.yaxis.set_major_locator(_whole_numbers())


def _exercises(axes: Axes, exercises: list[ExerciseCount], shape: Shape) -> None:
    """Stacked shares; each part has its own hatch, since colour alone says nothing."""
    names = [
        f"{e.number}  {textwrap.shorten(e.title, WORDS, placeholder=' ...')}" for e in exercises
    ]
    parts = (
        ("all points", [e.full for e in exercises], COLOURS[2], ""),
        ("some", [e.part for e in exercises], COLOURS[0], "//"),
        ("tried, none", [e.none for e in exercises], COLOURS[1], ".."),
        ("waits for a person", [e.waits for e in exercises], COLOURS[3], "xx"),
        ("not attempted", [e.unattempted for e in exercises], NOTHING, ""),
    )
    places, left = np.arange(len(exercises)), np.zeros(len(exercises))
    for label, counts, colour, hatch in parts:
        bars = axes.barh(
            places, counts, 0.8 if shape.beside else 0.5, left,
            color=colour, hatch=hatch, edgecolor="white", label=label,
        )  # fmt: skip
        ink = INK if colour == NOTHING else "white"
        paper = {"facecolor": colour, "edgecolor": "none", "pad": 1} if hatch else None
        for bar, count in zip(bars, counts, strict=True):
            if count:
                x, y = bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height() / 2
                axes.text(x, y, f"{count}", ha="center", va="center", color=ink, size=9, bbox=paper)
        left += counts
    if shape.beside:
        axes.set_yticks(places, names)
    else:  # each name above its bar
        axes.set_yticks([])
        for place, name in zip(places, names, strict=True):
            axes.text(0, place - 0.48, name, va="center", size=9)
    axes.invert_yaxis()
    axes.set(xlabel="students", xlim=(0, max(left)))
    axes.xaxis.set_major_locator(_whole_numbers())
    axes.figure.suptitle("Exercises", x=0.01, ha="left", fontsize=12)
    where: Literal["outside upper right", "outside lower left"]
    columns, where = (
        (len(parts), "outside upper right") if shape.beside else (2, "outside lower left")
    )
    axes.figure.legend(loc=where, ncols=columns, frameon=False, fontsize=9)


def _whole_numbers() -> AutoLocator:
    locator = AutoLocator()
    locator.set_params(integer=True)
    return locator


def _bars(axes: Axes, title: str, bars: list[tuple[str, float, str]], colour: str) -> None:
    """Words above each bar, its number behind it."""
    axes.set_title(title, loc="left")
    axes.spines[["bottom", "left"]].set_visible(False)
    axes.set(xticks=[], yticks=[])
    if not bars:
        axes.text(0, 0.5, "none", color=MUTED, transform=axes.transAxes)
        return
    for place, (label, length, number) in enumerate(bars):
        axes.barh(place + 0.36, length, height=0.26, color=colour)
        axes.text(0, place, textwrap.shorten(label, WORDS, placeholder=" ..."), va="center", size=9)
        axes.annotate(
            number,
            (length, place + 0.36),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            size=9,
            color=MUTED,
        )
    longest = max(length for _, length, _ in bars)
    axes.set(xlim=(0, longest * 1.3), ylim=(max(len(bars), 3) - 0.3, -0.45))
