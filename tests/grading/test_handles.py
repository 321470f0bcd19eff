"""What a student's function returns may stay with the student, and gradients come through it."""

from pathlib import Path

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import course_lib
from autograder.grading.rebuild import Rebuilt
from autograder.grading.referee import Attempt
from autograder.sandbox import process
from autograder.sandbox.host import ProcessEnded, Sandbox
from course_lib.checking.call import Call
from course_lib.checking.findings import Failure
from course_lib.checking.setting import Setting
from course_lib.checking.terms import NO_TERMS

TORCH, NUMPY = Setting("torch", "float64"), Setting("numpy", "float64")
X = np.array([[1.0, 2.0, 3.0], [0.5, 0.25, 4.0]])
ANSWERS = """
library = "torch"
import torch

def square(x, y):
    return (x ** 2).sum(-1) * y

def detached(x):
    return x.detach().sum()

def make(a):
    return lambda x: a * x

class Counter:
    def __init__(self, start):
        self.total = start
    def add(self, x):
        self.total = self.total + x.sum()
        return self.total

def leave(x):
    import os
    return lambda: os._exit(1)
"""


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(Path(course_lib.__file__).parent) as sandbox:
        yield sandbox


@pytest.fixture
def student(sandbox):
    with sandbox.student() as student:
        student.begin(1)
        student.run_cell("answers", ANSWERS)
        for name in ("square", "detached", "make", "Counter", "leave"):
            student.prepare(name, NO_TERMS, ["answers"])
        yield student


def ask(student, name, run=TORCH):
    return Call(name, run, transport=student.call)


def test_gradients_cross(student):
    y, u = np.array([2.0, -1.0]), np.array([1.0, 0.5])
    dx, dy = ask(student, "square").vjp(X, y, cotangent=u)
    np.testing.assert_allclose(dx, 2 * X * (u * y)[:, None])
    np.testing.assert_allclose(dy, u * (X**2).sum(-1))
    with pytest.raises(Failure, match="cannot follow back"):
        ask(student, "detached").vjp(X, cotangent=np.array(1.0))


def test_a_returned_function_is_called_where_it_is(student):
    times = ask(student, "make")(3.0)
    np.testing.assert_array_equal(times(X), 3 * X)


def test_an_object_keeps_its_state_there(student):
    counter = ask(student, "Counter")(np.array(1.0))
    assert counter.kind == "Counter"
    assert counter.method("add")(X) == pytest.approx(1 + X.sum())
    assert counter.method("add")(X) == pytest.approx(1 + 2 * X.sum())
    with pytest.raises(Failure, match="AttributeError"):
        counter.method("take")(X)


def test_what_is_kept_dies_with_its_process(student, sandbox):
    times = ask(student, "make")(3.0)
    with sandbox.student() as another:
        another.begin(1)
        with pytest.raises(Failure, match="it is gone"):
            ask(another, times.function)(X)


SCORING = """
library = "numpy"
import numpy as np

def table(score, Q, K):
    return np.array([[score(q, k) for k in K] for q in Q])

def greedy(score, x):
    while True:
        score(x, x)

def rude(score, x):
    return score(x, "a")

def lavish(score, x):
    tall = np.ones((20_000, 200), dtype=np.int8)
    return score(tall, tall.T.copy())
"""


def product(q, k):
    return np.float64(np.asarray(q) @ np.asarray(k))


@pytest.fixture
def borrower(sandbox):
    with sandbox.student() as student:
        student.begin(1)
        student.run_cell("scoring", SCORING)
        for name in ("table", "greedy", "rude", "lavish"):
            student.prepare(name, NO_TERMS, ["scoring"])
        yield student


def test_a_lent_function_stays_with_the_referee(borrower):
    got = ask(borrower, "table", NUMPY)(product, X, X)
    np.testing.assert_allclose(got, X @ X.T)


def test_a_lent_function_survives_rude_questions(borrower):
    with pytest.raises(Failure, match="it raised TypeError: the function that was handed to yours"):
        ask(borrower, "rude", NUMPY)(product, X[0])
    assert borrower.alive


def test_a_lent_function_does_not_work_for_minutes(borrower):
    with pytest.raises(Failure, match="no arrays of more than 256 KiB"):
        ask(borrower, "lavish", NUMPY)(product, X[0])
    assert borrower.alive


def test_nobody_borrows_for_ever(borrower, monkeypatch):
    monkeypatch.setattr(process, "CALLBACKS", 500)  # before any limit of time is met
    with pytest.raises(ProcessEnded):
        ask(borrower, "greedy", NUMPY)(product, X[0])


def test_gradients_cross_where_memory_is_limited_too(sandbox):
    cells = [new_code_cell(ANSWERS, id="answers"), new_code_cell("", id="square-check")]
    with Attempt(sandbox, Rebuilt(new_notebook(cells=cells), {}, set()), seed=1) as attempt:
        attempt.run()
        attempt.prepare("square", "square-check", NO_TERMS)
        square = Call("square", TORCH, transport=attempt.call)
        little = square.within(64 << 20, hint="how much does it hold?")
        (dx,) = little.vjp(X, 2.0, cotangent=np.array([1.0, 0.5]))
    np.testing.assert_allclose(dx, 4 * X * np.array([[1.0], [0.5]]))
