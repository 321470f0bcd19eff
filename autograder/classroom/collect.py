"""Put what was handed in where nbgrader looks for it, one notebook a student, and say how.

The best that a source has of each student goes to submitted/<student>/<assignment>/ under its right
name. What was there before and differs is kept in collected/<assignment>/earlier/.
"""

import hashlib
import itertools
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath

import nbformat

from autograder.classroom.archives import (
    DEEP,
    NOTEBOOKS_AT_MOST,
    UNREADABLE,
    Allowance,
    Container,
    Damaged,
    Item,
    Member,
    container,
    unfold,
)
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
from autograder.untrusted import TooLarge, printable
from course_lib.checking import percent

WORD = (".doc", ".docx", ".odt", ".rtf", ".pages")
PARTS_AT_MOST = 1_000_000
"""Of a notebook, as its commas and brackets tell: what it takes to read them."""
TOLD_AT_MOST = 5
"""Of what is wrong with one hand-in."""
SMALL = 2 << 20
"""Bytes of a notebook that cannot have so many that it matters."""


@dataclass
class Collected:
    """What one run found."""

    taken: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    """Student, and what was put right."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Student or file, and what a person should look at."""
    kept: list[str] = field(default_factory=list)
    """Whose newer hand-in stays where this source has an older one."""
    missing: list[str] = field(default_factory=list)
    moodle: dict[str, str] = field(default_factory=dict)
    """Student -> the folder that Moodle has for them in this assignment."""


@dataclass(frozen=True)
class _Candidate:
    """One notebook, and how well it fits."""

    owner: Owner
    item: Item
    name: str
    """What its owner called it."""
    file: Path
    """Its bytes, on our disk."""
    digest: str
    ours: int
    """Cells of this assignment."""
    other: str
    """The assignment that it belongs to, if not to this one."""
    answered: bool
    """A bundle handed in whole holds the notebook and the plain file; one of them is untouched."""
    notes: tuple[str, ...]

    def rank(self, stem: str) -> tuple:
        expected = self.name == f"{stem}.ipynb"
        last = self.owner.upload, self.item.changed, self.item.path
        return self.ours > 0, self.answered, expected, *last


@dataclass
class _HandIn:
    """What is in one folder of a student's, or has one of the platform's numbers."""

    source: Path
    files: list[tuple[Owner, Member, tuple[str, ...]]] = field(default_factory=list)
    """With the names of what is around each."""
    notebooks: list[_Candidate] = field(default_factory=list)
    besides: list[str] = field(default_factory=list)

    @property
    def changed(self) -> float | None:
        """When the instructor got it, where that can be told: of a zip of theirs."""
        is_zip = self.source.suffix.lower() == ".zip" and self.source.is_file()
        return self.source.stat().st_mtime if is_zip else None


def collect_from(
    course: Path,
    stem: str,
    sources: Sequence[Path],
    when: datetime | None = None,
    bar: Callable = lambda items, total: items,
    older_too: bool = False,
) -> Collected:
    """Take this assignment out of the sources; doing so twice changes nothing.

    What lies in them is read without trust: no link is followed, and each hand-in may cost so much
    and no more. Where a newer hand-in is there already, it stays unless `older_too` is said.
    """
    report = Collected()
    students = everybody(course)
    released = _cells_released(course)
    with ExitStack() as stack:
        room = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="collect-")))
        hand_ins: dict[str, dict[tuple, _HandIn]] = {}
        sorter = _Sorter(stack, Owners(students), stem, report, hand_ins)
        for source in sources:
            sorter.sort(source)
        reader = _Reader(room, stem, released, report)
        each = [(student, one) for student, some in hand_ins.items() for one in some.values()]
        for student, hand_in in bar(each, len(each)):
            reader.read(student, hand_in)
        desk = _Desk(course, stem, when, older_too, report)
        for student in sorted(hand_ins):
            desk.settle(student, list(hand_ins[student].values()))
    for called, files in sorter.strangers.items():
        reason = f"nobody in the list of students is called so ({_few(files)})"
        if len(alike := sorter.owners.alike(called)) > 1:
            reason = (
                f"{' and '.join(alike)} are called so ({_few(files)}): put it into a folder called "
                "by the right id, and collect the folder around that"
            )
        report.problems.append((called, reason))
    remember_folders(course, stem, report.moodle)
    there = {path.parent.name for path in (course / "submitted").glob(f"*/{stem}")}
    report.missing = [student.id for student in students if student.id not in there]
    return report


