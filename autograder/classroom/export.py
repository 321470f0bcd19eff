"""Marks as a plain table, and in the columns that Canvas and Moodle read back.

Canvas, Grades > Import: Student, ID, SIS User ID, SIS Login ID, Section, then one column an
assignment, `Name (number)` if it exists there; a line "Points Possible" under the header.
Moodle, Grades > Import > CSV file: the columns of its own export, `Assignment: name (Real)`.
Moodle, the assignment's offline grading worksheet: Identifier and Grade among others.

Both take an empty cell for "no mark" and remove what is there, so who has none is in no line.

Where a file of the platform's own is given, its columns, names and numbers are kept as they are and
only the marks are filled in.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from autograder.classroom.identify import Owners
from autograder.classroom.marks import Result
from autograder.roster.csv_tables import BadTable, Sheet, plain, read_sheet
from autograder.roster.students import Student

CANVAS_WHO = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
CANVAS_SPLIT = ["LastName", "FirstName"]
"""In the place of Student, where a course shows the two names apart."""
MOODLE_WHO = ["First name", "Last name", "ID number", "Email address"]
WORKSHEET = {
    "maximumgrade": "grade",
    "hochstebewertung": "bewertung",
    "notemaximale": "note",
    "calificacionmaxima": "calificacion",
    "votomassimo": "voto",
}
"""Of Moodle's grading worksheet, as `plain` makes them: the highest mark's column, the mark's."""
PARTICIPANT = re.compile(r"\D+\d+")
"""Participant 41, in whatever language: with this each line of a worksheet begins."""
WORKSHEET_BACK = "in Moodle, in the assignment: Grading action > Upload grading worksheet"
POINTS_POSSIBLE = "    Points Possible"
"""With Canvas's own four spaces, by which it knows the line."""
EMPTY_CELLS = (
    "some have a mark for one of these chapters and none for another: Canvas and Moodle take the "
    "empty cell for no mark, also where they have one. Export one chapter at a time to keep it."
)
CSV_COLUMNS = [
    "student", "last_name", "first_name", "email", "assignment", "score", "most",
    "late_penalty", "state", "handed_in_utc",
]  # fmt: skip


@dataclass
class Export:
    """The lines of the file, and what did not fit into it."""

    lines: list[list[str]]
    notes: list[str] = field(default_factory=list)
    back: str = ""
    """How the platform takes it back, where that depends on the file."""


def as_csv(results: list[Result]) -> Export:
    """One line for each student and assignment."""
    lines = [
        [
            *(r.student.id, r.student.last_name, r.student.first_name, r.student.email),
            *(r.assignment, number(r.score), number(r.most), number(r.penalty), r.state),
            f"{r.handed_in:%Y-%m-%d %H:%M:%S}" if r.handed_in else "",
        ]
        for r in results
    ]
    return Export([CSV_COLUMNS, *lines])


def as_canvas(results: list[Result]) -> Export:
    stems, of, most = _by_student(results)
    lines = [CANVAS_WHO + stems]
    lines.append([POINTS_POSSIBLE, "", "", "", "", *(number(most[stem]) for stem in stems)])
    export = Export(lines)
    for student, marks in of:
        who = [_last_first(student), student.lms_user_id, student.sis_user_id]
        login = student.sis_login_id or student.id
        lines.append([*who, login, student.section, *(number(marks[stem].score) for stem in stems)])
    export.notes += _empty_cells(of)
    if any(not student.lms_user_id for student, _ in of):
        export.notes.append(
            "Canvas's own number (ID) is not known of everybody: Canvas goes by SIS Login ID then. "
            "If it does not know them, give its own export with --template."
        )
    return export


def as_moodle(results: list[Result]) -> Export:
    stems, of, _ = _by_student(results)
    lines = [MOODLE_WHO + [f"Assignment: {stem} (Real)" for stem in stems]]
    for student, marks in of:
        who = [student.first_name, student.last_name, student.sis_user_id or student.id]
        marks_of = (number(marks[stem].score) for stem in stems)
        lines.append([*who, student.email, *marks_of])
    export = Export(lines)
    export.notes += _empty_cells(of)
    if any(not student.email for student, _ in of):
        export.notes.append("Not everybody has an e-mail address here: map Moodle's ID number.")
    return export


def into_canvas_file(
    results: list[Result], template: Path, column: str | None, out_of: float | None = None
) -> Export:
    """Canvas's export, cut to who they are and this one assignment, with our marks."""
    sheet, (stem, most, of) = read_sheet(template), _one_assignment(results)
    first = sheet.header[0]
    if "ID" not in sheet.header or first not in ("Student", "LastName"):
        raise BadTable(
            f"{template} is no export of Canvas: it does not begin with Student, or LastName, and "
            "has ID beside it. In Canvas: Grades, Export."
        )
    chosen = _column(sheet, template, stem, column, not_among=CANVAS_WHO + CANVAS_SPLIT)
    who = [name for name in sheet.header if name in CANVAS_WHO + CANVAS_SPLIT]
    special = [row for row in sheet.rows if not row.cells["ID"]]  # points, posting policy
    points = next(
        (r.cells[chosen] for r in special if plain(r.cells[first]) == "pointspossible"), ""
    )
    export = Export([[*who, chosen]])
    scale = _scale(out_of or points, most, "Points Possible", export)
    for row in special:
        label = POINTS_POSSIBLE if "possible" in row.cells[first].lower() else None
        cells = [row.cells[name] for name in who]
        export.lines.append([label or cells[0], *cells[1:], row.cells[chosen]])

    def line(row: dict[str, str], result: Result | None) -> list[str]:
        score = result.score if result else None
        kept = row[chosen] if score is None else number(scale(score))
        return [*(row[name] for name in who), kept]

    rows = [row.cells for row in sheet.rows if row.cells["ID"]]
    by = ["SIS Login ID", "SIS User ID", "Student"]
    if not {"SIS Login ID", "SIS User ID"} & set(sheet.header):
        by.insert(0, "ID")  # then our ids may come from there
    return _fill(rows, of, by, line, export)


