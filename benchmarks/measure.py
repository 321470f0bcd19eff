"""Time and memory of one form of attention; memory in a process of its own."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(THREADS)  # before NumPy and torch read it

import numpy as np  # noqa: E402

from course_lib import blockwise_attention, scaled_dot_product_attention  # noqa: E402

N, D_K = 8192, 64


def inputs(library: str, n: int) -> list:
    """Return query, key and value, with the axes of batch and heads that torch's kernel needs."""
    arrays = np.random.default_rng(0).standard_normal((3, 1, 1, n, D_K), dtype=np.float32)
    if library == "numpy":
        return list(arrays)
    import torch

    torch.set_num_threads(THREADS)
    return [torch.from_numpy(x) for x in arrays]


def function(form: str) -> Callable:
    if form == "fused":
        from torch.nn.functional import scaled_dot_product_attention as fused

        return fused
    return {"plain": scaled_dot_product_attention, "blocks": blockwise_attention}[form]


def timed(library: str, forms: tuple[str, ...], rounds: int) -> dict[str, float]:
    """Return the best time of each form; the forms take turns, so that all meet the same noise."""
    QKV, best = inputs(library, N), dict.fromkeys(forms, float("inf"))
    for _ in range(rounds):
        for form in forms:
            start = time.perf_counter()
            function(form)(*QKV)
            best[form] = min(best[form], time.perf_counter() - start)
    return best


def peak_memory(library: str, form: str) -> int:
    """Return the bytes that a call needs at its peak beyond what was there before."""
    command = [sys.executable, "-m", "benchmarks.measure", library, form]
    return int(subprocess.run(command, check=True, capture_output=True).stdout)


def _peak_here(library: str, form: str) -> int:
    attend, QKV = function(form), inputs(library, N)
    attend(*inputs(library, 1024))  # threads and libraries are loaded before we look
    before = _forget_the_peak()
    attend(*QKV)
    return _peak() - before


def _forget_the_peak() -> int:
    """Return the memory in use, and on Linux make it the new peak."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return _peak()
    return _status("VmRSS")


def _peak() -> int:
    if Path("/proc/self/status").exists():
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    print(_peak_here(*sys.argv[1:]))
