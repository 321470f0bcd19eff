"""Whatever the function under test does, the call ends in an answer or in a failure in words."""

import math

import numpy as np
import pytest
import torch

from course_lib import checking
from course_lib.checking.arrays import Arrays
from course_lib.checking.call import Call
from course_lib.checking.findings import AuthorError, Cause, Failure, FailureKind
from course_lib.checking.setting import Setting
from course_lib.checking.terms import Terms
from course_lib.checking.verdicts import run_test
from course_lib.checking.withheld import Withheld, withheld

NUMPY = Setting("numpy", "float64")
TORCH = Setting("torch", "float32")
X = np.array([[1.0, 2.0, 3.0], [0.5, 0.25, 4.0]])


def fails(function, *args, run=NUMPY, call=None):
    call = call or Call(function, run)
    with pytest.raises(Failure) as caught:
        call(*(args or (X,)))
    assert call.log.results[-1] is caught.value
    return caught.value.evidence


def cause_of(function, *args, run=NUMPY):
    with pytest.raises(Failure) as caught:
        Call(function, run)(*(args or (X,)))
    return caught.value.cause


@pytest.mark.parametrize(
    ("run", "kind", "dtype"),
    [
        (Setting("numpy", "float64"), np.ndarray, np.float64),
        (Setting("numpy", "float32"), np.ndarray, np.float32),
        (Setting("torch", "float32"), torch.Tensor, torch.float32),
        (Setting("torch", "bfloat16"), torch.Tensor, torch.bfloat16),
    ],
    ids=str,
)
def test_arguments_arrive_in_the_library_and_dtype_of_the_run(run, kind, dtype):
    def look(x, mask, *, index, name):
        assert isinstance(x, kind)
        assert x.dtype == dtype
        assert isinstance(mask["may_attend"], kind)
        assert str(mask["may_attend"].dtype).endswith("bool")
        assert str(index[0].dtype).endswith("int64")
        assert name == "row"
        return x * 2

    mask = {"may_attend": np.array([True, False])}
    got = Call(look, run)(X, mask, index=(np.array([1]),), name="row")
    assert got.dtype == np.float64
    assert got.dtype_there == run.dtype
    np.testing.assert_array_equal(got, 2 * X)


@pytest.mark.parametrize("run", [NUMPY, TORCH], ids=str)
def test_a_function_never_reaches_the_arrays_of_the_test(run):
    def damage(x, rows):
        x[0] = 99.0
        rows[0][0] = 99.0
        return x

    x, kept = X.copy(), X.copy()
    call = Call(damage, run)
    call(x, [kept])
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(kept, X)
    assert call.changed == ["argument 1", "argument 2"]


@pytest.mark.parametrize("run", [NUMPY, TORCH], ids=str)
@pytest.mark.parametrize(
    ("before", "after"),
    [(1.0, 2.0), (np.nan, 0.0), (-np.inf, -3.4028234663852886e38), (0.0, np.nan), (True, False)],
)
def test_a_single_changed_entry_is_seen(run, before, after):
    def set_last(x):
        x[-1] = after
        return x

    call = Call(set_last, run)
    call(np.array([before, before]))
    assert call.changed == ["argument 1"]
    call(np.array([before, after]))
    assert call.changed == []


def test_a_changed_shape_is_seen():
    call = Call(lambda x: x.resize_(2), TORCH)
    call(np.zeros(3))
    assert call.changed == ["argument 1"]


def test_what_is_printed_is_counted_and_set_aside(capfd):
    import sys

    def loud(x):
        print("x" * 10**6)
        print("again", file=sys.stderr)
        return x

    call = Call(loud, NUMPY)
    call(X)
    assert call.log.printed == 10**6 + 1 + 6
    assert capfd.readouterr() == ("", "")


def test_warnings_of_the_function_do_not_reach_the_test():
    import warnings

    def warn(x):
        warnings.warn("look", stacklevel=1)
        return np.log(x - x) + torch.tensor([0.0]).numpy()

    assert (Call(warn, NUMPY)(X) == -np.inf).all()


def three_lines(x):
    y = x + 1
    return undefined(y)  # noqa: F821


def deep(x):
    return max((three_lines(row) for row in x), key=len)


