"""Answers that look away: none of them may earn anything on any exercise."""

from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.checking.nested import map_leaves


def lazy_answers(model: Callable) -> dict[str, Callable]:
    """Answers of the right shape that know nothing, made with the model answer's help."""

    def shaped(fill: Callable[[np.ndarray], np.ndarray]) -> Callable:
        return lambda *args, **kwargs: _filled(fill, model(*args, **kwargs))

    first: list[Any] = []

    def memorised(*args: Any, **kwargs: Any) -> Any:
        """Always what was right the first time."""
        first.append(model(*args, **kwargs))
        return first[0]

    size: list[Any] = []

    def one_size(*args: Any, **kwargs: Any) -> Any:
        """Right for the shapes of the first call, zeros for all others."""
        shapes = [getattr(value, "shape", value) for value in args]
        size.append(shapes)
        right = model(*args, **kwargs)
        return right if shapes == size[0] else _filled(np.zeros_like, right)

    return {
        "zeros": shaped(np.zeros_like),
        "ones": shaped(np.ones_like),
        "a constant": shaped(lambda right: np.full_like(right, 0.5)),
        "uniform weights": shaped(
            lambda right: np.full_like(right, 1 / max(1, right.shape[-1] if right.ndim else 1))
        ),
        "the input returned": lambda *args, **kwargs: args[0],
        "the first answer for ever": memorised,
        "one fixed size": one_size,
        "nothing": lambda *args, **kwargs: None,
    }


def _filled(fill: Callable[[np.ndarray], np.ndarray], value: Any) -> Any:
    def leaf(value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic, bool, int, float)):
            return fill(np.asarray(value))
        if hasattr(value, "new_tensor"):
            return value.new_tensor(fill(value.numpy()))
        return None

    return map_leaves(leaf, value)
