"""Put what was handed in where nbgrader looks for it, one notebook a student, and say how.

The best that a source has of each student goes to submitted/<student>/<assignment>/ under its right
name. What was there before and differs is kept in collected/<assignment>/earlier/.
"""

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePath

import nbformat

from autograder.classroom.archives import UNREADABLE, Damaged, Item, TooLarge, how_many, items_in
from autograder.classroom.class_list import everybody
from autograder.classroom.feedback_zip import remember_folders
from autograder.classroom.identify import Owner, Owners
from autograder.classroom.strip_outputs import without_outputs
from autograder.exercises.cell_ids import COMMON
from autograder.files import write_atomically
from autograder.grading.notes import Note
from autograder.grading.rebuild import (
    NOTEBOOK_AT_MOST,
    PLAIN_AT_MOST,
    Unreadable,
    cells_of,
    is_answer,
    key_of,
)
from autograder.grading.sentences import in_full
from autograder.roster.csv_tables import plain
from autograder.roster.students import NO_PART_OF_A_NAME
from course_lib.checking import percent

WORD = (".doc", ".docx", ".odt", ".rtf", ".pages")


@dataclass
class Collected:
    """What one run found."""

    taken: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    """Student, and what was put right."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Student or file, and what a person should look at."""
    missing: list[str] = field(default_factory=list)
    moodle: dict[str, str] = field(default_factory=dict)
    """Student -> the folder that Moodle has for them in this assignment."""


@dataclass(frozen=True)
class _Candidate:
    """One notebook, and how well it fits."""

    owner: Owner
    item: Item
    file: Path
    """Its bytes, on our disk."""
    ours: int
    """Cells of this assignment."""
    other: str
    """The assignment that it belongs to, if not to this one."""
    answered: bool
    """A bundle handed in whole holds the notebook and the plain file; one of them is untouched."""
    notes: tuple[str, ...]

    def rank(self, stem: str) -> tuple:
        expected = self.owner.file == f"{stem}.ipynb"
        return self.ours > 0, self.answered, expected, self.owner.upload, self.item.changed


def collect_from(
    course: Path,
    stem: str,
    sources: Sequence[Path],
    when: datetime | None = None,
    bar: Callable = lambda items, total: items,
) -> Collected:
    """Take this assignment out of the sources; doing so twice changes nothing."""
    report = Collected()
    students = everybody(course)
    owners, anybody = Owners(students), not students
    released = _cells_released(course)
    with tempfile.TemporaryDirectory(prefix="collect-") as room:
        candidates: dict[str, list[_Candidate]] = {}
        others: dict[str, list[str]] = {}
        items = ((source, item) for source in sources for item in items_in(source))
        items = bar(items, sum(map(how_many, sources)))
        for number, (owner, item) in enumerate(_owned(items, owners, stem, report)):
            student = owner.student or (_as_id(owner.called) if anybody else None)
            if student is None:
                others.setdefault(owner.called, []).append(str(item))
            elif item.name.lower().endswith(".ipynb") or _is_plain_file(item):
                file = Path(room) / f"{number}.ipynb"
                if candidate := _look_at(item, owner, file, stem, released, report, student):
                    candidates.setdefault(student, []).append(candidate)
            else:
                candidates.setdefault(student, [])
                others.setdefault(f"\0{student}", []).append(item.name)
        for student in sorted(candidates):
            besides = others.pop(f"\0{student}", [])
            _settle(course, stem, student, candidates[student], besides, when, report)
    for called, files in others.items():
        report.problems.append(
            (called, f"nobody in the list of students is called so ({_few(files)})")
        )
    remember_folders(course, stem, report.moodle)
    there = {path.parent.name for path in (course / "submitted").glob(f"*/{stem}")}
    report.missing = [student.id for student in students if student.id not in there]
    return report


def _owned(
    items: Iterable[tuple[Path, Item | Damaged]], owners: Owners, stem: str, report: Collected
) -> Iterator[tuple[Owner, Item]]:
    for source, item in items:
        if isinstance(item, Damaged):
            report.problems.append((str(item), item.reason))
            continue
        # a zip's own name tells something only where nothing inside it does
        inside = item.path[1:] if source.is_file() and len(item.path) > 1 else item.path
        owner = owners.of(inside, stem)
        if owner.student is None and inside != item.path:
            outer = owners.of(item.path, stem)
            owner = outer if outer.student else owner
        yield owner, item


def _cells_released(course: Path) -> dict[str, dict[str, dict]]:
    """For each assignment, its cells by name."""
    released = {}
    for path in sorted((course / "release").glob("*/*.ipynb")):
        if path.stem == path.parent.name:
            cells = nbformat.read(path, as_version=4).cells
            released[path.stem] = {
                cell.metadata.nbgrader.grade_id: cell
                for cell in cells
                if cell.metadata.get("nbgrader") and cell.id not in COMMON
            }
    return released


