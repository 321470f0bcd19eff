"""Whose is this file? Told from the names that learning platforms and people give to files."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from autograder.roster.csv_tables import plain
from autograder.roster.students import Student

# Ada Lovelace_1234_assignsubmission_file_/03_softmax.ipynb, or with the file's name at its end
MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+_?(?P<file>.*)")
# lovelaceada_late_1234_56789_03_softmax.ipynb; only what comes late is marked
CANVAS = re.compile(
    r"(?P<name>[^_]+)(?P<late>_late)?_(?P<user>\d+)_(?P<upload>\d+)_(?P<file>.+)", re.IGNORECASE
)
TRIES = re.compile(r"-(\d{1,3})$")
"""Canvas's own mark of a second and third hand-in."""


A_ZIP = re.compile(r"\.zip$", re.IGNORECASE)
Path = tuple[str, ...]
"""Names from the outside in; a zip is one of them."""


@dataclass(frozen=True)
class Owner:
    student: str | None
    called: str
    """The name under which the platform has them."""
    file: str
    """The file as its owner called it."""
    hand_in: Path = ()
    """The same for all files of one hand-in, and for no others of its source."""
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

    def depth(self, paths: Collection[Path], stem: str) -> int | None:
        """At which of the names of these paths it is told whose each is; None if at none.

        The outermost that names anybody: what lies further in was named by the students
        themselves. Folders around all of it are passed over only if each holds somebody, so that
        no hand-in whose own folder is not recognised can be taken for somebody else's.
        """
        for depth in range(max(map(len, paths), default=0)):
            around = {path[:depth] for path in paths if len(path) > depth}
            tell = {path[:depth] for path in paths if self._tells(path, depth, stem)}
            if tell:
                return depth if tell == around else 0
        return None

    def _tells(self, path: Path, depth: int, stem: str) -> bool:
        if len(path) <= depth:
            return False
        is_platforms = self._by_platform(path, depth) is not None
        return is_platforms or self.of(path, depth, stem).student is not None

    def of(self, path: Path, depth: int, stem: str) -> Owner:
        """Whose a file is where `depth` is the name that tells it; no other is looked at."""
        if len(path) <= depth:
            return Owner(None, path[0], path[-1], path)
        if owner := self._by_platform(path, depth):
            return owner
        name = A_ZIP.sub("", path[depth])
        if student := self.in_full(name, stem):
            return Owner(student, name, path[-1], path[: depth + 1])
        if len(path) > depth + 1:
            return Owner(None, name, path[-1], path[: depth + 1])
        own = PurePath(name).stem if name == path[depth] else name
        return Owner(self._by_words(own, stem), own, path[-1], path[: depth + 1])

    def of_all_in(self, name: str, stem: str, nothing_inside_tells: bool) -> Owner | None:
        """Whose all of a zip or a folder of this name is, if its name says so: for sure, or by a
        word of it, where nothing inside does."""
        owner = self.of((name,), 0, stem)
        sure = self._by_platform((name,), 0) or self.in_full(A_ZIP.sub("", name), stem)
        return owner if owner.student and (sure or nothing_inside_tells) else None

    def in_full(self, name: str, stem: str) -> str | None:
        """Where the name is a student's and nothing else, but for the assignment's."""
        return self.named(name) or self.named(name.replace(stem, " "))

    def _by_platform(self, path: Path, depth: int) -> Owner | None:
        part, inside = A_ZIP.sub("", path[depth]), len(path) > depth + 1
        if match := MOODLE.fullmatch(part):
            name, file = match["name"], path[-1] if inside else match["file"]
            hand_in = (*path[:depth], name, match["number"])
            moodle = part[: match.start("file")]
            return Owner(self._in_group(name), name, file, hand_in, moodle=moodle)
        if match := CANVAS.fullmatch(part):
            file = PurePath(match["file"])
            again = TRIES.search(file.stem)
            file_name = TRIES.sub("", file.stem) + file.suffix if again else file.name
            return Owner(
                student=self.numbered(match["user"]) or self.named(match["name"]),
                called=match["name"],
                file=path[-1] if inside else file_name,
                hand_in=("", match["user"]),  # in whichever zip: the numbers of uploads order them
                late=bool(match["late"]),
                upload=int(match["upload"]),
            )
        return None

    def alike(self, name: str) -> list[str]:
        """All to whom this name could belong."""
        return sorted(self._by_name.get(plain(name), ()))

    def _in_group(self, name: str) -> str | None:
        """Of "Group 1-Ada Lovelace", as Moodle calls those who hand in as groups."""
        parts = name.split("-")
        rests = ("-".join(parts[start:]) for start in range(len(parts)))
        return next(filter(None, map(self.named, rests)), None)

    def numbered(self, number: str) -> str | None:
        """By the platform's own number, which may be somebody else's in the registry."""
        return self._by_number.get(number)

    def named(self, name: str) -> str | None:
        if any(name == student.id for student in self.students):
            return name
        ids = self._by_name.get(plain(name), set())
        return next(iter(ids)) if len(ids) == 1 else None

    def _by_words(self, own: str, stem: str) -> str | None:
        """ada_03_softmax.ipynb, "03 softmax (Ada Lovelace).ipynb", ada.ipynb."""
        rest = plain(own.replace(stem, " "))
        parts_of_name = {plain(word) for word in re.split(r"[\s_()+,;-]+", own)} | {rest}
        ids = {id for word in parts_of_name for id in self._by_name.get(word, ())}
        return next(iter(ids)) if len(ids) == 1 else None
