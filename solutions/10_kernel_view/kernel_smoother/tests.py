import math

import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden

HALF = 1 / math.sqrt(2 * math.log(2))  # one unit of squared distance is a factor of two
POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 1.0]])
VALUES = np.array([[1.0, 1.0, 8.0], [9.0, 1.0, 8.0], [9.0, 7.0, 8.0], [1.0, 7.0, 16.0]])


@core
def test_written_out(kernel_smoother, arrays):
    r"""Four observations with kernel values 1, 1/2, 1/4, 1/4 give the average that can be done by hand, and others agree with a loop

    $\hat f(x) = \sum_j \kappa_j Y_j / \sum_j \kappa_j$ with $\kappa_j = e^{-|x - X_j|^2/(2h^2)}$.
    """
    hint = "what are the four squared distances, and how far is a factor of two?"
    got = kernel_smoother(np.zeros((1, 2)), POINTS, VALUES, HALF)
    expect_close(got=got, expected=[[4.0, 2.5, 9.0]], hint=hint)
    for m, n, d, p in ((3, 5, 2, 3), (2, 7, 1, 1)):
        data = arrays.normal(m, d), arrays.normal(n, d), arrays.normal(n, p), 0.6
        expect_close(got=kernel_smoother(*data), expected=arrays.oracle(*data), hint=hint)


def test_constants_are_reproduced(kernel_smoother, arrays):
    r"""If the same was observed everywhere, the same is estimated everywhere

    $Y_j = c$ for all $j$ gives $\hat f = c$.
    """
    c = arrays.normal(1, 3)
    got = kernel_smoother(arrays.normal(4, 2), arrays.normal(5, 2), np.repeat(c, 5, axis=0), 0.7)
    expect_close(
        got=got, expected=np.repeat(c, 4, axis=0), hint="what do the weights of one point sum to?"
    )


def test_units_cancel(kernel_smoother, arrays):
    r"""Points and bandwidth measured in metres give what they give in kilometres

    $(x, X, h)$ and $(8x, 8X, 8h)$ have the same estimate.
    """
    x, X, Y = arrays.normal(3, 2), arrays.normal(5, 2), arrays.normal(5, 2)
    expect_close(
        got=kernel_smoother(8 * x, 8 * X, Y, 8 * 0.6),
        expected=arrays.oracle(x, X, Y, 0.6),
        hint="which unit does your exponent have?",
    )


def test_each_question_alone(kernel_smoother, arrays):
    r"""One new point's estimate does not depend on the other new points

    $\hat f(x_i)$ is the same whether $x_i$ is asked for alone or with others.
    """
    x, X, Y = arrays.normal(4, 2), arrays.normal(5, 2), arrays.normal(5, 2)
    alone = np.concatenate([kernel_smoother(x[i : i + 1], X, Y, 0.7) for i in range(4)])
    together = kernel_smoother(x, X, Y, 0.7)
    expect_close(
        got=together, expected=alone, hint="over which axis do you divide by a sum, and of what?"
    )


@hidden
def test_far_away_the_nearest_answers(kernel_smoother, arrays):
    r"""Far from all data the nearest observation answers, and nothing is nan

    $\hat f(x) \to Y_{j^*}$ with $j^* = \arg\min_j |x - X_j|$ as $x$ moves away.
    """
    X = np.stack([arrays.permutation(6) + 0.0, np.zeros(6)], axis=1)
    x = np.array([[60.0, 1.0], [-60.0, 0.0], [400.0, 2.0]])
    Y = arrays.normal(6, 2)
    nearest = [np.argmax(X[:, 0]), np.argmin(X[:, 0]), np.argmax(X[:, 0])]
    expect_close(
        got=kernel_smoother(x, X, Y, 0.5),
        expected=Y[nearest],
        hint="what are all the exponentials there, and what may be taken from every exponent?",
    )


def on_the_island():
    squared = ((island.on_the_dial(0) - island.KEYS) ** 2).sum(axis=-1)
    kernel = np.exp(-squared / (2 * HALF**2))
    return f"hand at 0 degrees, bandwidth {HALF:.4f}: squared distances on the dial {squared.round(3)}, kernel {kernel.round(4)}, shares {(kernel / kernel.sum()).round(4)}"