def _look_at(
    item: Item,
    owner: Owner,
    file: Path,
    stem: str,
    released: dict[str, dict[str, dict]],
    report: Collected,
    student: str,
) -> _Candidate | None:
    notes: list[str] = []
    repairs: list[Note] = []
    try:
        data = _bytes_of(item, stem, file, notes)
        cells = cells_of(item.name, data, repairs)
    except Unreadable as reason:
        report.problems.append((student, f"{in_full(reason.note)} ({_what_it_is(data)})"))
        return None
    except TooLarge as reason:
        report.problems.append((student, f"{item.name} is {reason}; it was not read"))
        return None
    except UNREADABLE as error:
        report.problems.append((student, f"{item} cannot be read: {error}"))
        return None
    notes += map(in_full, repairs)
    fits = {
        name: sum(key_of(cell, cells_there) is not None for cell in cells)
        for name, cells_there in released.items()
    }
    best = max(fits, key=lambda name: fits[name], default="")
    other = best if not fits.get(stem) and fits.get(best) else ""
    if language := _language(data):
        notes.append(f"its kernel is {language}; it is graded as Python all the same")
    file.write_bytes(data)
    answered = any(is_answer(cell, released.get(stem, {})) for cell in cells)
    return _Candidate(owner, item, file, fits.get(stem, 0), other, answered, tuple(notes))


def _is_plain_file(item: Item) -> bool:
    """The assignment as one Python file; other programs are none of ours."""
    return _is_python(item) and item.size <= PLAIN_AT_MOST and b"# %%" in item.read()


def _is_python(item: Item) -> bool:
    return item.name.lower().endswith(".py")


def _bytes_of(item: Item, stem: str, file: Path, notes: list[str]) -> bytes:
    """Of a notebook, which a plain file becomes here: nbgrader takes nothing else."""
    data = item.read()
    if _is_python(item):
        text = data.decode("utf-8-sig", errors="replace")
        return json.dumps(percent.as_notebook(text, stem, ""), indent=1).encode()
    if len(data) <= NOTEBOOK_AT_MOST:
        return data
    file.write_bytes(data)
    size = len(data) >> 20
    del data
    slim = without_outputs(file)
    if slim is None or len(slim) > NOTEBOOK_AT_MOST:
        raise TooLarge(f"{size} MB, and not because of what its cells printed")
    notes.append(f"it had {size} MB; without what its cells printed it has {len(slim) >> 10} kB")
    return slim


def _language(data: bytes) -> str:
    """Of the kernel, where it is not Python."""
    try:
        metadata = nbformat.reads(data.decode("utf-8-sig"), as_version=4).metadata
        language = metadata.get("kernelspec", {}).get("language")
        language = language or metadata.get("language_info", {}).get("name") or "python"
    except Exception:  # damaged, or of an old format: its cells are looked at all the same
        return ""
    return "" if str(language).lower().startswith(("python", "ipython")) else str(language)[:30]


def _what_it_is(data: bytes) -> str:
    kinds = {b"PK": "a zip or an Office file", b"%PDF": "a PDF", b"\x89PNG": "a picture"}
    kinds |= {b"\xd0\xcf": "an old Office file", b"<": "a web page", b"": "something else"}
    if not data.strip():
        return "it is empty"
    return "it is " + next(name for start, name in kinds.items() if data.startswith(start))


def _settle(
    course: Path,
    stem: str,
    student: str,
    candidates: list[_Candidate],
    besides: list[str],
    when: datetime | None,
    report: Collected,
) -> None:
    if not candidates:
        if besides and not any(who == student for who, _ in report.problems):
            word = " (a Word file)" if _few(besides).lower().endswith(WORD) else ""
            report.problems.append(
                (student, f"handed in {_few(besides)}{word} and no notebook: ask for {stem}.ipynb")
            )
        return
    best = max(candidates, key=lambda candidate: candidate.rank(stem))
    if not best.ours:
        what = (
            f"this is {best.other}: to take it there, type  course collect {best.other}"
            if best.other
            else "no cell of it is of this assignment"
        )
        report.problems.append((student, f"{best.owner.file}: {what}"))
        return
    notes = list(best.notes)
    zips = [part for part in best.item.path[1:-1] if part.lower().endswith(".zip")]
    if zips:  # beyond the one that the platform makes
        notes.append(f"was in {' in '.join(reversed(zips))}")
    if best.owner.file != f"{stem}.ipynb":
        notes.append(f"was called {best.owner.file}; it is {stem}.ipynb here")
    counted = [c for c in candidates if c is best or c.answered or not _is_python(c.item)]
    if len(counted) > 1:
        notes.append(f"handed in {len(counted)} notebooks; {best.item.name} was taken")
    if best.owner.late:
        notes.append("Canvas marks it as late" + ("" if when else "; say when with --time"))
    report.notes += [(student, note) for note in notes]
    if best.owner.moodle:
        report.moodle[student] = best.owner.moodle
    folder = course / "submitted" / student / stem
    changed = _put(best.file, folder, course / "collected" / stem / "earlier" / student, when)
    (report.taken if changed else report.unchanged).append(student)


def _put(file: Path, folder: Path, earlier: Path, when: datetime | None) -> bool:
    """Whether anything changed. What was there is kept under a name that tells its content.

    In an order in which, stopped anywhere, nothing is lost and doing it again completes it.
    """
    target, stamp = folder / f"{folder.name}.ipynb", folder / "timestamp.txt"
    data = file.read_bytes()
    changed = not target.is_file() or target.read_bytes() != data
    if changed:
        replaced = list(folder.glob("*.ipynb"))
        for old in replaced:
            before = old.read_bytes()
            write_atomically(earlier / f"{hashlib.sha256(before).hexdigest()[:8]}.ipynb", before)
        if not when:
            stamp.unlink(missing_ok=True)  # it is the time of what will be there no longer
        write_atomically(target, data)
        for old in replaced:
            if old != target:
                old.unlink()
    if when:
        write_atomically(stamp, f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC\n")
    return changed


def _as_id(called: str) -> str | None:
    name = NO_PART_OF_A_NAME.sub("_", PurePath(called).name).lstrip(".-")
    return name if plain(name) else None


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
