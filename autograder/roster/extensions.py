"""More time for some: extensions.csv in the course folder, which an instructor may also edit."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from autograder.roster.csv_tables import BadTable, plain, read_sheet, write_sheet

FILE = "extensions.csv"
ALL = "all"
"""In the place of an assignment: an accommodation for the whole course."""
COLUMNS = ("student", "assignment", "hours")
_HEADERS = {
    "student": ("student", "id", "studentid", "username", "userid"),
    "assignment": ("assignment", "chapter"),
    "hours": ("hours", "hour"),
    "days": ("days", "day"),
}


@dataclass(frozen=True)
class Extension:
    student: str
    assignment: str
    time: timedelta


class Extensions:
    """Who has how much more time. What is said of one assignment counts instead of `all`."""

    def __init__(self, entries: list[Extension]):
        self._time = {(e.student, e.assignment): e.time for e in entries}

    def of(self, student: str, assignment: str) -> timedelta | None:
        """None where nothing is said: then nbgrader's own counts."""
        of_all = self._time.get((student, ALL))
        return self._time.get((student, assignment), of_all)

    def entries(self) -> list[Extension]:
        return [Extension(*key, time) for key, time in sorted(self._time.items())]

    def put(self, entry: Extension) -> None:
        self._time[entry.student, entry.assignment] = entry.time


def read_extensions(course: Path) -> Extensions:
    path = course / FILE
    return Extensions(read_list(path) if path.is_file() else [])


def write_extensions(course: Path, extensions: Extensions) -> None:
    lines = [
        [e.student, e.assignment, f"{e.time / timedelta(hours=1):g}"] for e in extensions.entries()
    ]
    write_sheet(course / FILE, [list(COLUMNS), *lines])


def read_list(path: Path) -> list[Extension]:
    """A table with a student, an assignment or none (which means all), and hours or days.

    Raises BadTable, with the line that is wrong.
    """
    sheet = read_sheet(path)
    named = {plain(name): name for name in sheet.header}
    columns = {
        field: named[name] for field, names in _HEADERS.items() for name in names if name in named
    }
    if "student" not in columns or not columns.keys() & {"hours", "days"}:
        raise BadTable(
            f"{path} needs the columns student, assignment, and hours or days; its first line is: "
            f"{', '.join(sheet.header[:8])}"
        )
    entries = []
    for row in sheet.rows:
        cells = {field: row.cells[column] for field, column in columns.items()}
        try:
            time = timedelta(**{unit: _number(cells.get(unit, "")) for unit in ("hours", "days")})
        except (ValueError, OverflowError):
            raise BadTable(f"{path}, line {row.number}: that is no time: {cells}") from None
        assignment = cells.get("assignment") or ALL
        assignment = ALL if assignment.casefold() in (ALL, "*") else assignment
        entries.append(Extension(cells["student"], assignment, time))
    return entries


def _number(text: str) -> float:
    return float(text.replace(",", ".") or 0)
