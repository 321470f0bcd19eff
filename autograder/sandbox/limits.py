"""Every limit of the sandbox in one place."""

import contextlib
import os

with contextlib.suppress(ImportError):  # Windows, where grading refuses
    import resource

MEBIBYTE = 1 << 20

CELL_SECONDS = 10
"""Of processor time; on the clock it may take `WALL` times as long."""
CALL_SECONDS = 2
WALL = 4
SUBMISSION_SECONDS = 60
"""On the clock, for all that a student's code does."""
RESTARTS = 5
DEATHS_OF_AN_EXERCISE = 2
"""After so many its function is not called any more."""
START_SECONDS = 30
"""Until a process, or a kernel, is ready for the first cell."""

PROCESS_MEMORY = 1024 * MEBIBYTE
"""Address space beyond that of the warm parent, for each process."""
TOTAL_MEMORY = 1536 * MEBIBYTE
"""Resident in all processes of a submission together; watched from outside."""
PROCESSES = 32
OF_A_KERNEL = 16
"""Threads besides, where a real kernel runs."""
KERNEL_START = 4096 * MEBIBYTE
"""Address space until the kernel has started and limits itself as above."""
OPEN_FILES = 128
FILE_SIZE = 32 * MEBIBYTE
SCRATCH = 64 * MEBIBYTE
A_NAME = 4096
"""What a file or folder counts for in scratch, however empty."""
CELL_OUTPUT = 1 * MEBIBYTE
ALL_OUTPUT = 4 * MEBIBYTE


def total_memory(memory_mib: int | None) -> int:
    """Of all processes of a submission, where one may have so much; in bytes."""
    if memory_mib is None:
        return TOTAL_MEMORY
    return memory_mib * MEBIBYTE * TOTAL_MEMORY // PROCESS_MEMORY


def address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def impose(memory: int = PROCESS_MEMORY, processes: int = PROCESSES) -> None:
    """Limit this process and all that it starts."""
    both = {
        resource.RLIMIT_CPU: SUBMISSION_SECONDS,
        resource.RLIMIT_FSIZE: FILE_SIZE,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_NPROC: processes,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_AS: address_space() + memory,
    }
    for limit, number in both.items():
        resource.setrlimit(limit, (number, number))


def leave_memory(more: int) -> None:
    """Let this process grow by so much and no more, for ever, before a student's code runs."""
    with contextlib.suppress(NameError, OSError, ValueError):  # Windows; no /proc; no such limit
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        left = address_space() + more
        left = left if most == resource.RLIM_INFINITY else min(left, most)
        resource.setrlimit(resource.RLIMIT_AS, (left, left))


def bound_memory(more: int) -> None:
    """Let this process, which is trusted but reads what strangers send, grow by so much."""
    with contextlib.suppress(NameError, OSError, ValueError):  # Windows; no /proc; no such limit
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (address_space() + more, most))


def impose_what_there_is() -> None:
    """Where submissions are trusted: what this platform offers, against accidents."""
    for name, number in (("CPU", SUBMISSION_SECONDS), ("FSIZE", FILE_SIZE), ("CORE", 0)):
        limit = getattr(resource, f"RLIMIT_{name}")
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (number, number))


def processes_of_this_user() -> int:
    """Threads count; for the limit where no namespace gives students a count of their own."""
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{pid}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{pid}/task"))
    return count
