"""An oracle that computes each answer once: every wrong answer is asked the same questions."""

import copy
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np


class AnswerMemo:
    """Called like the oracle; whoever calls may write into what comes back."""

    def __init__(self, oracle: Callable[..., Any]):
        self.oracle = oracle
        self._answers: dict[Hashable, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        key = _key((args, kwargs))
        if key not in self._answers:
            with np.errstate(all="ignore"):
                self._answers[key] = self.oracle(*args, **kwargs)
        return copy.deepcopy(self._answers[key])


def _key(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, dict):
        return tuple((name, _key(value[name])) for name in sorted(value))
    if isinstance(value, (list, tuple)):
        return tuple(map(_key, value))
    return repr(value)
