"""The list of students: read from whatever a platform exports, kept as students.csv."""

import re
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from autograder.roster.csv_tables import BadTable, Row, plain, read_sheet, write_sheet

LIST = "students.csv"
NO_PART_OF_A_NAME = re.compile(r"[^\w.@-]")
"""An id is a folder's name and, in nbgrader's exchange, a part of one between + signs."""

# for each field the headers that are known for it, the surest first, as `plain` makes them
HEADERS = {
    "id": """id studentid username sisloginid userid login loginid netid uid idnumber sisuserid
        matriculationnumber matrikelnummer matriculation registrationnumber studentnumber
        benutzername kennung identifiant""",
    "last_name": "lastname surname familyname nachname familienname nom apellido apellidos",
    "first_name": "firstname givenname forename vorname prenom nombre",
    "name": "name fullname student studentname displayname vollstandigername nomcomplet",
    "email": "email emailaddress mail emailadresse courriel",
    "lms_user_id": "lmsuserid canvasid canvasuserid moodleid",
    "sis_user_id": "sisuserid sisid idnumber",
    "sis_login_id": "sisloginid",
    "section": "section sections group groups",
}
_CANVAS = ("Student", "LastName")
"""With what its export begins; ours has the other columns, too."""


@dataclass(frozen=True)
class Student:
    """One of the class, with the names by which platforms know them."""

    id: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    sis_user_id: str = ""
    sis_login_id: str = ""
    section: str = ""

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip() or self.id

    @property
    def label(self) -> str:
        """The id, which may be a number, and whose it is."""
        return f"{self.id} {self.first_name} {self.last_name}".strip().replace("  ", " ")


@dataclass(frozen=True)
class Read:
    """Who is in a list, and what there is to say about it."""

    students: list[Student]
    notes: list[str]
    refused: list[str]
    """Lines that were left out: a person must look."""
    derived: frozenset[str] = frozenset()
    """Ids that were made of e-mail addresses."""


def read_students(path: Path) -> Read:
    """Everybody in this table once, however its columns are called. Raises BadTable, OSError."""
    sheet = read_sheet(path)
    columns = _columns(sheet.header, path)
    first_seen: dict[str, tuple[Student, int]] = {}
    notes = list(sheet.notes)
    refused: list[str] = []
    derived: set[str] = set()
    for row in sheet.rows:
        student = _student(row, columns, notes, refused)
        if student is None:
            continue
        if not row.cells.get(columns.get("id", "")):
            derived.add(student.id)
        other, line = first_seen.setdefault(student.id.casefold(), (student, row.number))
        if line == row.number:
            continue
        if plain(other.name) == plain(student.name):
            notes.append(f"line {row.number}: {student.id} stands there twice; taken once")
        else:
            refused.append(
                f"line {row.number}: {student.id} is {student.name} here and {other.name} in "
                f"line {line}; only the first was taken"
            )
    students = [student for student, _ in first_seen.values()]
    if not students:
        raise BadTable(f"Nobody stands in {path}.")
    return Read(students, notes + _shared_addresses(students), refused, frozenset(derived))


def _columns(header: list[str], path: Path) -> dict[str, str]:
    """Which of the header's names gives each field."""
    by_plain_name = {plain(name): name for name in header}
    columns = {}
    for field, names in HEADERS.items():
        for name in names.split():
            if name in by_plain_name:
                columns[field] = by_plain_name[name]
                break
    if header[0] in _CANVAS and by_plain_name.keys() >= {"id", "sisloginid"}:
        # there ID is Canvas's own number, which nobody logs in with
        columns |= {"id": by_plain_name["sisloginid"], "lms_user_id": by_plain_name["id"]}
    if "id" not in columns and "email" not in columns:
        raise BadTable(
            f"{path} has no column with an id or an e-mail address. Its first line is: "
            f"{', '.join(header[:8])}\nCall the column of ids `id`; beside it may stand "
            "last_name, first_name, email."
        )
    return columns


