"""The table of judged functions: `python -m tests.course_lib.table` prints it."""

import importlib
import re
from pathlib import Path

import torch

from tests.course_lib.cases import EXAMPLES, PROPERTIES, half_precision_errors, worst_errors
from tests.course_lib.checked import course_lib
from tests.course_lib.comparing import TOLERANCE
from tests.course_lib.judges import CASES

for file in sorted(Path(__file__).parent.glob("test_chapter_*.py")):
    importlib.import_module(f"tests.course_lib.{file.stem}")  # these fill PROPERTIES


NOTE = f"""
Each function is judged on {EXAMPLES} generated inputs. Errors are relative to the largest expected
entry, or to 1 if that is less. A dash: a test of its own demands equality, of whole numbers and
truth values exactly, of what weights from a module give to {TOLERANCE["float64"]:g}. Ex.: the page
leaves the formula to an exercise; ch.: the page gives it no number."""


def rows() -> list[tuple[str, ...]]:
    """Return function, equation, judge, worst error by dtype; low precision beside torch's."""
    found = []
    for case in CASES:
        errors = [f"{worst:.0e}" for worst in worst_errors(case).values()]
        halves = half_precision_errors(case)
        errors += ["{:.0e} ({:.0e})".format(*halves[dtype]) for dtype in ("bfloat16", "float16")]
        found.append((case.name, equation(case.name), case.by, *errors))
    for name, (judge, test) in PROPERTIES.items():
        found.append((name, equation(name), f"{judge}: {test.__name__}", "-", "-", "-", "-"))
    return sorted(found, key=lambda row: (tuple(map(int, re.findall(r"\d+", row[1]))), row[0]))


def equation(name: str) -> str:
    """Return "2.1" for an equation, "Ex. 3.6" for an exercise, "ch. 8" if it has no number."""
    kind, number = re.search(
        r"-- (\w+)\.?\s\(?([\d.]*\d)", getattr(course_lib, name).__doc__
    ).groups()
    return {"Eq": "", "Exercise": "Ex. ", "Chapter": "ch. "}[kind] + number


def main() -> None:
    torch.set_num_threads(1)  # small arrays, on which threads only wait for each other
    head = ("function", "Eq.", "judge", "float64", "float32", "bfloat16 (torch)", "float16 (torch)")
    for row in (head, ("---",) * len(head), *rows()):
        print("| " + " | ".join(row) + " |")
    print(NOTE)


if __name__ == "__main__":
    main()
