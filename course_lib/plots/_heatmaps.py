"""Tables of weights as pictures: numbers printed, tokens on both axes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from course_lib._door import check
from course_lib.plots._style import (
    COLOURS,
    INK,
    MUTED,
    blank_figure,
    finish,
    new_figure,
    share,
)

PRINTED = 16
"""Up to this many rows and columns the numbers are printed in the cells."""


def weight_heatmap(
    weights: Float[np.ndarray, "n_q n_k"],
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    title: str = "",
) -> Figure:
    """Show each query as a row of weights over the keys; darker is more, the number is printed."""
    weights = _numbers("weights", weights, "n_q n_k")
    queries, keys = _labels(weights, queries, keys)
    fig, ax = new_figure(1.8 + 0.62 * len(keys), 1.4 + 0.5 * len(queries))
    _draw_table(ax, weights, queries, keys, signed=False)
    ax.set(xlabel="key", ylabel="query")
    ax.set_title(title)
    return finish(fig, describe_weights(weights, queries, keys))


def signed_heatmap(
    matrix: Float[np.ndarray, "rows columns"],
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    title: str = "",
    digits: int = 2,
) -> Figure:
    """Show a matrix with both signs: the sign is printed, orange and purple only repeat it."""
    matrix = _numbers("matrix", matrix, "rows columns")
    rows, columns = _labels(matrix, rows, columns)
    fig, ax = new_figure(1.4 + 0.68 * len(columns), 1.2 + 0.5 * len(rows))
    _draw_table(ax, matrix, rows, columns, signed=True, digits=digits)
    ax.set_title(title)
    lines = [
        f"{row}: " + ", ".join(f"{x:.{digits}f}" for x in numbers)
        for row, numbers in zip(rows, matrix, strict=True)
    ]
    return finish(fig, f"Table with columns {', '.join(columns)}. " + "; ".join(lines) + ".")


def head_grid(
    weights: Float[np.ndarray, "heads n_q n_k"],
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> Figure:
    """Show the weights of every head side by side, all on one scale from 0 to 1."""
    weights = _numbers("weights", weights, "heads n_q n_k")
    queries, keys = _labels(weights[0], queries, keys)
    names = names or [f"head {head}" for head in range(len(weights))]
    columns = min(len(weights), 4)
    rows = -(-len(weights) // columns)
    fig, axes = new_figure(
        0.6 + columns * (0.9 + 0.45 * len(keys)),
        0.4 + rows * (1.0 + 0.4 * len(queries)),
        nrows=rows,
        ncols=columns,
        squeeze=False,
    )
    for ax in axes.flat[len(weights) :]:
        ax.set_axis_off()
    for ax, head, name in zip(axes.flat, weights, names, strict=False):
        _draw_table(ax, head, queries, keys, signed=False)
        ax.set_title(name)
    words = [
        f"{name}: {describe_weights(head, queries, keys)}"
        for name, head in zip(names, weights, strict=True)
    ]
    return finish(fig, " ".join(words))


def weight_bars(weights: Float[np.ndarray, " n"], labels: Sequence[str], title: str = "") -> Figure:
    """Show one row of weights as bars that share a length of one."""
    weights = _numbers("weights", weights, "n")
    check(
        len(labels) == len(weights),
        f"weights has shape {weights.shape} and there are {len(labels)} labels; expected one each",
    )
    fig, ax = new_figure(5, 0.7 + 0.42 * len(labels))
    draw_bars(ax, weights, labels)
    ax.set_title(title)
    said = ", ".join(f"{name} {share(w)}" for name, w in zip(labels, weights, strict=True))
    return finish(fig, f"Bars of the weights: {said}.")


def qkv_diagram(
    tables: dict[str, Float[np.ndarray, "rows columns"]], tokens: Sequence[str]
) -> Figure:
    """Show the computation from tokens to output as tables in the order given: X, Q, K, V, S, A, O.

    `tables` maps the letters of the equation to the computed arrays; nothing is computed here.
    """
    tables = {name: _numbers(name, table, "rows columns") for name, table in tables.items()}
    fig = blank_figure(12, 6)
    axes = {name: fig.add_axes((*corner, 0.14, 0.22)) for name, (corner, _) in _QKV_PLACES.items()}
    for name, (_, words) in _QKV_PLACES.items():
        table = tables[name]
        columns = tokens if name in "SA" else [str(i + 1) for i in range(table.shape[1])]
        _draw_table(axes[name], table, tokens, columns, signed=name != "A", size=8.5)
        axes[name].set_title(f"${name}$  {words}")
    for start, end in map(tuple, _QKV_ARROWS):
        fig.add_artist(_arrow_between(axes[start], axes[end]))
    shapes = ", ".join(
        f"{name} {' by '.join(map(str, tables[name].shape))}" for name in _QKV_PLACES
    )
    weights = describe_weights(tables["A"], tokens, tokens)
    return finish(fig, f"From tokens to output: {shapes}. Weights: {weights}")


def describe_weights(
    weights: Float[np.ndarray, "n_q n_k"],
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
) -> str:
    """Say in a sentence for each of the first eight queries where most of its weight lies."""
    weights = _numbers("weights", weights, "n_q n_k")
    queries, keys = _labels(weights, queries, keys)
    sentences = [_row_in_words(q, row, keys) for q, row in zip(queries[:8], weights, strict=False)]
    size = f"Weights of {len(queries)} queries (rows) over {len(keys)} keys (columns)."
    rest = f" {len(queries) - 8} more rows." if len(queries) > 8 else ""
    return " ".join([size, *sentences]) + rest


def draw_bars(ax: Axes, weights: Float[np.ndarray, " n"], labels: Sequence[str]) -> None:
    """Draw horizontal bars with the weight printed at the end of each."""
    places = np.arange(len(labels))
    colours = [COLOURS[i % 4] for i in places]
    ax.barh(places, weights, color=colours, height=0.7)
    for place, weight in zip(places, weights, strict=True):
        ax.text(weight + 0.02, float(place), share(weight), va="center", color=INK)
    ax.set_yticks(places, labels)
    ax.set(xlim=(0, 1.18), ylim=(len(labels) - 0.5, -0.5), xticks=(0, 0.5, 1))
    ax.tick_params(axis="y", length=0)


def _row_in_words(query: str, row: Float[np.ndarray, " n_k"], keys: Sequence[str]) -> str:
    if np.isnan(row).any():
        return f"{query} has NaN among its weights."
    order = np.argsort(-row, kind="stable")[:2]
    if row[order[0]] <= 0:
        return f"{query} looks at nothing."
    most, *second = [f"{keys[j]} ({share(row[j])})" for j in order if row[j] > 0]
    return f"{query} looks most at {most}" + (f", then {second[0]}." if second else ".")


def _numbers(name: str, given: Any, axes: str) -> np.ndarray:
    """Return an array of any library, dtype, device as NumPy's; raise unless it has these axes."""
    if hasattr(given, "detach"):  # a torch tensor: NumPy has no bfloat16
        given = given.detach().cpu().double()
    table, words = np.asarray(given), axes.split()
    check(
        table.ndim == len(words) and table.size > 0,
        f"{name} has shape {table.shape}; expected the axes ({', '.join(words)}), none empty",
    )
    return table