def into_moodle_file(
    results: list[Result], template: Path, column: str | None, out_of: float | None = None
) -> Export:
    """A grading worksheet, or the export of Moodle's gradebook, with our marks filled in."""
    sheet, (stem, most, of) = read_sheet(template), _one_assignment(results)
    header = {plain(name): name for name in sheet.header}
    maximum = next((name for name in WORKSHEET if name in header), "")
    mark = None if column else header.get(WORKSHEET.get(maximum, ""))
    chosen = mark or _column(sheet, template, stem, column, not_among=MOODLE_WHO)
    export = Export([sheet.header])
    if all(PARTICIPANT.fullmatch(row.cells[sheet.header[0]]) for row in sheet.rows):
        export.back = WORKSHEET_BACK
    highest = next((row.cells[header[maximum]] for row in sheet.rows), "") if maximum else ""
    scale = _scale(out_of or highest, most, header.get(maximum, "the highest mark"), export)
    comma = "," in highest

    def line(row: dict[str, str], result: Result | None) -> list[str]:
        locked = row.get("Grade can be changed", "Yes").casefold() in ("no", "nein", "non")
        if result and result.score is not None and locked:
            export.notes.append(f"{result.student.label}: Moodle says the grade cannot be changed")
        elif result and result.score is not None:
            mark = number(scale(result.score))
            row = row | {chosen: mark.replace(".", ",") if comma else mark}
        return [row[name] for name in sheet.header]

    by = ["ID number", "Email address", "Username", "Full name"]
    return _fill([row.cells for row in sheet.rows], of, by, line, export)


def _fill(
    rows: list[dict[str, str]],
    of: dict[str, Result],
    by: list[str],
    line: Callable[[dict[str, str], Result | None], list[str]],
    export: Export,
) -> Export:
    owners = Owners([result.student for result in of.values()])
    met: set[str | None] = set()
    for row in rows:
        names = [row[name] for name in by if row.get(name)]
        names += [cell for cell in row.values() if "@" in cell]  # whatever its header's language
        for first, last in (("First name", "Last name"), ("FirstName", "LastName")):
            names.append(f"{row.get(first, '')} {row.get(last, '')}".strip())
        candidates = map(owners.named, filter(None, names))
        student = owners.numbered(row.get("ID", "")) or next(filter(None, candidates), None)
        if student is None:
            export.notes.append(f"{', '.join(filter(None, names))}: not in this course; left as is")
        met.add(student)
        export.lines.append(line(row, of.get(student) if student else None))
    for id, result in of.items():
        if id not in met and result.score is not None:
            export.notes.append(
                f"{result.student.label} has {number(result.score)} points here and no line "
                "in the platform's file"
            )
    return export


def _one_assignment(results: list[Result]) -> tuple[str, float, dict[str, Result]]:
    return results[0].assignment, results[0].most, {r.student.id: r for r in results}


def _column(
    sheet: Sheet, template: Path, stem: str, column: str | None, not_among: list[str]
) -> str:
    """The one that is meant, or a question with all that it could be."""
    there = [name for name in sheet.header if name and name not in not_among]
    wanted = plain(column or stem)
    fitting = [name for name in there if name == column] or [n for n in there if wanted in plain(n)]
    if len(fitting) != 1:
        raise BadTable(
            f"Which column of {template} is {column or stem}? Say it with --column. There are: "
            + ", ".join(repr(name) for name in there)
        )
    return fitting[0]


def _scale(points: str | float, most: float, named: str, export: Export) -> Callable:
    """To the platform's highest mark, where that is another."""
    try:
        theirs = float(str(points).replace(",", "."))
    except ValueError:
        raise BadTable(
            "the platform's file does not say what marks are out of there; here they are out of "
            f"{number(most)}. Say it with --out-of, such as --out-of 100; nothing was written."
        ) from None
    if theirs == most or not most:
        return lambda score: score
    export.notes.append(
        f"{named} is {number(theirs)} there and {number(most)} here: marks are scaled"
    )
    return lambda score: score * theirs / most


def _by_student(
    results: list[Result],
) -> tuple[list[str], list[tuple[Student, dict[str, Result]]], dict[str, float]]:
    of: dict[str, tuple[Student, dict[str, Result]]] = {}
    for result in results:
        of.setdefault(result.student.id, (result.student, {}))[1][result.assignment] = result
    most = {result.assignment: result.most for result in results}
    marked = [entry for entry in of.values() if any(r.score is not None for r in entry[1].values())]
    return list(most), marked, most


def _empty_cells(of: list[tuple[Student, dict[str, Result]]]) -> list[str]:
    empty = any(result.score is None for _, marks in of for result in marks.values())
    return [EMPTY_CELLS] if empty else []


def _last_first(student: Student) -> str:
    return f"{student.last_name}, {student.first_name}".strip(", ") or student.id


def number(value: float | None) -> str:
    """At most two places, no zeros at the end; empty where there is none."""
    return "" if value is None else re.sub(r"\.?0+$", "", f"{value:.2f}")