@dataclass
class _Sorter:
    """Says whose each file is, by names alone, before anything is read."""

    stack: ExitStack
    owners: Owners
    stem: str
    report: Collected
    hand_ins: dict[str, dict[tuple, _HandIn]]
    strangers: dict[str, list[str]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def sort(self, source: Path) -> None:
        is_zip = source.is_file() and source.suffix.lower() == ".zip"
        try:
            listed = self.stack.enter_context(container(source))
        except UNREADABLE as error:
            reason = f"it is no zip that can be opened ({printable(str(error))})"
            self._tell(Damaged((source.name,), reason))
            return
        own = source.name if is_zip or source.is_dir() else None
        self._sort(listed, source, (source.name,) if is_zip else (), own, DEEP)

    def _sort(
        self,
        listed: Container,
        source: Path,
        above: tuple[str, ...],
        own: str | None,
        deep: int,
    ) -> None:
        """`own` is the name of the container, where that may be somebody's."""
        number = next(self._numbers)
        for damaged in listed.damaged:
            self._tell(Damaged(above + damaged.path, damaged.reason))
        depth = self.owners.depth([member.path for member in listed.members], self.stem)
        all_theirs = self.owners.of_all_in(own, self.stem, depth is None) if own else None
        for member in listed.members:
            if all_theirs:
                owner = replace(all_theirs, file=member.path[-1])
            elif depth is None and member.is_zip and self.owners.students:
                self._sort_zip(member, source, above, deep)
                continue
            else:
                owner = self.owners.of(member.path, depth or 0, self.stem)
            student = owner.student or (None if self.owners.students else _as_id(owner.called))
            if student is None:
                shown = printable("/".join(above + member.path), 120)
                self.strangers.setdefault(owner.called, []).append(shown)
                continue
            key = owner.hand_in if owner.upload else (number, *owner.hand_in)
            hand_in = self.hand_ins.setdefault(student, {}).setdefault(key, _HandIn(source))
            hand_in.files.append((owner, member, above))

    def _sort_zip(self, member: Member, source: Path, above: tuple[str, ...], deep: int) -> None:
        """Of a folder of platforms' zips."""
        path = above + member.path
        if not deep:
            self._tell(Damaged(path, f"zips in zips are followed {DEEP} deep"))
            return
        try:
            file = self.stack.enter_context(member.open())
            listed = self.stack.enter_context(container(file))
        except UNREADABLE as error:
            reason = f"it is no zip that can be opened ({printable(str(error))})"
            self._tell(Damaged(path, reason))
        else:
            self._sort(listed, source, path, member.path[-1], deep - 1)

    def _tell(self, damaged: Damaged) -> None:
        self.report.problems.append((str(damaged), damaged.reason))


@dataclass
class _Reader:
    """Reads what was handed in, as far as its allowance goes."""

    room: Path
    stem: str
    released: dict[str, dict[str, dict]]
    report: Collected
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def read(self, student: str, hand_in: _HandIn) -> None:
        """Its notebooks; of the rest the names."""
        allowance, problems = Allowance(), len(self.report.problems)
        for owner, member, above in hand_in.files:
            for item in unfold(member, allowance, above):
                if isinstance(item, Damaged):
                    self.report.problems.append((student, f"{item}: {item.reason}"))
                elif item.name.lower().endswith((".ipynb", ".py")):
                    name = item.name if len(item.path) > len(above + member.path) else owner.file
                    self._look_at(student, hand_in, owner, item, name, allowance)
                else:
                    hand_in.besides.append(item.name)
        if allowance.notebooks < 0:
            reason = f"of its notebooks only {NOTEBOOKS_AT_MOST} were looked at"
            self.report.problems.insert(problems, (student, reason))
        if (more := len(self.report.problems) - problems - TOLD_AT_MOST) > 1:
            told = (student, f"and {more} more files that cannot be read")
            self.report.problems[problems + TOLD_AT_MOST :] = [told]

    def _look_at(
        self,
        student: str,
        hand_in: _HandIn,
        owner: Owner,
        item: Item,
        name: str,
        allowance: Allowance,
    ) -> None:
        notes: list[str] = []
        repairs: list[Note] = []
        data = b""
        shown = printable(item.name)
        try:
            if allowance.notebooks <= 0:
                allowance.notebooks = -1
                return
            file = self.room / f"{next(self._numbers)}.ipynb"
            data = self._bytes_of(item, file, allowance, notes)
            if not data and _is_python(item):
                hand_in.besides.append(item.name)  # another program of theirs
                return
            allowance.notebooks -= 1
            cells = cells_of(shown, data, repairs)
        except Unreadable as reason:
            problem = f"{in_full(reason.note)} ({_what_it_is(data)})"
        except TooLarge as reason:
            problem = f"{shown} is {reason}; it was not read"
        except UNREADABLE as error:
            problem = f"{item} cannot be read: {printable(str(error))}"
        else:
            notes += map(in_full, repairs)
            if language := _language(data):
                notes.append(f"its kernel is {language}; it is graded as Python all the same")
            file.write_bytes(data)
            digest = hashlib.sha256(data).hexdigest()
            fit = self._fit(cells)
            hand_in.notebooks.append(
                _Candidate(owner, item, name, file, digest, *fit, tuple(notes))
            )
            return
        self.report.problems.append((student, problem))

    def _fit(self, cells: list[dict]) -> tuple[int, str, bool]:
        """Cells of this assignment, the other one that it is, and whether anything is answered."""
        fits = {
            name: sum(key_of(cell, ours) is not None for cell in cells)
            for name, ours in self.released.items()
        }
        best = max(fits, key=lambda name: fits[name], default="")
        other = best if not fits.get(self.stem) and fits.get(best) else ""
        answered = any(is_answer(cell, self.released.get(self.stem, {})) for cell in cells)
        return fits.get(self.stem, 0), other, answered

    def _bytes_of(self, item: Item, file: Path, allowance: Allowance, notes: list[str]) -> bytes:
        """Of a notebook, which a plain file becomes here: nbgrader takes nothing else.

        Nothing where it is another Python program. Raises TooLarge and UNREADABLE.
        """
        if _is_python(item):
            try:
                text = item.read(PLAIN_AT_MOST).decode("utf-8-sig", errors="replace")
            except TooLarge:
                return b""
            if "# %%" not in text:
                return b""
            return json.dumps(percent.as_notebook(text, self.stem, ""), indent=1).encode()
        try:
            data = item.read()
        except TooLarge:
            raise TooLarge("larger than one hand-in may be") from None
        if len(data) <= NOTEBOOK_AT_MOST and not _has_too_many_parts(data):
            return data
        file.write_bytes(data)
        size = len(data) >> 20
        del data
        began = time.monotonic()
        slim = without_outputs(file, max(allowance.seconds, 0.1))
        allowance.seconds -= time.monotonic() - began
        if slim is None or len(slim) > NOTEBOOK_AT_MOST or _has_too_many_parts(slim):
            raise TooLarge(f"{size} MB, and not because of what its cells printed")
        notes.append(
            f"it had {size} MB; without what its cells printed it has {len(slim) >> 10} kB"
        )
        return slim


def _has_too_many_parts(data: bytes) -> bool:
    return len(data) > SMALL and sum(map(data.count, (b",", b"[", b"{"))) > PARTS_AT_MOST


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


def _is_python(item: Item) -> bool:
    return item.name.lower().endswith(".py")


def _language(data: bytes) -> str:
    """Of the kernel, where it is not Python."""
    try:
        metadata = json.loads(data.decode("utf-8-sig"))["metadata"]
        language = metadata.get("kernelspec", {}).get("language")
        language = language or metadata.get("language_info", {}).get("name") or "python"
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return ""  # damaged: its cells are looked at all the same
    name = str(language).lower()
    return "" if name.startswith(("python", "ipython")) else printable(str(language), 30)


def _what_it_is(data: bytes) -> str:
    kinds = {b"PK": "a zip or an Office file", b"%PDF": "a PDF", b"\x89PNG": "a picture"}
    kinds |= {b"\xd0\xcf": "an old Office file", b"<": "a web page", b"": "something else"}
    if not data.strip():
        return "it is empty"
    return "it is " + next(name for start, name in kinds.items() if data.startswith(start))


@dataclass(frozen=True)
class _Taken:
    """What is told of the hand-in that was taken, to know an older one by."""

    digest: str = ""
    upload: int = 0
    """Canvas's number of it, if it has one."""
    changed: float | None = None
    """When the instructor got the zip in which it was."""

    @classmethod
    def read(cls, path: Path) -> "_Taken":
        """What is there; nothing where there is none."""
        try:
            return cls(**json.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return cls()


@dataclass
class _Desk:
    """Decides what of all that a student handed in lies under submitted/ in the end."""

    course: Path
    stem: str
    when: datetime | None
    older_too: bool
    report: Collected

    def settle(self, student: str, hand_ins: list[_HandIn]) -> None:
        fitting: dict[str, tuple[_Candidate, _HandIn]] = {}
        for hand_in in hand_ins:
            best = max(hand_in.notebooks, key=lambda each: each.rank(self.stem), default=None)
            if best and best.ours:
                fitting.setdefault(best.digest, (best, hand_in))
        if not fitting:
            self._nothing(student, hand_ins)
        elif len(fitting) > 1:
            self._set_aside(student, [best for best, _ in fitting.values()])
        else:
            ((best, hand_in),) = fitting.values()
            self._take(student, best, hand_in)

    def _nothing(self, student: str, hand_ins: list[_HandIn]) -> None:
        notebooks = [notebook for hand_in in hand_ins for notebook in hand_in.notebooks]
        for notebook in notebooks[:1]:
            what = (
                f"this is {notebook.other}: to take it there, type  course collect {notebook.other}"
                if notebook.other
                else "no cell of it is of this assignment"
            )
            self.report.problems.append((student, f"{printable(notebook.name)}: {what}"))
        besides = [name for hand_in in hand_ins for name in hand_in.besides]
        if besides and not any(who == student for who, _ in self.report.problems):
            word = " (a Word file)" if besides[0].lower().endswith(WORD) else ""
            what = f"handed in {_few(besides)}{word} and no notebook: ask for {self.stem}.ipynb"
            self.report.problems.append((student, what))

    def _set_aside(self, student: str, notebooks: list[_Candidate]) -> None:
        """Each is said to be this student's: a person decides, and till then nothing changes."""
        folder = self.course / "collected" / self.stem / "set_aside" / student
        lines = []
        for notebook in notebooks:
            path = folder / notebook.digest[:8] / f"{student}.ipynb"
            write_atomically(path, notebook.file.read_bytes())
            lines.append(f"{notebook.item} is {path}")
        self.report.problems.append(
            (
                student,
                f"{len(notebooks)} hand-ins are said to be theirs, and none was taken: "
                f"{'; '.join(lines)}. Look whose they are, then type  "
                f"course collect {self.stem} --replace  and the file that is right",
            )
        )

    def _take(self, student: str, best: _Candidate, hand_in: _HandIn) -> None:
        collected = self.course / "collected" / self.stem
        folder, earlier = self.course / "submitted" / student / self.stem, collected / "earlier"
        record = collected / "taken" / f"{student}.json"
        now, before = _Taken(best.digest, best.owner.upload, hand_in.changed), _Taken.read(record)
        there = _digest_of(folder / f"{self.stem}.ipynb")
        if before.digest != there:  # somebody has put it there
            before = _Taken(there)
        if there == now.digest:
            now = _Taken(there, max(now.upload, before.upload), _later(now.changed, before.changed))
        elif (
            there and not self.older_too and self._is_older(student, now, before, earlier / student)
        ):
            self.report.kept.append(student)
            self.report.unchanged.append(student)
            return
        notes = list(best.notes)
        zips = [part for part in best.item.path[1:-1] if part.lower().endswith(".zip")]
        if zips:  # beyond the one that the platform makes
            notes.append(f"was in {' in '.join(map(printable, reversed(zips)))}")
        if best.name != f"{self.stem}.ipynb":
            notes.append(f"was called {printable(best.name)}; it is {self.stem}.ipynb here")
        others = [c for c in hand_in.notebooks if c.answered or not _is_python(c.item)]
        if (number := len({id(best), *map(id, others)})) > 1:
            notes.append(f"handed in {number} notebooks; {printable(best.item.name)} was taken")
        if best.owner.late:
            notes.append(
                "Canvas marks it as late"
                + ("" if self.when else "; to say when, collect this file alone with --time")
            )
        self.report.notes += [(student, note) for note in notes]
        if best.owner.moodle:
            self.report.moodle[student] = best.owner.moodle
        changed = _put(best.file, folder, earlier / student, self.when)
        write_atomically(record, json.dumps(asdict(now)) + "\n")
        (self.report.taken if changed else self.report.unchanged).append(student)

    def _is_older(self, student: str, now: _Taken, there: _Taken, earlier: Path) -> bool:
        """Than the one that is there. Where that is in doubt, it stays and a person is told."""
        if now.upload and there.upload:
            return now.upload < there.upload
        if now.changed and there.changed and now.changed < there.changed:
            return True
        if not (earlier / f"{now.digest[:8]}.ipynb").is_file():
            return False
        if now.changed != there.changed:
            self.report.problems.append(
                (
                    student,
                    "this is what an earlier hand-in of theirs was, and the newer one stays; if "
                    "they went back to it, add --replace",
                )
            )
        return True


def _later(one: float | None, other: float | None) -> float | None:
    return max(one, other) if one and other else one or other


def _digest_of(path: Path) -> str:
    """Nothing where there is no such file."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def keep_earlier(folder: Path, earlier: Path) -> list[Path]:
    """The notebooks of this folder, each kept under a name that tells its content."""
    notebooks = [path for path in folder.glob("*.ipynb") if path.is_file()]
    for path in notebooks:
        before = path.read_bytes()
        write_atomically(earlier / f"{hashlib.sha256(before).hexdigest()[:8]}.ipynb", before)
    return notebooks


def _put(file: Path, folder: Path, earlier: Path, when: datetime | None) -> bool:
    """Whether anything changed. What was there is kept under a name that tells its content.

    In an order in which, stopped anywhere, nothing is lost and doing it again completes it.
    """
    target, stamp = folder / f"{folder.name}.ipynb", folder / "timestamp.txt"
    data = file.read_bytes()
    changed = not target.is_file() or target.read_bytes() != data
    if changed:
        replaced = keep_earlier(folder, earlier)
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
    shown = ", ".join(map(printable, names[:3]))
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")
