"""Ratios of speed and memory, measured side by side: `make bench` or `python -m benchmarks`.

Nothing here is a test: a busy machine changes times, so measure on an idle one.
"""

import subprocess
import sys

from benchmarks.measure import D_K, THREADS, N, peak_memory, timed

MEGABYTE = 1e6


def import_time() -> float:
    """Seconds that `import course_lib` takes in a fresh Python, NumPy included; best of five."""
    code = "import time; t = time.perf_counter(); import course_lib; print(time.perf_counter() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def rows() -> list[tuple[str, str, float, str, bool]]:
    """Return what is compared, both figures, their ratio, what is asked, whether it holds."""
    found = []
    for library in ("numpy", "torch"):
        plain, blocks = (peak_memory(library, form) for form in ("plain", "blocks"))
        figures = f"{blocks / MEGABYTE:.1f} MB against {plain / MEGABYTE:.0f} MB"
        ratio = plain / blocks
        found.append((f"{library}: memory of plain / blocks", figures, ratio, "40", ratio >= 40))
    times = timed("numpy", ("plain", "blocks"), rounds=3)
    found.append(_speed("numpy: speed of blocks / plain", times["blocks"], times["plain"], 1.0))
    times = timed("torch", ("fused", "blocks", "plain"), rounds=9)
    found.append(_speed("torch: speed of blocks / fused", times["blocks"], times["fused"], 0.6))
    found.append(_speed("torch: speed of blocks / plain", times["blocks"], times["plain"], 1.0))
    seconds = import_time()
    figures = f"{seconds:.2f} s against 0.30 s"
    found.append(("import course_lib: allowed / taken", figures, 0.3 / seconds, "1", seconds < 0.3))
    return found


def _speed(name: str, ours: float, theirs: float, least: float) -> tuple:
    figures = f"{ours:.3f} s against {theirs:.3f} s"
    return name, figures, theirs / ours, f"{least:g}", theirs / ours >= least


def main() -> int:
    print(f"Attention, {N} queries and keys, d_k = {D_K}, float32, {THREADS} threads for each\n")
    print(f"| {'what':35} | {'figures':26} | {'ratio':>6} | at least |")
    print(f"|{'-' * 37}|{'-' * 28}|{'-' * 8}|{'-' * 10}|")
    missed = 0
    for name, figures, ratio, least, holds in rows():
        missed += not holds
        note = "" if holds else "  <- missed"
        print(f"| {name:35} | {figures:26} | {ratio:6.2f} | {least:>8} |{note}")
    if missed:
        print(f"\n{missed} ratio(s) below what is asked: run again on an idle machine, then look.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
