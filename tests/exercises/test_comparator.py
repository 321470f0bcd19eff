"""The helpers that compare are seen to fail, each for its own reason."""

import numpy as np
import pytest

from course_lib.checking import (
    expect_close,
    expect_dtype,
    expect_equal,
    expect_less,
    expect_true,
    expect_unchanged,
)
from course_lib.checking.call import Call
from course_lib.checking.expect import current_setting
from course_lib.checking.findings import AuthorError, Failure
from course_lib.checking.returned import Returned
from course_lib.checking.setting import TOLERANCE, Setting

HINT = "what is it?"


@pytest.fixture(autouse=True)
def run(request):
    token = current_setting.set(getattr(request, "param", Setting("numpy", "float64")))
    yield
    current_setting.reset(token)


def evidence(got, expected, **more):
    with pytest.raises(Failure) as caught:
        expect_close(got=got, expected=expected, hint=HINT, **more)
    assert caught.value.hint == HINT
    return caught.value.evidence


def test_equal_arrays_pass():
    expect_close(got=np.ones((2, 3)), expected=np.ones((2, 3)), hint=HINT)
    expect_close(got=np.array([1, 2]), expected=[1.0, 2.0], hint=HINT)
    expect_close(got=np.float64(2.0), expected=2, hint=HINT)
    expect_close(got=np.zeros((0, 3)), expected=np.zeros((0, 3)), hint=HINT)


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (None, "got None, expected an array of shape (2, 3)"),
        ([[1.0]], "got a list, expected an array"),
        ((1.0, 2.0), "got a tuple of 2, expected an array"),
        ("one", "got a str, expected an array"),
        (np.ones((2, 3), dtype=bool), "got an array of booleans of shape (2, 3), expected"),
        (np.array("one"), "expected an array of shape (2, 3)"),
        (np.ones((2, 3), dtype=complex), "got an array of complex128 of shape (2, 3), expected"),
    ],
)
def test_the_kind_comes_first(got, words):
    assert words in evidence(got, np.full((2, 3), np.nan))


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3), (2, 1), (3, 2), (2, 3, 1), (6,)])
def test_a_shape_that_would_broadcast_is_refused_before_any_value(shape):
    said = evidence(np.full(shape, np.nan), np.ones((2, 3)))
    what = f"an array of shape {shape}" if shape else "a single number"
    assert said == f"got {what}, expected shape (2, 3)"


def test_an_array_is_refused_where_a_number_is_expected():
    assert evidence(np.ones(1), 1.0) == "got an array of shape (1,), expected shape ()"
    assert evidence([1.0], 1.0) == "got a list, expected a number"


def test_the_worst_entry_and_the_share_are_named():
    got = np.zeros((2, 3))
    got[0, 1], got[1, 2] = 0.5, -4.0
    assert (
        evidence(got, np.zeros((2, 3))) == "entry (1, 2): got -4, expected 0; 2 of 6 entries differ"
    )
    assert (
        evidence(np.array([1.0, 3.0]), [1, 2])
        == "entry 1: got 3, expected 2; 1 of 2 entries differ"
    )
    assert evidence(np.array(3.0), 2.0) == "got 3, expected 2"


def test_a_single_nan_is_worse_than_any_number():
    got = np.array([1e9, np.nan, 0.0])
    assert (
        evidence(got, np.zeros(3)) == "entry 1: got nan, expected 0; 1 of 3 entries are not finite"
    )


@pytest.mark.parametrize(
    ("got", "expected", "passes"),
    [
        (np.nan, np.nan, True),
        (np.inf, np.inf, True),
        (-np.inf, np.inf, False),
        (np.nan, np.inf, False),
        (np.inf, np.nan, False),
        (1.0, np.nan, False),
        (1e300, np.inf, False),
    ],
)
def test_what_is_not_finite_must_be_the_same(got, expected, passes):
    got, expected = np.array([0.0, got]), np.array([0.0, expected])
    if passes:
        expect_close(got=got, expected=expected, hint=HINT)
    else:
        assert "entry 1: got" in evidence(got, expected)


