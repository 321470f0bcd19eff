"""Whose is this file? Told from the names that learning platforms and people give to files."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from autograder.roster.csv_tables import plain
from autograder.roster.students import Student

# Ada Lovelace_1234_assignsubmission_file_/03_softmax.ipynb, or with the file's name at its end
MOODLE = re.compile(r"(?P<name>.+?)_\d+_assignsubmission_[a-z]+_?(?P<file>.*)")
# lovelaceada_late_1234_56789_03_softmax.ipynb; only what comes late is marked
CANVAS = re.compile(
    r"(?P<name>[^_]+)(?P<late>_late)?_(?P<user>\d+)_(?P<upload>\d+)_(?P<file>.+)", re.IGNORECASE
)
TRIES = re.compile(r"-(\d{1,3})$")
"""Canvas's own mark of a second and third hand-in."""


@dataclass(frozen=True)
class Owner:
    student: str | None
    called: str
    """The name under which the platform has them."""
    file: str
    """The file as its owner called it."""
    late: bool = False
    upload: int = 0
    """A number that grows from one hand-in to the next."""
    moodle: str = ""
    """With what Moodle begins the names of all that is theirs in this assignment."""


class Owners:
    """Finds the student by id, address, platform's number or name; never where two would fit."""

    def __init__(self, students: Iterable[Student]):
        self.students = list(students)
        self._by_name: dict[str, set[str]] = {}
        for s in self.students:
            names = [s.id, s.email, s.email.partition("@")[0], s.sis_login_id, s.sis_user_id]
            names += [s.first_name + s.last_name, s.last_name + s.first_name]
            for name in filter(None, map(plain, names)):
                self._by_name.setdefault(name, set()).add(s.id)
        self._by_number = {s.lms_user_id: s.id for s in self.students if s.lms_user_id}

    def of(self, path: tuple[str, ...], stem: str) -> Owner:
        """Looked for from the outermost folder inwards, since names further in are the student's
        own."""
        path = tuple(re.sub(r"\.zip$", "", part, flags=re.IGNORECASE) for part in path)
        for depth, part in enumerate(path):
            if owner := self._by_platform(part, path[depth:]):
                return owner
        for part in path[:-1]:
            if student := self.named(part):
                return Owner(student, student, path[-1])
        return self._by_words(path, stem)

    def _by_platform(self, part: str, rest: tuple[str, ...]) -> Owner | None:
        if match := MOODLE.fullmatch(part):
            name, file = match["name"], rest[-1] if len(rest) > 1 else match["file"]
            return Owner(self.named(name), name, file, moodle=part[: match.start("file")])
        if match := CANVAS.fullmatch(part):
            file = PurePath(match["file"])
            again = TRIES.search(file.stem)
            name = TRIES.sub("", file.stem) + file.suffix if again else file.name
            student = self.numbered(match["user"]) or self.named(match["name"])
            late, upload = bool(match["late"]), int(match["upload"])
            return Owner(student, match["name"], rest[-1] if len(rest) > 1 else name, late, upload)
        return None

    def numbered(self, number: str) -> str | None:
        """By the platform's own number, which may be somebody else's in the registry."""
        return self._by_number.get(number)

    def named(self, name: str) -> str | None:
        if any(name == student.id for student in self.students):
            return name
        ids = self._by_name.get(plain(name), set())
        return next(iter(ids)) if len(ids) == 1 else None

    def _by_words(self, path: tuple[str, ...], stem: str) -> Owner:
        """ada_03_softmax.ipynb, "03 softmax (Ada Lovelace).ipynb", ada.ipynb."""
        own = PurePath(path[-1]).stem
        rest = plain(own.replace(stem, " "))
        parts_of_name = {plain(word) for word in re.split(r"[\s_()+,;-]+", own)} | {rest}
        ids = {id for word in parts_of_name for id in self._by_name.get(word, ())}
        student = next(iter(ids)) if len(ids) == 1 else None
        # with no list at all the outermost folder is taken for the student's
        called = path[0] if len(path) > 1 else own
        return Owner(student, called, path[-1])