def _student(
    row: Row, columns: dict[str, str], notes: list[str], refused: list[str]
) -> Student | None:
    values = {field: row.cells[column] for field, column in columns.items()}
    name = values.pop("name", "")
    called = name or values.get("last_name", "") + values.get("first_name", "")
    if plain(called) in ("pointspossible", "studenttest", "teststudent"):
        return None  # lines of Canvas's own
    if name and not values.get("last_name"):
        values["last_name"], values["first_name"] = _parts(name)
    given = values.pop("id", "") or values.get("email", "").partition("@")[0]
    if not given:
        refused.append(f"line {row.number}: {name or 'somebody'} has no id; left out")
        return None
    safe = NO_PART_OF_A_NAME.sub("_", given).lstrip(".-")
    if safe != given:
        notes.append(f"line {row.number}: the id {given!r} cannot name a folder; it is {safe} here")
    if not safe:
        refused.append(f"line {row.number}: {given!r} is no id; left out")
        return None
    return Student(safe, **values)


def _parts(name: str) -> tuple[str, str]:
    """Last and first name of "Lovelace, Ada" or "Ada Lovelace"."""
    if "," in name:
        last, first = name.split(",", 1)
    else:
        first, _, last = name.rpartition(" ")
    return last.strip(), first.strip()


def _shared_addresses(students: Iterable[Student]) -> list[str]:
    by_address: dict[str, list[str]] = {}
    for student in students:
        if student.email:
            by_address.setdefault(student.email.casefold(), []).append(student.id)
    return [
        f"{' and '.join(ids)} have the same address, {address}: one person twice?"
        for address, ids in by_address.items()
        if len(ids) > 1
    ]


def known_students(course: Path) -> list[Student]:
    """The class list of this course; empty where none was given.

    Raises BadTable where the list has lost its ids.
    """
    path = course / LIST
    if not path.is_file():
        return []
    if "id" not in map(plain, read_sheet(path).header):
        raise BadTable(
            f"{path} has lost its column `id`, by which marks and work are kept; from the other "
            "columns everybody would get a new one. Put the column back, for instance from a "
            "backup, and type the same again."
        )
    return read_students(path).students


def labels(students: Iterable[Student]) -> Callable[[str], str]:
    """From an id to what is printed."""
    label_of = {student.id: student.label for student in students}
    return lambda id: label_of.get(id, id)


def refuse_new_ids(path: Path, read: Read, enrolled: Iterable[Student]) -> None:
    """An address without an id must not make a second student of somebody who is known.

    Raises BadTable.
    """
    by_address = {s.email.casefold(): s.id for s in enrolled if s.email}
    for student in read.students:
        here = by_address.get(student.email.casefold(), student.id)
        if student.id in read.derived and here != student.id:
            raise BadTable(
                f"{path} has no id for {student.email}; made of the address it would be "
                f"{student.id}, and in this course it is {here}. Give a list with the ids."
            )


def add_students(course: Path, new: list[Student]) -> tuple[list[Student], list[Student]]:
    """Put them into the list: who is new, and who is in the list but not among these.

    Nobody is ever taken out; what a new list does not know about somebody stays.
    """
    before = {student.id: student for student in known_students(course)}
    now = {student.id: student for student in new}
    merged = before | {
        id: _filled_in(student, before[id]) if id in before else student
        for id, student in now.items()
    }
    write_students(course, merged.values())
    added = [student for id, student in now.items() if id not in before]
    return added, [student for id, student in before.items() if id not in now]


def write_students(course: Path, students: Iterable[Student]) -> None:
    everybody = sorted(students, key=lambda s: (plain(s.last_name), plain(s.first_name)))
    names = [field.name for field in fields(Student)]
    write_sheet(course / LIST, [names, *map(list, map(astuple, everybody))], bom=True)


def _filled_in(student: Student, before: Student) -> Student:
    gaps = {
        f.name: getattr(before, f.name) for f in fields(Student) if not getattr(student, f.name)
    }
    return replace(student, **gaps)
