"""Chapter 3, softmax: what has a closed form. C-numbers are claims."""

import math

import numpy as np
import pytest
import torch

from course_lib.island import scores
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close, assert_digits


def test_softmax_of_one_two_three():
    r"""C064, C070: (0.0900, 0.2447, 0.6652); ten times sharper and ten times flatter."""
    x = np.array([1.0, 2.0, 3.0])
    assert_digits(lib.softmax(x), [0.0900, 0.2447, 0.6652], 4)
    assert_digits(lib.softmax_at(x, 0.1)[2], 0.99995, 5)
    assert_digits(lib.softmax_at(x, 10.0), [0.3006, 0.3322, 0.3672], 4)


@pytest.mark.parametrize(
    ("dtype", "zero_from", "one_from"),
    [
        (torch.float64, 745.2, 36.8),
        (torch.float32, 104.0, 16.7),
        (torch.float16, 17.4, 8.4),
        (torch.bfloat16, 92.8, 6.3),
    ],
)
def test_where_weights_reach_zero_and_one(dtype, zero_from, one_from):
    r"""C066: gaps at which the smaller of two weights is exactly 0, the larger exactly 1."""
    gaps = torch.arange(0.0, 800.0, 0.125, dtype=torch.float64)
    pairs = torch.stack([torch.zeros_like(gaps), -gaps], -1).to(dtype)
    large, small = lib.softmax(pairs).unbind(-1)
    gaps = pairs[:, 1].double().neg()
    assert abs(float(gaps[large == 1].min()) - one_from) <= 0.25
    assert abs(float(gaps[small == 0].min()) - zero_from) <= 0.25


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_softmax_does_not_overflow(dtype):
    r"""C068: $\mathrm{softmax}(x + c) = \mathrm{softmax}(x)$ beyond the range of exp."""
    x = np.array([[0.0, -1.0], [1000.0, 999.0], [-1000.0, -1001.0]], dtype)
    assert_close(lib.softmax(x), np.tile(lib.softmax(x[0]), (3, 1)))
    assert_close(lib.log_softmax(x), np.tile(lib.log_softmax(x[0]), (3, 1)))
    assert_close(lib.entropy_of_scores(x), np.tile(lib.entropy_of_scores(x[0]), 3))


def test_both_temperature_limits_share_among_ties():
    r"""C028: $t \to 0$ is uniform on the largest, $t \to \infty$ on all that is visible."""
    x = np.array([1.0, 1.0, 0.0, -np.inf])
    assert_close(lib.softmax_at(x, 0.0), np.array([1 / 2, 1 / 2, 0, 0]))
    assert_close(lib.softmax_at(x, math.inf), np.array([1 / 3, 1 / 3, 1 / 3, 0]))
    for tiny in (5e-324, 1e-308, 1e-200):
        assert_close(lib.softmax_at(x, tiny), np.array([1 / 2, 1 / 2, 0, 0]))
        assert_close(lib.softmax_at(x.astype(np.float32), tiny), np.array([0.5, 0.5, 0, 0]))
    assert_close(lib.softmax_at(x.astype(np.float32), 1e300), np.array([1, 1, 1, 0]) / 3, "float32")
    assert_close(lib.softmax_at(np.array([1e10, 0.0]), 1e-300), np.array([1.0, 0.0]))
    heights = [lib.softmax_at(np.array([2.0, 1.0, 0.5]), t).max() for t in (10.0, 1.0, 0.1)]
    assert_digits(heights, [0.362, 0.629, 1.000], 3)


def test_entropy_runs_from_certain_to_uniform():
    r"""C069: $H = \ln n$ for uniform weights, 0 for one choice, never below."""
    assert_close(lib.entropy(np.full(8, 1 / 8)), np.log(8))
    certain = lib.entropy_of_scores(np.array([1e4, 0.0, -1e4]))
    assert certain == 0 and not np.signbit(certain)
    assert_close(lib.entropy(np.array([0.0, 1.0])), np.array(0.0))
    assert_close(lib.entropy_of_scores(np.array([3.0, -np.inf, 3.0])), np.log(2))
    assert_close(lib.entropy_of_scores(scores()) / math.log(2), np.array(7 / 4))
    assert_close(lib.entropy_of_scores(scores() + 1e4), np.array(7 / 4 * math.log(2)), "float32")


def test_the_jacobian_of_the_island():
    r"""$64 J$ in whole numbers; C153: rows of sum 0, $|J|_2 \le 1/2$."""
    J = lib.softmax_jacobian(lib.softmax(scores()))
    assert_close(64 * J, [[16, -8, -4, -4], [-8, 12, -2, -2], [-4, -2, 7, -1], [-4, -2, -1, 7]])
    assert_digits(np.linalg.eigvalsh(J), [0, 0.125, 0.1759, 0.3554], 4)
    half = lib.softmax_jacobian(np.array([0.5, 0.5]))
    assert_close(np.linalg.norm(half, 2), np.array(1 / 2))
