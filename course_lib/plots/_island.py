"""The dial and the map: the picture that runs through the book."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib import island
from course_lib.plots._heatmaps import draw_bars
from course_lib.plots._style import ACCENT, COLOURS, INK, MUTED, finish, new_figure, share
from course_lib.softmax_family import entropy, softmax_at, softmax_or_zeros

STOPS = (0.0, 0.7, island.SHARPNESS, 3.0, math.inf)


def dial_and_map(
    angle: float = 0.0,
    sharpness: float = island.SHARPNESS,
    hidden: Sequence[str] = (),
    orbits: Sequence[float] = (),
) -> Figure:
    """Show the needle on the dial and the answer on the map; `orbits` adds a whole turn."""
    weights = _weights(angle, sharpness, hidden)
    fig, (dial, chart) = new_figure(9.6, 4.6, ncols=2, width_ratios=(1, 1.25))
    draw_dial(dial, angle, weights, hidden)
    draw_map(chart, weights, hidden, orbits)
    star = "({:.2f}, {:.2f})".format(*(weights @ island.VALUES))
    shares = ", ".join(f"{name} {share(w)}" for name, w in zip(island.NAMES, weights, strict=True))
    off = f" Switched off: {', '.join(hidden)}." if hidden else ""
    return finish(
        fig,
        f"Left, a dial with the needle at {angle:g} degrees; the shares are {shares}.{off}"
        f" Right, the map with a spoke from each place to the answer, a star at {star}.",
    )


def answer_path(stops: Sequence[float] = STOPS, angle: float = 0.0) -> Figure:
    """Show the path of the answer as sharpness grows, with weights and entropy at each stop."""
    mosaic = [["map", f"bars{i}"] for i in range(len(stops))]
    fig, axes = new_figure(9.6, 1.15 * len(stops), mosaic=mosaic, width_ratios=(1.55, 1))
    chart = axes["map"]
    _draw_places(chart, None, ())
    curve = [_answer(angle, beta) for beta in np.append(np.linspace(0, 12, 200), math.inf)]
    chart.plot(*np.transpose(curve), color=INK, lw=1.8, zorder=2)
    words = []
    for i, beta in enumerate(stops):
        weights = _weights(angle, beta, ())
        x, y = weights @ island.VALUES
        bits = float(entropy(weights)) / math.log(2)
        _draw_star(chart, x, y)
        chart.annotate(str(i + 1), (x, y), (9, -13), textcoords="offset points", weight="bold")
        bars = axes[f"bars{i}"]
        draw_bars(bars, weights, [name[0] for name in island.NAMES])
        bars.set_title(
            f"{i + 1}: sharpness {_sharp(beta)}, {bits:.2f} bits", fontsize=10, loc="left"
        )
        bars.set_xticks([])
        bars.spines[:].set_visible(False)
        words.append(
            f"sharpness {_sharp(beta)}: answer ({x:.2f}, {y:.2f}), entropy {bits:.2f} bits"
        )
    return finish(fig, "Path of the answer on the map. " + "; ".join(words) + ".")


def draw_dial(
    ax: Axes, angle: float, weights: Float[np.ndarray, " 4"], hidden: Sequence[str] = ()
) -> None:
    """Draw the dial: keys as markers whose area is the weight, the query as an arrow."""
    turn = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(turn), np.sin(turn), color=MUTED, lw=1, zorder=0)
    x, y = island.on_the_dial(angle)
    ax.annotate(
        "", (0.78 * x, 0.78 * y), (0, 0), arrowprops={"arrowstyle": "-|>", "lw": 2.5, "color": INK}
    )
    ax.text(0.42 * x, 0.42 * y + 0.1, "$q$", ha="center")
    for i, (radio, key) in enumerate(zip(island.RADIOS, island.KEYS, strict=True)):
        _draw_marker(ax, key, i, weights[i], radio.name in hidden)
        label = f"{radio.name}\n{share(weights[i])}"
        ax.text(1.36 * key[0], 1.36 * key[1], label, ha="center", va="center")
    ax.set(xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), aspect="equal", title="the dial: keys and query")
    ax.set_axis_off()


def draw_map(
    ax: Axes,
    weights: Float[np.ndarray, " 4"],
    hidden: Sequence[str] = (),
    orbits: Sequence[float] = (),
) -> None:
    """Draw the map: values as markers, spokes as wide as the weights, the answer as a star."""
    answer = weights @ island.VALUES
    for i, place in enumerate(island.VALUES):
        ax.plot(*np.transpose([place, answer]), color=COLOURS[i], lw=14 * weights[i], alpha=0.55)
    _draw_places(ax, weights, hidden)
    for beta in orbits:
        curve = [_answer(angle, beta) for angle in range(0, 361, 3)]
        ax.plot(*np.transpose(curve), color=MUTED, lw=1.2, ls="--", zorder=1)
        easternmost = max(curve, key=lambda point: point[0])
        _note(ax, f"β = {_sharp(beta)}", easternmost, (3, 0))
    _draw_star(ax, *answer)
    _note(ax, "({:.3g}, {:.3g})".format(*answer), answer, (0, -24), ha="center")


def _weights(angle: float, sharpness: float, hidden: Sequence[str]) -> Float[np.ndarray, " 4"]:
    cosines = island.scores(angle, 1.0)
    if hidden:
        may_attend = np.array([name not in hidden for name in island.NAMES])
        hiding: np.ndarray = softmax_or_zeros(np.where(may_attend, sharpness * cosines, -np.inf))
        return hiding
    weights: np.ndarray = softmax_at(cosines, math.inf if sharpness == 0 else 1 / sharpness)
    return weights


def _answer(angle: float, sharpness: float) -> Float[np.ndarray, " 2"]:
    answer: np.ndarray = _weights(angle, sharpness, ()) @ island.VALUES
    return answer


def _draw_places(ax: Axes, weights: Float[np.ndarray, " 4"] | None, hidden: Sequence[str]) -> None:
    for i, (radio, place) in enumerate(zip(island.RADIOS, island.VALUES, strict=True)):
        _draw_marker(ax, place, i, 0.25 if weights is None else weights[i], radio.name in hidden)
        said = "" if weights is None else f": {share(weights[i])}"
        below = place[1] < island.MAP_CENTRE[1]
        ax.annotate(
            f"{radio.name}, {radio.place}{said}",
            place,
            (0, -28 if below else 20),
            textcoords="offset points",
            ha="center",
        )
    ax.set(xlim=(-1, 11), ylim=(-0.8, 8.6), aspect="equal", title="the map: values and answer")
    ax.set(xlabel="km east", ylabel="km north", xticks=range(0, 11, 2), yticks=range(0, 9, 2))


def _draw_marker(ax: Axes, at: np.ndarray, i: int, weight: float, hidden: bool) -> None:
    fill = "none" if hidden else COLOURS[i]
    area = 150 + 900 * weight
    x, y = at
    marker = island.MARKERS[i]
    ax.scatter(x, y, s=area, marker=marker, facecolor=fill, edgecolor=COLOURS[i], zorder=3)
    if hidden:
        ax.scatter(x, y, s=area, marker="x", color=COLOURS[i], zorder=4)
    else:
        letter: dict[str, Any] = {
            "ha": "center",
            "va": "center",
            "color": "white",
            "fontsize": 9,
            "zorder": 4,
        }
        low = (
            -1.5 if island.MARKERS[i] == "^" else 0
        )  # the middle of a triangle is below its centre
        ax.annotate(island.NAMES[i][0], (x, y), (0, low), textcoords="offset points", **letter)


def _draw_star(ax: Axes, x: float, y: float) -> None:
    ax.scatter(x, y, s=200, marker="*", facecolor=ACCENT, edgecolor=INK, linewidth=1.2, zorder=5)


def _note(ax: Axes, words: str, at: Any, offset: tuple[int, int], ha: str = "left") -> None:
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    ax.annotate(
        words, at, offset, textcoords="offset points", ha=ha, va="center", fontsize=9, bbox=paper
    )


def _sharp(beta: float) -> str:
    if beta == island.SHARPNESS:
        return "2 ln 2"
    return "∞" if beta == math.inf else f"{beta:g}"
