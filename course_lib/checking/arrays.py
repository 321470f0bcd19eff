"""The factory of inputs: fresh, seeded, and held exactly by the dtype of the setting."""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.checking.setting import Setting


class Arrays:
    """Makes the inputs of one test; the same seed and test give the same numbers everywhere."""

    def __init__(self, setting: Setting, test: str, oracle: Callable[..., Any]):
        self.setting, self._oracle = setting, oracle
        self.run = setting
        """What tests that were released earlier call it."""
        self._random = np.random.default_rng([setting.seed, zlib.crc32(test.encode())])

    def rounded(self, values: Any) -> np.ndarray:
        """The numbers as the setting's dtype holds them, as all must be that go to the function."""
        return self.setting.rounded(values)

    def normal(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        return self.rounded(scale * self._random.normal(size=shape))

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        return self.rounded(self._random.uniform(low, high, size=shape))

    def integers(self, *shape: int, low: int, high: int) -> np.ndarray:
        return self._random.integers(low, high, size=shape)

    def weights(self, *shape: int) -> np.ndarray:
        """Rows of positive weights that sum to one, up to the rounding of the dtype."""
        positive = self._random.exponential(size=shape) + 0.05
        return self.rounded(positive / positive.sum(-1, keepdims=True))

    def permutation(self, n: int) -> np.ndarray:
        return self._random.permutation(n)

    def oracle(self, *args: Any, **kwargs: Any) -> Any:
        """What an independent, slow and plain implementation gives, in float64."""
        return self._oracle(*args, **kwargs)

    def recorded(self, elsewhere: Callable[..., Any], *args: Any) -> Any:
        """What a library gives that is not in every place of checking; recorded as an oracle is."""
        return getattr(self._oracle, "recorded", _now)(elsewhere, *args)


def _now(elsewhere: Callable[..., Any], *args: Any) -> Any:
    return elsewhere(*args)
