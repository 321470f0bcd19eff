"""Library functions that an exercise asks the student to write: while it is checked they say so."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


class Withheld(Exception):
    """The function that the exercise asks for was called instead of written."""


@contextlib.contextmanager
def withheld(names: tuple[str, ...]) -> Iterator[None]:
    """Replace each named attribute of a loaded module by one that refuses; put it back after."""
    with contextlib.ExitStack() as stack:
        for name in names:
            if (attribute := _find(name)) is not None:
                stack.enter_context(_replaced(*attribute, _refusal(name)))
        yield


def _find(name: str) -> tuple[Any, str] | None:
    """The object and the attribute that `torch.Tensor.softmax` names, if its module is loaded."""
    *path, last = name.split(".")
    owner = sys.modules.get(path[0])
    for step in path[1:]:
        owner = getattr(owner, step, None)
    return (owner, last) if owner is not None and hasattr(owner, last) else None


def _refusal(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise Withheld(f"{name} is what this exercise asks you to write")

    return refuse


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    own = name in vars(owner)
    original = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, original)
        else:
            delattr(owner, name)
