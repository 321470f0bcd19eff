"""Wait for a state, never for a time."""

import time
from collections.abc import Callable
from typing import Any

BETWEEN_TWO_LOOKS = 0.01


def wait_until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """What `condition` gives as soon as that is true; AssertionError if it is not true in time."""
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until, f"not so after {seconds} s: {condition}"
        time.sleep(BETWEEN_TWO_LOOKS)
    return value
