"""What an author writes above a test, a right answer or a wrong one."""

from collections.abc import Callable
from typing import Any


def _marked(function: Callable, **marks: Any) -> Callable:
    vars(function).update(marks)
    return function


def core(test: Callable) -> Callable:
    """Until this test passes, the exercise earns nothing: ordinary inputs, independent oracle."""
    return _marked(test, is_core=True)


def hidden(test: Callable) -> Callable:
    """Its numbers stay with the grader; its property is told to everybody."""
    return _marked(test, is_hidden=True)


def float64(test: Callable) -> Callable:
    """Run in float64 whatever the run says: the property is about digits."""
    return _marked(test, in_float64=True)


def oracle(answer: Callable) -> Callable:
    """This right answer is the plain, slow one that `arrays.oracle` calls."""
    return _marked(answer, is_oracle=True)


def only(library: str) -> Callable[[Callable], Callable]:
    """This right answer is written in one library."""

    def mark(answer: Callable) -> Callable:
        return _marked(answer, library=library)

    return mark


def fails(*tests: str) -> Callable[[Callable], Callable]:
    """A wrong answer fails these tests and no other; the first is the one that must catch it."""

    def mark(answer: Callable) -> Callable:
        names = tuple(f"test_{name.removeprefix('test_')}" for name in tests)
        return _marked(answer, fails=names)

    return mark
