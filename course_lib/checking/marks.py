"""What an author writes above a test, a right answer or a wrong one."""

from collections.abc import Callable


def core(test: Callable) -> Callable:
    """Until this test passes, the exercise earns nothing: ordinary inputs, independent oracle."""
    test.is_core = True
    return test


def hidden(test: Callable) -> Callable:
    """Its numbers stay with the grader; its property is told to everybody."""
    test.is_hidden = True
    return test


def float64(test: Callable) -> Callable:
    """Run in float64 whatever the run says: the property is about digits."""
    test.in_float64 = True
    return test


def oracle(answer: Callable) -> Callable:
    """This right answer is the plain, slow one that `arrays.oracle` calls."""
    answer.is_oracle = True
    return answer


def only(library: str) -> Callable[[Callable], Callable]:
    """This right answer is written in one library."""

    def mark(answer: Callable) -> Callable:
        answer.library = library
        return answer

    return mark


def fails(*tests: str) -> Callable[[Callable], Callable]:
    """A wrong answer fails these tests and no other; the first is the one that must catch it."""

    def mark(answer: Callable) -> Callable:
        answer.fails = tuple(f"test_{name.removeprefix('test_')}" for name in tests)
        return answer

    return mark