def test_an_exception_is_told_with_the_line_of_the_answer():
    line = three_lines.__code__.co_firstlineno + 2
    assert fails(three_lines) == (
        f"it raised NameError: name 'undefined' is not defined, line {line}: "
        "return undefined(y)  # noqa: F821"
    )
    assert f", line {line}: return undefined(y)" in fails(deep), "the innermost line of the answer"
    for function in (three_lines, deep):
        assert cause_of(function) == Cause(FailureKind.RAISED, "NameError", line)
    assert cause_of(np.linalg.inv) == Cause(FailureKind.RAISED, "LinAlgError")
    assert (
        fails(np.linalg.inv)
        == "it raised LinAlgError: Last 2 dimensions of the array must be square"
    )


@pytest.mark.parametrize(
    ("function", "run", "exception"),
    [
        (lambda x: np.ones(10**14), NUMPY, "MemoryError"),
        (lambda x: np.ones((2**40, 2**40)), NUMPY, "ValueError"),
        (lambda x: torch.ones(10**14), TORCH, "RuntimeError"),
    ],
)
def test_memory_that_cannot_be_had_is_told_from_other_exceptions(function, run, exception):
    cause = cause_of(function, run=run)
    assert (cause.kind, cause.exception) == (FailureKind.OUT_OF_MEMORY, exception)


def test_a_long_exception_is_cut_and_stays_on_one_line():
    def shout(x):
        raise ValueError("a\n" * 10_000)

    said = fails(shout)
    assert len(said) < 400
    assert "\n" not in said


@pytest.mark.parametrize(
    "error", [SystemExit(3), MemoryError(), RecursionError(), AssertionError()]
)
def test_leaving_the_program_is_an_exception_like_any_other(error):
    def leave(x):
        raise error

    assert fails(leave).startswith(f"it raised {type(error).__name__}")


def yields(x):
    yield x


@pytest.mark.parametrize(
    ("function", "run", "words"),
    [
        (yields, NUMPY, "a generator: is there a yield where a return was meant?"),
        (lambda x: np.ma.masked_array(x), NUMPY, "a masked array"),
        (
            lambda x: torch.tensor(x),
            NUMPY,
            'a torch tensor, although the answer says library = "numpy"',
        ),
        (lambda x: x.numpy(), TORCH, 'a NumPy array, although the answer says library = "torch"'),
        (lambda x: x * 1j, NUMPY, "an array of dtype complex128"),
        (lambda x: x * 1j, TORCH, "a tensor of dtype complex64"),
        (lambda x: x.to_sparse(), TORCH, "a tensor that is not dense"),
        (lambda x: x.to("meta"), TORCH, "a tensor without values, on the device meta"),
        (lambda x: x.astype(object), NUMPY, "an array of dtype object"),
        (lambda x: x.astype(str), NUMPY, "an array of dtype <U32"),
        (lambda x: [x, {"a": {1, 2}}], NUMPY, "a set"),
        (lambda x: 1j, NUMPY, "a complex"),
    ],
)
def test_what_no_test_can_read_is_refused_in_words(function, run, words):
    assert fails(function, run=run) == f"it returned {words}"
    cause = cause_of(function, run=run)
    assert cause.kind is FailureKind.UNUSABLE and words.startswith(cause.detail)


@pytest.mark.parametrize(
    ("function", "run", "expected"),
    [
        (lambda x: torch.nn.Parameter(x), TORCH, X),
        (lambda x: x.clone().requires_grad_(), TORCH, X),
        (lambda x: x.max(-1), TORCH, (X.max(-1), X.argmax(-1))),
        (lambda x: x.shape, TORCH, (2, 3)),
        (lambda x: x.T, TORCH, X.T),
        (lambda x: -x, Setting("torch", "bfloat16"), -X),
        (lambda x: (x > 1, x.argmax()), TORCH, (X > 1, 5)),
        (lambda x: x.max(), NUMPY, 4.0),
        (lambda x: np.float32(0.5), NUMPY, 0.5),
        (lambda x: x.sum(dtype=np.longdouble), NUMPY, 10.75),
        (lambda x: len(x), NUMPY, 2),
        (lambda x: True, NUMPY, True),
        (lambda x: math.inf, NUMPY, math.inf),
        (lambda x: {"rows": [x, x]}, NUMPY, {"rows": [X, X]}),
        (lambda x: None, NUMPY, None),
        (lambda x: "Ada", NUMPY, "Ada"),
        (lambda x: x.astype(np.float16), NUMPY, X),
        (lambda x: np.matrix(x), NUMPY, X),
    ],
)
def test_what_a_test_can_read_comes_back_as_float64_arrays(function, run, expected):
    def same(a, b):
        if isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key]) for key in b)
        if isinstance(b, (list, tuple)):
            return len(a) == len(b) and all(map(same, a, b))
        if b is None or isinstance(b, str):
            return a == b
        return a.dtype in (np.float64, np.int64, np.bool_) and np.array_equal(a, b)

    assert same(Call(function, run)(X), expected)


