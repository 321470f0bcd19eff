"""A student's assignment: what it asks for, the file it is done in, and how far that is."""

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from course_lib.checking import percent
from course_lib.checking.answers import Cells, NoAnswer, NotWritten
from course_lib.checking.examine import checks_folder, examine

OUTLINE = "assignment.json"
TITLE = 40
"""Letters of a title in the table."""


class WrongFile(Exception):
    """The file cannot be worked with; says why and what to do."""


@dataclass(frozen=True)
class Assignment:
    """What the bundle says about itself."""

    stem: str
    title: str
    version: str
    exercises: tuple[dict[str, Any], ...]

    @classmethod
    def here(cls) -> "Assignment | None":
        path = checks_folder() / OUTLINE
        return cls.read(path) if path.is_file() else None

    @classmethod
    def read(cls, path: Path) -> "Assignment":
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(data["stem"], data["title"], data["version"], tuple(data["exercises"]))

    def find(self, name: str) -> dict[str, Any] | None:
        return next((e for e in self.exercises if e["name"] == name), None)


@dataclass(frozen=True)
class Work:
    """One file with answers, as it lies on the disk."""

    path: Path
    version: str
    cells: tuple[dict[str, Any], ...]
    """Each with `id`, `cell_type`, `source`, and all else that a notebook has there."""

    @classmethod
    def find(cls, assignment: Assignment, folder: Path = Path()) -> "Work":
        """The notebook or the plain file, whichever has been worked in."""
        paths = [folder / f"{assignment.stem}{suffix}" for suffix in (".ipynb", ".py")]
        works = [cls.read(path) for path in paths if path.is_file()]
        if not works:
            raise WrongFile(
                f"There is neither {paths[0].name} nor {paths[1].name} here. "
                "Was it renamed? Then name it:  --file NAME"
            )
        begun = [work for work in works if any(map(work.attempted, assignment.exercises))]
        if len(begun) > 1:
            raise WrongFile(
                f"There are answers in {paths[0].name} and in {paths[1].name}. "
                f"Name the one that counts, such as  --file {paths[1].name}"
            )
        return (begun or works)[0]

    @classmethod
    def read(cls, path: Path) -> "Work":
        try:
            text = path.read_text(encoding="utf-8-sig")
            if path.suffix == ".py":
                return cls(path, percent.version_in(text), tuple(percent.cells_of(text)))
            notebook = json.loads(text)
            version = notebook["metadata"].get("course", {}).get("version", "")
            return cls(path, version, tuple(map(_cell, notebook["cells"])))
        except FileNotFoundError:
            raise WrongFile(f"There is no file {path}.") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise WrongFile(
                f"{path} cannot be read as a notebook or a Python file ({error})."
            ) from None

    def source(self, exercise: dict[str, Any]) -> str | None:
        """The last text of the answer cell that is no longer the starter, or else the starter."""
        texts = [c["source"] for c in self.cells if c["id"] == exercise["slug"]]
        written = [text for text in texts if text.strip() not in ("", exercise["starter"].strip())]
        chosen: list[str] = written or texts
        return chosen[-1] if chosen else None

    def attempted(self, exercise: dict[str, Any]) -> bool:
        text = self.source(exercise)
        written = text is not None and text.strip() not in ("", exercise["starter"].strip())
        return written or any(
            c.get("attachments") for c in self.cells if c["id"] == exercise["slug"]
        )

    def code(self) -> Cells:
        """Its code, as if every cell had been run from the top."""
        to_python, cells = _to_python(), Cells()
        for number, cell in enumerate(self.cells):
            if cell["cell_type"] == "code":
                cells.ran(cell["id"] or f"of its own {number}", to_python(cell["source"]))
        return cells