def _labels(
    table: np.ndarray, rows: Sequence[str] | None, columns: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    rows = [str(i + 1) for i in range(table.shape[0])] if rows is None else list(rows)
    columns = [str(j + 1) for j in range(table.shape[1])] if columns is None else list(columns)
    if table.shape != (len(rows), len(columns)):
        raise ValueError(
            f"a table of shape {table.shape} has {len(rows)} row labels and {len(columns)} column"
            " labels; expected one for each row and column"
        )
    return rows, columns


def _draw_table(
    ax: Axes,
    table: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    signed: bool,
    digits: int = 2,
    size: float = 10,
) -> None:
    reach = max(float(np.abs(table).max(initial=0.0)), 1e-12)
    bottom = -reach if signed else 0.0
    top = reach if signed else 1.0
    colours = "PuOr_r" if signed else "Blues"
    image = ax.imshow(table, cmap=colours, vmin=bottom, vmax=top, aspect="auto")
    ax.set_xticks(range(len(columns)), columns, rotation=90 if max(map(len, columns)) > 6 else 0)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if max(table.shape) > PRINTED:
        return
    for (i, j), number in np.ndenumerate(table):
        look: dict[str, Any] = {"color": _readable_on(image.to_rgba(number)), "fontsize": size}
        ax.text(j, i, f"{number:.{digits}f}", ha="center", va="center", **look)


def _readable_on(colour: Any) -> str:
    """White or black, whichever has the larger contrast on this colour (WCAG luminance)."""
    linear = (np.asarray(colour[:3]) + 0.055) ** 2.4 / 1.055**2.4
    return "white" if linear @ (0.2126, 0.7152, 0.0722) < 0.179 else "black"


_QKV_PLACES = {
    "X": ((0.02, 0.38), "tokens"),
    "Q": ((0.23, 0.7), "queries"),
    "K": ((0.23, 0.38), "keys"),
    "V": ((0.23, 0.06), "values"),
    "S": ((0.44, 0.54), "scaled scores"),
    "A": ((0.65, 0.54), "weights"),
    "O": ((0.86, 0.3), "output"),
}
_QKV_ARROWS = ("XQ", "XK", "XV", "QS", "KS", "SA", "AO", "VO")


def _arrow_between(start: Axes, end: Axes) -> FancyArrowPatch:
    box, goal = start.get_position(), end.get_position()
    tail = (box.x1 + 0.006, (box.y0 + box.y1) / 2)
    head = (goal.x0 - 0.03, (goal.y0 + goal.y1) / 2)
    return FancyArrowPatch(tail, head, arrowstyle="-|>", mutation_scale=14, color=MUTED, lw=1.4)
