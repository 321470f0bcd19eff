"""nbgrader's exchange on a hub: made so that no student can take it over, and read without trust.

The instructor's own processes call this, with rights that no student has. What lies in `inbound`
was written by anybody who has an account.
"""

import os
import re
import secrets
import shlex
import shutil
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from autograder.classroom.archives import Allowance
from autograder.classroom.class_list import everybody
from autograder.classroom.collect import Collected, keep_earlier
from autograder.errors import CourseError
from autograder.files import UNFINISHED
from autograder.grading.submissions import handed_in, time_of
from autograder.release.course_folder import nbgrader_configuration, open_gradebook, the_assignment
from autograder.untrusted import (
    Refused,
    TooLarge,
    entries_below,
    open_beneath,
    printable,
    stat_beneath,
)

DEFAULT_ROOT = "/usr/local/share/nbgrader/exchange"
"""nbgrader's."""
FILES_AT_MOST, BYTES_AT_MOST, DEEP = 1_000, 256 << 20, 8
"""Of one hand-in."""
NOBODY = -1
TOLD_AT_MOST = 3
"""Of what one account has left that is nobody's work."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
SLACK = timedelta(minutes=10)
"""Between the time that a hand-in names and the last change of its folder: it was being copied."""


class UnsafeExchange(CourseError):
    """Somebody else could change what lies in the exchange: what, and the command that mends it."""


class _Place(NamedTuple):
    """A folder of ours in the exchange."""

    path: Path
    mode: int
    why: str
    """What follows where its mode is another."""


@dataclass(frozen=True)
class Exchange:
    """Where a course's notebooks go out and come back."""

    root: Path
    course_id: str
    course: Path
    group_shared: bool = False
    """A group of instructors may write, too."""
    checks_owner: bool = True
    """No two users of the hub have one account."""

    @classmethod
    def of(cls, course: Path) -> "Exchange":
        """As the settings of the course say. Raises BadSettings."""
        config = nbgrader_configuration(course)
        return cls(
            Path(config.Exchange.get("root", DEFAULT_ROOT)).absolute(),
            str(config.CourseDirectory.course_id),
            course,
            bool(config.CourseDirectory.get("groupshared", False)),
            bool(config.ExchangeCollect.get("check_owner", True)),
        )

    @property
    def inbound(self) -> Path:
        return self.root / self.course_id / "inbound"

    def make(self) -> list[Path]:
        """Make what is not there, and set the modes of what is ours; those that were others.

        Raises UnsafeExchange where the rest lets somebody else change it.
        """
        changed = self._make_root()
        self._demand_safe_root()
        for place in self._places():
            is_new = not os.path.lexists(place.path)
            try:
                if is_new:
                    place.path.mkdir(0o700)
            except PermissionError:
                raise UnsafeExchange(
                    f"{place.path} cannot be made by you. Type\n  sudo install -d "
                    f"-m {place.mode:o} -o {_name_of(os.getuid())} {shlex.quote(str(place.path))}"
                ) from None
            about = place.path.lstat()
            is_ours = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid()
            if is_ours and stat.S_IMODE(about.st_mode) != place.mode:
                place.path.chmod(place.mode)
                changed += [] if is_new else [place.path]
        self.demand_safe()
        return changed

    def demand_safe(self) -> None:
        """Raises UnsafeExchange, and where it is not there CourseError."""
        self._demand_safe_root()
        for place in self._places():
            if place.path.name == "feedback" and not os.path.lexists(place.path):
                continue
            self._demand_safe_place(place)

    def _places(self) -> list[_Place]:
        course, group = self.root / self.course_id, 0o2070 if self.group_shared else 0
        change = "students could change what others fetch"
        return [
            _Place(course, 0o755 | group, "students could put another in its place"),
            _Place(course / "outbound", 0o755 | group, change),
            # to be written to by all and listed by none; sticky, so that nobody renames or removes
            # another's; what is put there has the instructor's group
            _Place(self.inbound, 0o3733 | group, "students could reach each other's hand-ins"),
            _Place(course / "feedback", 0o711 | group, "students could reach others' feedback"),
        ]

    def _make_root(self) -> list[Path]:
        if not self.root.is_dir():
            try:
                self.root.mkdir(mode=0o755, parents=True)
                self.root.chmod(0o755)
            except OSError:
                raise UnsafeExchange(
                    f"The exchange {self.root} is not there, and you cannot make it. Type\n  sudo "
                    f"install -d -m 755 -o {_name_of(os.getuid())} {shlex.quote(str(self.root))}"
                ) from None
        about = self.root.stat()
        if about.st_uid == os.getuid() and self._may_be_replaced(about):
            self.root.chmod(stat.S_IMODE(about.st_mode) | stat.S_ISVTX)
            return [self.root]
        return []

    def _may_be_replaced(self, about: os.stat_result) -> bool:
        """Whether others may rename what lies in this folder."""
        writers = stat.S_IWOTH if self.group_shared else OTHERS_WRITE
        return bool(about.st_mode & writers) and not about.st_mode & stat.S_ISVTX

    def _demand_safe_root(self) -> None:
        """It and every folder above it, under both names where a link leads to it."""
        if not self.root.is_dir():
            raise CourseError(
                f"the exchange {self.root} is not there; local_config.py names it, as "
                "c.Exchange.root.\nOn a hub,  course release NN_topic --exchange  makes it. To "
                "collect from a folder or a zip, type  course collect NN_topic FOLDER-OR-ZIP"
            )
        real = self.root.resolve()
        for folder in dict.fromkeys(
            chain(reversed(self.root.parents), [self.root], reversed(real.parents), [real])
        ):
            about = folder.stat()
            self._demand_owner(folder, about, f"chown {_name_of(os.getuid())}")
            if self._may_be_replaced(about):
                raise UnsafeExchange(
                    f"{folder} can be written to by others and is not sticky: students could put "
                    f"an exchange of theirs in the place of yours. Type\n"
                    f"  {self._command('chmod +t', folder, about)}"
                )

    def _demand_safe_place(self, place: _Place) -> None:
        try:
            about = place.path.lstat()
        except FileNotFoundError:
            raise CourseError(
                f"{place.path} is not there yet:  course release NN_topic --exchange  makes it"
            ) from None
        aside = f"{place.path}.not-yours"
        if not stat.S_ISDIR(about.st_mode):
            raise UnsafeExchange(
                f"{place.path} is no folder: somebody else may have put it there. Type\n"
                f"  sudo mv {shlex.quote(str(place.path))} {shlex.quote(aside)}"
            )
        if about.st_uid not in self._trusted():
            raise UnsafeExchange(
                f"{place.path} belongs to {_name_of(about.st_uid)}, not to you: {place.why}. "
                f"Type\n  sudo mv {shlex.quote(str(place.path))} {shlex.quote(aside)}\n"
                "and release again"
            )
        mode = stat.S_IMODE(about.st_mode)
        allowed = place.mode | (0o070 if self.group_shared else 0)
        needed = place.mode & stat.S_ISVTX
        if mode & 0o777 & ~allowed or needed & ~mode:
            raise UnsafeExchange(
                f"{place.path} has the mode {mode:o}, and {place.why}. Type\n"
                f"  {self._command(f'chmod {place.mode:o}', place.path, about)}"
            )

    def _demand_owner(self, folder: Path, about: os.stat_result, command: str) -> None:
        if about.st_uid not in self._trusted():
            raise UnsafeExchange(
                f"{folder} belongs to {_name_of(about.st_uid)}, who could put an exchange of "
                f"theirs in the place of yours. Type\n  sudo {command} {shlex.quote(str(folder))}"
            )

    def _trusted(self) -> set[int]:
        """Root, whoever types this, and the owner of the course folder."""
        course = {self.course.stat().st_uid} if self.course.is_dir() else set()
        return {0, os.getuid()} | course

    def _command(self, command: str, folder: Path, about: os.stat_result) -> str:
        by_root = "" if os.getuid() in (0, about.st_uid) else "sudo "
        return f"{by_root}{command} {shlex.quote(str(folder))}"


