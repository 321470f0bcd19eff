"""Figures of the course; each function returns a matplotlib figure whose `alt` says what it shows.

Drawing grammar: query = arrow, keys and values = the four markers with the letter, answer = star,
weight = area, width and printed number, hidden = hollow and crossed out.
"""

from course_lib.plots._heatmaps import (
    describe_weights,
    head_grid,
    qkv_diagram,
    signed_heatmap,
    weight_bars,
    weight_heatmap,
)
from course_lib.plots._island import answer_path, dial_and_map, draw_dial, draw_map
from course_lib.plots._style import ACCENT, COLOURS, INK, MUTED, new_figure, share, style

__all__ = [
    "ACCENT",
    "COLOURS",
    "INK",
    "MUTED",
    "answer_path",
    "describe_weights",
    "dial_and_map",
    "draw_dial",
    "draw_map",
    "head_grid",
    "new_figure",
    "qkv_diagram",
    "share",
    "signed_heatmap",
    "style",
    "weight_bars",
    "weight_heatmap",
]
