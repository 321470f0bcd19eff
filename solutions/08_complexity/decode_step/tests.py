import numpy as np

from course_lib.checking import core, expect_close, expect_true, expect_unchanged, hidden


def step(decode_step, q, k, v, cache):
    """One call, with the kind of the answer looked at before anything else."""
    got = decode_step(q, k, v, cache)
    pairs = isinstance(got, tuple) and len(got) == 2 and isinstance(got[1], tuple | list)
    expect_true(
        pairs and len(got[1]) == 2 and all(isinstance(a, np.ndarray) for a in (got[0], *got[1])),
        evidence="did not get an output and a pair of arrays",
        hint="what has to be returned so that the next word can be written?",
    )
    return got[0], tuple(np.array(array) for array in got[1])


def a_text(arrays, n, d_k, d_v):
    return arrays.normal(n, d_k), arrays.normal(n, d_k), arrays.normal(n, d_v)


def whole(Q, K, V):
    """Causal attention over a whole text, word by word."""
    outputs = []
    for t in range(1, len(Q) + 1):
        weights = np.exp(K[:t] @ Q[t - 1] / np.sqrt(Q.shape[1]))
        outputs.append(weights @ V[:t] / weights.sum())
    return np.array(outputs)


@core
def test_steps_equal_the_whole(decode_step, arrays):
    r"""Word by word gives the same as causal attention over the whole text

    $o_t$ is row $t$ of the full causal answer, for every $t$.
    """
    hint = "which keys and values has the new word in front of it, and by what are scores divided?"
    for n, d_k, d_v in ((5, 3, 7), (7, 2, 2)):
        Q, K, V = a_text(arrays, n, d_k, d_v)
        expected, cache = whole(Q, K, V), None
        for t in range(n):
            output, cache = step(decode_step, Q[t], K[t], V[t], cache)
            expect_close(got=output, expected=expected[t], hint=hint)


def test_the_first_sees_itself(decode_step, arrays):
    r"""The first word sees itself: its output is its value

    $\alpha_{11} = 1$.
    """
    q, k, v = arrays.normal(3), arrays.normal(3), arrays.normal(5)
    output, _ = step(decode_step, q, k, v, None)
    expect_close(got=output, expected=v, hint="is a word among those that it may look at?")


def test_the_cache_grows_by_one(decode_step, arrays):
    r"""After t words the cache holds their t keys and t values, oldest first, and nothing else

    Shapes $(t, d_k)$ and $(t, d_v)$.
    """
    Q, K, V = a_text(arrays, 5, 3, 2)
    cache = None
    for t in range(5):
        _, cache = step(decode_step, Q[t], K[t], V[t], cache)
        hint = "which two things of this word does every later word need?"
        expect_close(got=cache[0], expected=K[: t + 1], hint=hint)
        expect_close(got=cache[1], expected=V[: t + 1], hint=hint)


def test_loud_words_stay_finite(decode_step, arrays):
    r"""Scores too large for an exponential do no harm

    Scores of 2000, 1000 and $-2000$: the loudest key has all the weight.
    """
    q = arrays.rounded([20.0, 0.0, 0.0, 0.0])
    K = arrays.rounded(np.outer([-200.0, 200.0, 100.0], [1.0, 0.0, 0.0, 0.0]))
    V = arrays.normal(3, 3)
    cache = None
    for t in range(3):
        output, cache = step(decode_step, q, K[t], V[t], cache)
        hint = "which number may be taken from every score without changing a weight?"
        expect_close(got=output, expected=V[min(t, 1)], hint=hint)


@hidden
def test_a_cache_can_be_branched(decode_step, arrays):
    r"""Two continuations of one cache do not disturb each other

    The second text gives the same as if the first had never been written.
    """
    hint = "where, besides in the cache it is given, does your function remember anything?"
    Q, K, V = a_text(arrays, 5, 3, 2)
    cache = None
    for t in range(2):
        _, cache = step(decode_step, Q[t], K[t], V[t], cache)
    for branch in (2, 3, 4):
        output, _ = step(decode_step, Q[branch], K[branch], V[branch], cache)
        expect_unchanged(decode_step, hint=hint)
        rows = [0, 1, branch]
        expect_close(got=output, expected=whole(Q[rows], K[rows], V[rows])[-1], hint=hint)


def on_the_island():
    return "Ada, Bo, Cem and Dia report in this order: the cache grows from 4 to 16 numbers, a key and a value for each"
