"""Figures show the numbers they were given, in print and in words."""

import math
import re
import warnings

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from course_lib import plots, softmax
from course_lib.island import KEYS, NAMES, PLACES, RADIOS, SHARPNESS, VALUES, cards, hand, scores

A = softmax(np.array([scores(radio.angle) for radio in RADIOS]))


def printed(fig) -> list[str]:
    """All words and numbers of a figure; drawing it must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fig.draw_without_rendering()
    return [text.get_text() for text in fig.findobj(Text) if text.get_text()]


def test_a_heatmap_prints_its_numbers_and_names_both_axes():
    """Row = query, column = key, two decimals."""
    fig = plots.weight_heatmap(A[:3], ["q1", "q2", "q3"], NAMES)
    words = printed(fig)
    assert {f"{weight:.2f}" for weight in A[:3].ravel()} <= set(words)
    assert {"q1", "q2", "q3", *NAMES, "query", "key"} <= set(words)
    np.testing.assert_array_equal(fig.axes[0].images[0].get_array(), A[:3])


def test_a_large_heatmap_keeps_its_numbers_to_itself():
    words = printed(plots.weight_heatmap(np.full((30, 30), 1 / 30)))
    assert "0.03" not in words and "30" in words


def test_numbers_in_cells_can_be_read():
    """A contrast of at least 4.5 on every shade of both colour maps."""
    shades = np.linspace(0, 1, 16)
    for table in (np.stack([shades] * 2), np.stack([shades, -shades])):
        signed = table.min() < 0
        fig = plots.signed_heatmap(table) if signed else plots.weight_heatmap(table)
        image = fig.axes[0].images[0]
        for text in fig.axes[0].texts:
            j, i = text.get_position()
            shade = image.to_rgba(table[i, j])[:3]
            assert contrast(to_rgb(text.get_color()), shade) >= 4.5


def test_lines_and_labels_stand_out_from_paper():
    """A contrast of at least 4.5 on white for text, of all four people too."""
    for colour in (plots.INK, plots.MUTED, *plots.COLOURS):
        assert contrast(to_rgb(colour), (1, 1, 1)) >= 4.5
    assert len(plots.COLOURS) == len(set(plots.COLOURS)) == len(NAMES)


def contrast(one, other) -> float:
    """WCAG 2: (lighter + 0.05) / (darker + 0.05) of the relative luminances."""

    def luminance(rgb):
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
        return float(np.dot(parts, (0.2126, 0.7152, 0.0722)))

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_signs_are_printed():
    """64 J of the island; colour only repeats the sign."""
    J = np.array([[16.0, -8.0], [-8.0, 12.0]])
    fig = plots.signed_heatmap(J, digits=0)
    assert {"16", "-8", "12"} <= set(printed(fig))
    assert fig.alt == "Table with columns 1, 2. 1: 16, -8; 2: -8, 12."


def test_every_head_is_drawn_and_described():
    heads = np.stack([A, np.eye(4), np.full((4, 4), 0.25), A, A])
    fig = plots.head_grid(heads, NAMES, NAMES)
    drawn = [ax for ax in fig.axes if ax.images]
    assert len(drawn) == 5
    for ax, head in zip(drawn, heads, strict=True):
        np.testing.assert_array_equal(ax.images[0].get_array(), head)
    printed(fig)
    assert all(f"head {h}: " in fig.alt for h in range(5))


def test_the_diagram_shows_the_computed_tables():
    """Claim C193: each plotted array is the one computed."""
    Q = np.array([hand(radio.angle) for radio in RADIOS])
    tables = {"X": cards(), "Q": Q, "K": KEYS, "V": VALUES, "S": Q @ KEYS.T / math.sqrt(2), "A": A}
    tables["O"] = A @ VALUES
    fig = plots.qkv_diagram(tables, [name[0] for name in NAMES])
    words = printed(fig)
    for name, ax in zip(tables, fig.axes, strict=True):
        np.testing.assert_array_equal(ax.images[0].get_array(), tables[name])
        assert f"${name}$" in ax.get_title()
    assert "7.83" in words
    assert "X 4 by 4" in fig.alt and "A looks most at A (1/2), then B (1/4)." in fig.alt


def test_words_say_where_the_weight_lies():
    """Two keys at most, nothing where nothing is seen, ties in the order of the keys."""
    weights = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.3, 0.7]])
    words = plots.describe_weights(weights, ["a", "b", "c", "d"], ["x", "y"])
    assert words == (
        "Weights of 4 queries (rows) over 2 keys (columns). a looks at nothing."
        " b looks most at x (1). c looks most at x (1/2), then y (1/2)."
        " d looks most at y (7/10), then x (3/10)."
    )
    many = plots.describe_weights(np.eye(20))
    assert "8 looks most at 8" in many and "9 looks" not in many and "12 more rows" in many


def test_weights_of_torch_are_drawn_as_those_of_numpy():
    """Also while autograd watches, also in bfloat16, which NumPy lacks; and lists."""
    expected = plots.weight_heatmap(np.eye(2)).alt
    for weights in (torch.eye(2, requires_grad=True), torch.eye(2).bfloat16(), [[1, 0], [0, 1]]):
        fig = plots.weight_heatmap(weights)
        np.testing.assert_array_equal(fig.axes[0].images[0].get_array(), np.eye(2))
        assert fig.alt == plots.describe_weights(weights) == expected
        printed(plots.head_grid([weights]) if isinstance(weights, list) else fig)


def test_nan_among_weights_is_said():
    fig = plots.weight_heatmap(np.array([[np.nan, 1.0], [-1.0, -2.0]]), ["a", "b"])
    assert "a has NaN among its weights. b looks at nothing." in fig.alt
    assert "nan" in printed(fig)


@pytest.mark.parametrize(
    ("draw", "shape"),
    [
        (plots.weight_heatmap, (3,)),
        (plots.weight_heatmap, (0, 3)),
        (plots.signed_heatmap, (3, 0)),
        (plots.describe_weights, (2, 3, 3)),
        (plots.head_grid, (3, 3)),
        (lambda weights: plots.weight_bars(weights, "ab"), (2, 2)),
        (lambda weights: plots.weight_bars(weights, "ab"), (3,)),
    ],
)
def test_figures_refuse_what_is_no_table(draw, shape):
    with pytest.raises(ValueError, match=f"has shape {re.escape(str(shape))}.*expected"):
        draw(np.ones(shape))


def test_labels_must_fit_the_table():
    with pytest.raises(ValueError, match=r"shape \(4, 4\) has 2 row labels"):
        plots.weight_heatmap(A, ["a", "b"], NAMES)


@pytest.mark.parametrize(
    ("weight", "said"),
    [(0.125, "1/8"), (1 / 3, "1/3"), (1.0, "1"), (0.0, "0"), (0.2078, "0.21"), (1e-4, "<0.01")],
)
def test_weights_are_said_as_fractions_where_they_are(weight, said):
    assert plots.share(weight) == said


def test_the_dial_and_the_map_print_every_share():
    """(1/2, 1/4, 1/8, 1/8) on the dial and on the map, the answer (4, 2.5)."""
    fig = plots.dial_and_map(orbits=(0.7, SHARPNESS))
    words = printed(fig)
    for name, place, said in zip(NAMES, PLACES, ("1/2", "1/4", "1/8", "1/8"), strict=True):
        assert f"{name}\n{said}" in words and f"{name}, {place}: {said}" in words
        assert words.count(name[0]) == 2
    assert "(4, 2.5)" in words and "β = 2 ln 2" in words
    assert "star at (4.00, 2.50)" in fig.alt and "Ada 1/2" in fig.alt


def test_marker_area_and_spoke_width_follow_the_weight():
    """Ada's marker exceeds Bo's by 900 times the difference; spokes are 14 times the weight."""
    fig = plots.dial_and_map()
    dial, chart = fig.axes
    for ax in (dial, chart):
        areas = [c.get_sizes()[0] for c in ax.collections if len(c.get_sizes())][:4]
        assert areas[0] - areas[1] == pytest.approx(900 / 4)
        assert areas[2] == areas[3]
    widths = [line.get_linewidth() for line in chart.lines[:4]]
    assert widths == pytest.approx([7, 3.5, 1.75, 1.75])


def test_the_hidden_are_hollow_and_crossed_out():
    """Bo switched off: no filled square, a cross, answer (7/3, 3)."""
    fig = plots.dial_and_map(hidden=("Bo",))
    words = printed(fig)
    assert "B" not in words and "Bo\n0" in words and "(2.33, 3)" in words
    assert "Switched off: Bo." in fig.alt
    hollow = [c for c in fig.axes[0].collections if not len(c.get_facecolor())]
    assert hollow


def test_all_hidden_is_an_answer_in_the_sea():
    assert "star at (0.00, 0.00)" in plots.dial_and_map(hidden=NAMES).alt


def test_the_path_stops_where_it_says():
    """From the centre at sharpness 0 to the harbour at infinity; entropy falls from 2 bits to 0."""
    fig = plots.answer_path()
    assert "sharpness 0: answer (5.00, 4.00), entropy 2.00 bits" in fig.alt
    assert "sharpness 2 ln 2: answer (4.00, 2.50), entropy 1.75 bits" in fig.alt
    assert "sharpness ∞: answer (1.00, 1.00), entropy 0.00 bits" in fig.alt
    bits = [float(found) for found in re.findall(r"entropy ([\d.]+) bits", fig.alt)]
    assert bits == sorted(bits, reverse=True) and len(bits) == 5
    printed(fig)


def test_figures_are_shown_once_and_are_transparent():
    """Closed for pyplot, so that a notebook shows the value of the cell only."""
    import matplotlib.pyplot as plt

    fig = plots.weight_bars(A[0], NAMES)
    assert not plt.get_fignums()
    assert fig.get_facecolor()[3] == 0 and fig.axes[0].get_facecolor()[3] == 0
    assert fig.alt == "Bars of the weights: Ada 1/2, Bo 1/4, Cem 1/8, Dia 1/8."


def test_a_dark_notebook_puts_light_paper_under_figures():
    """JupyterLab asks matplotlib's backend, which looks at the colours; the site has its own."""
    from matplotlib_inline.backend_inline import _fetch_figure_metadata as wishes

    for fig in (plots.weight_heatmap(A), plots.weight_bars(A[0], NAMES), plots.dial_and_map()):
        assert wishes(fig) == {"needs_background": "light"}