@dataclass(frozen=True)
class _HandIn:
    """A folder of inbound, as its name tells; `nbgrader submit` makes it."""

    folder: str
    student: str
    time: datetime
    about: os.stat_result


def collect_from_exchange(
    course: Path, stem: str, only: str | None = None, before_deadline: bool = False
) -> Collected:
    """Take the latest that each student has handed in, unless that is what is there already.

    A folder is its owner's work, whatever its name says. Raises UnsafeExchange and CourseError.
    """
    exchange, report = Exchange.of(course), Collected()
    exchange.demand_safe()
    with open_gradebook(course) as gradebook:
        deadline = the_assignment(gradebook, stem).duedate
    class_list = {student.id for student in everybody(course)}
    latest: dict[str, _HandIn] = {}
    for one in _hand_ins(exchange, stem, report):
        before = latest.get(one.student)
        rank = _rank(one, deadline if before_deadline else None)
        if before is None or rank > _rank(before, deadline if before_deadline else None):
            latest[one.student] = one
    for student, one in sorted(latest.items()):
        if only not in (None, "*", student):
            continue
        folder = course / "submitted" / student / stem
        _sweep(folder.parent)
        before_this = handed_in(course, stem, student)
        if folder.is_dir() and before_this and one.time <= before_this:
            report.unchanged.append(student)
            continue
        report.problems += [(student, problem) for problem in _copy(exchange, one, folder)]
        report.taken.append(student)
        if class_list and student not in class_list:
            report.problems.append((student, "is not in the list of students"))
        changed = datetime.fromtimestamp(one.about.st_ctime, UTC).replace(tzinfo=None)
        if deadline and one.time <= deadline < changed - SLACK:
            report.problems.append(
                (
                    student,
                    f"says it was handed in at {one.time:%Y-%m-%d %H:%M} UTC, before the deadline; "
                    f"its folder was last changed at {changed:%Y-%m-%d %H:%M} UTC",
                )
            )
    there = {path.parent.name for path in (course / "submitted").glob(f"*/{stem}")}
    report.missing = sorted(class_list - there)
    return report