@pytest.mark.parametrize("run", [Setting(dtype=d) for d in TOLERANCE], indirect=True, ids=str)
@pytest.mark.parametrize("expected", [0.0, 1.0, 1000.0])
def test_the_tolerance_is_that_of_the_dtype(expected):
    tolerance = TOLERANCE[current_setting.get().dtype] * (1 + expected)
    expect_close(got=np.array(expected + 0.9 * tolerance), expected=expected, hint=HINT)
    evidence(np.array(expected + 1.1 * tolerance), expected)
    expect_close(got=np.array(expected + 9 * tolerance), expected=expected, hint=HINT, slack=10)
    evidence(np.array(expected + 0.2 * tolerance), expected, slack=0.1)


def test_tolerances_widen_with_the_dtype():
    assert sorted(TOLERANCE.values()) == [
        TOLERANCE[d] for d in ("float64", "float32", "float16", "bfloat16")
    ]


def test_less_means_less_everywhere():
    expect_less(got=np.array([1.0, 2.0]), than=[2, 3], hint=HINT)
    for got, words in [
        ([1.0, 3.0], "entry 1: got 3, which is not below 3"),
        ([np.nan, 0], "entry 0"),
    ]:
        with pytest.raises(Failure, match=words):
            expect_less(got=np.array(got), than=[2, 3], hint=HINT)
    with pytest.raises(Failure, match="expected shape"):
        expect_less(got=np.array(1.0), than=[2, 3], hint=HINT)
    with pytest.raises(Failure, match="got None"):
        expect_less(got=None, than=[2, 3], hint=HINT)


@pytest.mark.parametrize(
    ("got", "expected", "equal"),
    [
        ("a", "a", True),
        ("a", "b", False),
        (np.array(3), 3, True),
        (np.array(True), True, True),
        (None, "a", False),
        ([1, 2], [1, 2], True),
        ([np.array(1), np.array(2)], [1, 2], True),
        ((2, 3), [2, 3], False),
        (np.array([1, 2]), [1, 2], True),
        (np.array([1, 2]), [1, 3], False),
        (np.array([1, 2]), "a", False),
        (np.array([1]), 1, False),
    ],
)
def test_equal_compares_whole_answers(got, expected, equal):
    if equal:
        expect_equal(got=got, expected=expected, hint=HINT)
    else:
        with pytest.raises(Failure, match="got .*, expected "):
            expect_equal(got=got, expected=expected, hint=HINT)


@pytest.mark.parametrize(("holds", "passes"), [(True, True), (False, False), ([1, 0], False)])
def test_true_must_hold_everywhere(holds, passes):
    if passes:
        expect_true(holds, evidence="seen", hint=HINT)
    else:
        with pytest.raises(Failure, match="seen"):
            expect_true(holds, evidence="seen", hint=HINT)


def test_unchanged_names_the_argument():
    def damage(x, *, mask):
        mask[0] = 1.0
        return x

    call = Call(damage, current_setting.get())
    call(np.zeros(3), mask=np.zeros(3))
    with pytest.raises(Failure, match="after the call `mask` had other values than before"):
        expect_unchanged(call, hint=HINT)
    call(np.zeros(3), mask=np.ones(3))
    expect_unchanged(call, hint=HINT)


def test_unchanged_needs_an_answer():
    call = Call(lambda x: None, current_setting.get())
    call(np.zeros(3))
    with pytest.raises(Failure, match="got None, expected an answer"):
        expect_unchanged(call, hint=HINT)


@pytest.mark.parametrize("run", [Setting(dtype="float32")], indirect=True)
def test_the_dtype_is_that_of_the_run():
    expect_dtype(got=Returned.of(np.zeros(2), "float32"), hint=HINT)
    with pytest.raises(Failure, match="got float64, expected float32"):
        expect_dtype(got=Returned.of(np.zeros(2), "float64"), hint=HINT)
    with pytest.raises(Failure, match="got None, expected float32"):
        expect_dtype(got=None, hint=HINT)
    with pytest.raises(AuthorError, match="before any arithmetic"):
        expect_dtype(got=np.zeros(2), hint=HINT)