def test_the_dtype_of_the_answer_is_remembered():
    assert Call(lambda x: x.astype(np.float32), NUMPY)(X).dtype_there == "float32"
    assert Call(lambda x: x.double(), TORCH)(X).dtype_there == "float64"
    assert Call(lambda x: 1.5, NUMPY)(X).dtype_there == "a Python float"


def test_an_argument_that_the_dtype_cannot_hold_is_the_authors_fault():
    with pytest.raises(AuthorError, match=r"not representable in float32.*arrays.rounded"):
        Call(abs, Setting("numpy", "float32"))(np.array([0.1]))


@pytest.mark.parametrize(
    ("function", "run"),
    [
        (lambda p: np.outer(p, p).sum(0), NUMPY),
        (lambda p: torch.outer(p, p).sum(0), TORCH),
        (lambda p: (p[:, None] * p[None]).sum(0), TORCH),
    ],
)
def test_too_much_memory_is_refused(function, run):
    p = np.ones(1_009)
    call = Call(function, run)
    np.testing.assert_array_equal(call(p), np.full(1_009, 1_009.0))
    with pytest.raises(Failure, match=r"needed [\d.]+ MiB, allowed 0.0385 MiB") as caught:
        call.within(40 * 1_009, hint="which array?")(p)
    assert caught.value.hint == "which array?"
    assert caught.value.cause.kind is FailureKind.OVER_MEMORY


@pytest.mark.parametrize(
    ("function", "run"),
    [(lambda p: p - p.sum(), NUMPY), (lambda p: p - p.sum(), TORCH)],
)
def test_little_memory_is_enough_for_a_frugal_answer(function, run):
    p = np.ones(1_009)
    call = Call(function, run)
    assert call.within(40 * 1_009, hint="?")(p).shape == p.shape
    assert len(call.log.results) == 1, "one log for all calls of a test"


def test_an_error_inside_a_watched_call_is_told_as_usual():
    call = Call(three_lines, NUMPY).within(10**6, hint="?")
    assert "it raised NameError" in fails(None, call=call)


NAMES = (
    "torch.softmax",
    "torch.Tensor.softmax",
    "torch.nn.functional.softmax",
    "course_lib.softmax",
)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.softmax(x, -1),
        lambda x: x.softmax(-1),
        lambda x: torch.nn.functional.softmax(x, -1),
        lambda x: __import__("course_lib").softmax(x),
    ],
)
def test_a_withheld_function_refuses_while_it_is_checked_and_only_then(function):
    expected = Call(function, TORCH)(X)
    said = fails(None, call=Call(function, TORCH, Terms(NAMES)))
    assert "softmax is what this exercise asks you to write" in said
    np.testing.assert_array_equal(Call(function, TORCH)(X), expected)


def test_withheld_names_are_put_back_after_an_exception():
    import course_lib

    before = [torch.softmax, torch.Tensor.softmax, torch.nn.functional.softmax, course_lib.softmax]
    inherited = "softmax" in vars(torch.Tensor)

    def stumble():
        with withheld(NAMES):
            assert torch.softmax is not before[0]
            raise KeyError

    with pytest.raises(KeyError):
        stumble()
    after = [torch.softmax, torch.Tensor.softmax, torch.nn.functional.softmax, course_lib.softmax]
    assert all(a is b for a, b in zip(before, after, strict=True))
    assert ("softmax" in vars(torch.Tensor)) == inherited


def test_a_name_that_does_not_exist_withholds_nothing():
    names = ("no_such_module.softmax", "torch.no_such_name", "torch.no.such", "numpy.exp")
    with withheld(names), pytest.raises(Withheld, match="numpy.exp is what"):
        np.exp(1)
    assert np.exp(0) == 1


def test_inputs_are_the_same_for_a_seed_and_a_test_and_else_fresh():
    def draw(seed=0, test="test_a", dtype="float64"):
        arrays = Arrays(Setting(dtype=dtype, seed=seed), test, lambda x: -x)
        return arrays.normal(2, 3), arrays.weights(5), arrays.integers(7, low=0, high=100)

    for one, other in zip(draw(), draw(), strict=True):
        assert np.array_equal(one, other)
        assert one is not other
    for change in ({"seed": 1}, {"test": "test_b"}):
        assert not any(map(np.array_equal, draw(), draw(**change)))
    for one, other in zip(draw(), draw(dtype="float32"), strict=True):
        assert np.allclose(one, other, atol=1e-6), "drawn in float64, then cast"
    np.testing.assert_array_equal(draw(dtype="float32")[0], draw()[0].astype(np.float32))


