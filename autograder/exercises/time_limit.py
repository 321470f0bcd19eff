"""Stop an answer that never comes."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WALL = 6
"""So many seconds may pass for each second of the processor."""


class TooSlow(BaseException):
    """Not an Exception: a test must not take it for an error of the answer."""


@contextmanager
def time_limit(seconds: float, problem: str) -> Iterator[None]:
    """Raise TooSlow from within the block, where the platform has an alarm clock.

    Seconds are those of the processor: a busy machine makes no answer slow. One that sleeps is
    stopped by the clock on the wall. For the main thread only.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: Any) -> None:
        raise TooSlow(f"{problem} within {seconds} seconds")

    clocks = (
        (signal.SIGPROF, signal.ITIMER_PROF, seconds),
        (signal.SIGALRM, signal.ITIMER_REAL, seconds * WALL),
    )
    previous = [signal.signal(number, ring) for number, _, _ in clocks]
    for _, clock, limit in clocks:
        signal.setitimer(clock, limit)
    try:
        yield
    finally:
        for (number, clock, _), before in zip(clocks, previous, strict=True):
            signal.setitimer(clock, 0)
            signal.signal(number, before)