@dataclass(frozen=True)
class Standing:
    """How far one exercise is."""

    exercise: dict[str, Any]
    words: str
    points: float | None = 0.0
    """None where a person gives them, or nobody does."""
    attempted: bool = True
    at_stake: float = 0.0

    def __str__(self) -> str:
        title = self.exercise["title"]
        title = title if len(title) <= TITLE else title[: TITLE - 1].rstrip() + "…"
        worth = f"{self.exercise['points']:g}"
        got = "–" if self.points is None else f"{self.points:.3g}"
        head = f"{self.exercise['number']:<5} {title:<{TITLE}} {got:>4} of {worth:<3}"
        return f"{head} {self.words}"


def standings(assignment: Assignment, cells: Cells, work: Work | None) -> list[Standing]:
    return [_standing(exercise, cells, work) for exercise in assignment.exercises]


def table(assignment: Assignment, cells: Cells, work: Work | None) -> str:
    """What is left, for people: one line an exercise, then the sum."""
    rows = standings(assignment, cells, work)
    lines = [f"{assignment.stem}: {assignment.title}  (version {assignment.version})", ""]
    lines += [*map(str, rows), "", _sum_of(rows)]
    if work and any(row.points is None for row in rows):
        saved = datetime.fromtimestamp(work.path.stat().st_mtime)
        lines.append(f"Proofs in words are read from {work.path.name} as saved at {saved:%H:%M}.")
    return "\n".join(lines)


def _standing(exercise: dict[str, Any], cells: Cells, work: Work | None) -> Standing:
    if exercise["kind"] == "proof":
        whose = {"by hand": "a person reads it", "self": "you mark it yourself", "off": "no marks"}
        marked = whose[exercise["marking"]]
        written = work is not None and work.attempted(exercise)
        words = f"written; {marked}" if written else f"not attempted ({marked})"
        return Standing(exercise, words if work else marked, None, written)
    try:
        examined = examine(exercise["name"], cells)
    except NotWritten:
        return Standing(exercise, "not attempted", attempted=False)
    except NoAnswer as nothing:
        return Standing(exercise, why_nothing(exercise, nothing, work))
    return Standing(exercise, examined.short, examined.points, at_stake=examined.at_stake)


def why_nothing(exercise: dict[str, Any] | None, nothing: NoAnswer, work: Work | None) -> str:
    """A cell that is no valid Python defines nothing, and its own fault says more."""
    return _fault_in(work.source(exercise) if work and exercise else None) or str(nothing)


def _fault_in(text: str | None) -> str:
    try:
        compile(_to_python()(text or ""), "", "exec")
    except SyntaxError as error:
        return f"your cell is no valid Python: line {error.lineno}: {error.msg}"
    return ""


def _sum_of(rows: list[Standing]) -> str:
    given = [(row.points, row.exercise["points"]) for row in rows if row.points is not None]
    here, most = sum(points for points, _ in given), sum(points for _, points in given)
    by_hand = sum(r.exercise["points"] for r in rows if r.exercise.get("marking") == "by hand")
    at_stake = sum(row.at_stake for row in rows)
    words = f"{here:.4g} of {most:g} points here"
    words += f", {at_stake:.3g} of them only if the rest holds when you hand in" if at_stake else ""
    words += f"; {by_hand:g} more are given by a person" if by_hand else ""
    left = [row.exercise["number"] for row in rows if not row.attempted]
    return f"{words}. " + (f"Not attempted: {', '.join(left)}." if left else "All are attempted.")


def _cell(raw: dict[str, Any]) -> dict[str, Any]:
    """One cell of a notebook, with its text in one piece and the name that nbgrader knows it by."""
    source = raw.get("source", "")
    named = raw.get("metadata", {}).get("nbgrader", {}).get("grade_id")
    return raw | {
        "id": named or raw.get("id"),
        "source": source if isinstance(source, str) else "".join(source),
    }


def _to_python() -> Callable[[str], str]:
    """Magics and !commands as the notebook reads them, where IPython is there."""
    with contextlib.suppress(ImportError):
        from IPython.core.inputtransformer2 import TransformerManager

        transform: Callable[[str], str] = TransformerManager().transform_cell
        return transform
    return str