def test_a_test_that_cannot_read_the_answer_blames_the_answer():
    def test_rows(f, arrays):
        """Each row sums to one"""
        checking.expect_close(got=f(X).sum(-1), expected=np.ones(2), hint="which axis?")

    verdict = run_test(test_rows, lambda x: None, NUMPY, oracle=None)
    assert not verdict.passed
    assert verdict.evidence == "got None, expected an answer" and "return" in verdict.hint
    verdict = run_test(test_rows, lambda x: x.tolist(), NUMPY, oracle=None)
    assert verdict.evidence == "got a list, which is no array" and verdict.hint
    verdict = run_test(test_rows, lambda x: "no", NUMPY, oracle=None)
    assert verdict.evidence.startswith("got a str, which this test cannot read")


def test_a_test_that_fails_before_the_call_blames_the_test():
    def test_rows(f, arrays):
        f(arrays.no_such_draw(3))

    with pytest.raises(AuthorError) as caught:
        run_test(test_rows, abs, NUMPY, oracle=None)
    assert caught.value.test == "test_rows"
    assert str(caught.value).startswith("test_rows: failed before it called the function")


def test_gradients_come_through_the_students_function():
    def f(x, y):
        return (x**2).sum(-1) * y

    x, y, u = X, np.array([2.0, -1.0]), np.array([1.0, 0.5])
    dx, dy = Call(f, TORCH).vjp(x, y, cotangent=u)
    np.testing.assert_allclose(dx, 2 * X * (u * y)[:, None])
    np.testing.assert_allclose(dy, u * (X**2).sum(-1))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x.detach().sum(), "cannot follow back"),
        (lambda x: 3.0, "a float, through which torch finds no gradient"),
        (lambda x: x.numpy().sum(), "RuntimeError"),
    ],
)
def test_a_function_that_torch_cannot_follow_is_told(function, words):
    with pytest.raises(Failure) as caught:
        Call(function, TORCH).vjp(X, cotangent=np.array(1.0))
    assert words in caught.value.evidence


def test_gradients_are_for_torch():
    with pytest.raises(AuthorError, match="libraries"):
        Call(lambda x: x, NUMPY).vjp(X, cotangent=X)


@pytest.mark.parametrize("run", [NUMPY, TORCH], ids=str)
def test_a_function_that_comes_back_is_called_like_the_first(run):
    def make(a):
        return lambda x: a * x, {"twice": lambda x: 2 * x}

    call = Call(make, run)
    times, more = call(3.0)
    np.testing.assert_array_equal(times(X), 3 * X)
    np.testing.assert_array_equal(more["twice"](X), 2 * X)
    assert len(call.log.results) == 3


def test_an_object_of_the_students_class_keeps_its_state():
    class Counter:
        def __init__(self, start):
            self.total = start

        def add(self, x):
            self.total = self.total + x.sum()
            return self.total

    Counter.__module__ = "__main__"
    counter = Call(Counter, NUMPY)(np.array(1.0))
    assert counter.method("add")(X) == pytest.approx(1 + X.sum())
    assert counter.method("add")(X) == pytest.approx(1 + 2 * X.sum())
    with pytest.raises(Failure, match="AttributeError"):
        counter.method("take")(X)


@pytest.mark.parametrize("run", [NUMPY, TORCH, Setting("numpy", "float32")], ids=str)
def test_a_test_may_hand_a_function_over(run):
    """The test's function lives in NumPy, the student's in the library of the run."""
    seen = []

    def score(q, k):
        seen.append((type(q).__module__, q.dtype))
        return np.float64(q @ k) / 3

    def student(score, Q, K):
        xp = torch if run.library == "torch" else np
        table = [[score(q, k) for k in K] for q in Q]
        assert all(isinstance(x, torch.Tensor) == (xp is torch) for row in table for x in row)
        return xp.stack([xp.stack(list(row)) for row in table])

    got = Call(student, run)(score, X, X)
    np.testing.assert_allclose(got, X @ X.T / 3, rtol=1e-6)
    assert seen[0][1] == np.float64