def _rank(one: _HandIn, deadline: datetime | None) -> tuple[bool, datetime]:
    return deadline is None or one.time <= deadline, one.time


def _hand_ins(exchange: Exchange, stem: str, report: Collected) -> Iterator[_HandIn]:
    """What lies in inbound for this assignment; what is not its student's own is told."""
    name = re.compile(rf"(?P<user>.+)\+{re.escape(stem)}\+(?P<time>[^+]+)(\+[^+]*)?", re.DOTALL)
    told: Counter[int] = Counter()

    def tell(who: str, problem: str, account: int) -> None:
        told[account] += 1
        if told[account] <= TOLD_AT_MOST:
            report.problems.append((printable(who), problem))

    for folder in sorted(os.listdir(exchange.inbound)):
        match = name.fullmatch(folder)
        if not match:
            continue
        user, time = match["user"], time_of(match["time"].encode(errors="replace"))
        try:
            about = stat_beneath(exchange.inbound, folder)
        except Refused as refused:
            tell(folder, f"is {refused.fault} and was not taken", NOBODY)
            continue
        owner = _name_of(about.st_uid)
        if exchange.checks_owner and user != owner:
            problem = (
                f"a hand-in in this name belongs to the account {printable(owner)} and was not "
                "taken. If all users of your hub have one account, write "
                "c.ExchangeCollect.check_owner = False in local_config.py"
            )
            tell(user, problem, about.st_uid)
        elif time is None or user in (".", "..") or "/" in user or not user.isprintable():
            tell(folder, "is no name that nbgrader gives; not taken", about.st_uid)
        else:
            yield _HandIn(folder, user, time, about)


def _copy(exchange: Exchange, one: _HandIn, target: Path) -> list[str]:
    """Put it in the place of what is there, whose notebooks are kept; what was left out.

    Stopped anywhere, nothing of before is lost, and the next run completes it.
    """
    stem, problems = target.name, []
    copy = target.with_name(f".{stem}.{secrets.token_hex(8)}.unfinished")
    copy.mkdir(parents=True)
    try:
        problems += _copy_files(exchange, one, copy)
        (copy / "timestamp.txt").write_text(f"{one.time:%Y-%m-%d %H:%M:%S.%f} UTC")
        if target.is_dir():
            earlier = exchange.course / "collected" / stem / "earlier" / one.student
            keep_earlier(target, earlier)
            target.rename(copy.with_name(f".{stem}.{secrets.token_hex(8)}.unfinished"))
        copy.rename(target)
    except BaseException:
        with suppress(OSError):
            shutil.rmtree(copy)
        raise
    _sweep(target.parent)
    return problems


def _sweep(folder: Path) -> None:
    """What a command that was killed has left."""
    for left in folder.glob(UNFINISHED):
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def _copy_files(exchange: Exchange, one: _HandIn, copy: Path) -> list[str]:
    """Regular files that are the student's own, the notebooks first."""
    owner = one.about.st_uid if exchange.checks_owner else None
    allowance, problems, names = Allowance(BYTES_AT_MOST), [], []
    for entry in entries_below(exchange.inbound, one.folder, deep=DEEP, at_most=FILES_AT_MOST):
        if isinstance(entry, Refused):
            problems.append(f"{entry}")
        elif entry != ("timestamp.txt",):  # its time is in the name of the folder
            names.append(entry)
    for parts in sorted(names, key=lambda parts: (len(parts), not _is_work(parts[-1]), parts)):
        try:
            with open_beneath(exchange.inbound, one.folder, *parts, owner=owner) as file:
                data = allowance.read(file)
        except Refused as refused:
            problems.append(f"{printable('/'.join(parts))} is {refused.fault} and was not read")
        except TooLarge:
            shown = printable("/".join(parts))
            problems.append(f"{shown} was left out: more than {BYTES_AT_MOST >> 20} MiB in all")
        else:
            path = copy.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as written:
                written.write(data)
                written.flush()
                os.fsync(written.fileno())
    return problems if len(problems) < 6 else [*problems[:5], f"and {len(problems) - 5} more"]


def _is_work(name: str) -> bool:
    return name.lower().endswith((".ipynb", ".py", "submission_secret.txt"))


def _name_of(user: int) -> str:
    import pwd  # nowhere on Windows, which has no exchange

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"number {user}"
