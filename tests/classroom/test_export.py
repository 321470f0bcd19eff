"""Marks in the columns that Canvas and Moodle document, filled in and read back.

Each platform's reader is written down here from its manual: Canvas finds a student by ID, a column
by its heading, and the points under "    Points Possible"; Moodle's worksheet goes by Identifier.
What the verbs print is in tests/messages/test_course_verbs.py.
"""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from autograder.classroom.export import as_canvas, as_moodle, into_moodle_file, number
from autograder.classroom.marks import read_marks
from autograder.commands.export import export
from autograder.commands.extend import extend
from autograder.commands.init import enrol
from autograder.grading.gradebook import NotInGradebook
from autograder.release.course_folder import open_gradebook
from autograder.roster.extensions import ALL, Extension, read_extensions
from autograder.roster.students import Student, add_students, known_students
from tests.classroom.graded_course import (
    A_DAY_AND_A_HALF_LATE,
    CANVAS,
    DUE,
    WORKSHEET,
    grade,
    grade_late,
    record,
    run,
    template,
    url,
)
from tests.grading.gradebook_fixtures import PROOF, STEM, mark_by_hand, outcome

MOST = 9.0


@pytest.fixture
def graded(course):
    return grade(course)


@pytest.fixture
def export_it(graded):
    """Type words after `course export`."""

    def type_in(*words: str, code: int | None = None):
        return run(export, graded, *words, code=code)

    return type_in


def written(course, name: str) -> list[dict[str, str]]:
    text = (course / "exports" / name).read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_plain_table_has_a_line_for_everybody(graded, export_it):
    done = export_it(STEM, code=1)
    lines = {line["student"]: line for line in written(graded, f"{STEM}_csv.csv")}
    assert [lines[s]["score"] for s in ("ada", "grace", "emmy")] == ["8.5", "5", ""]
    assert {line["most"] for line in lines.values()} == {number(MOST)}
    states = {r.student.id: r.state for r in read_marks(graded, [STEM])}
    assert {id: line["state"] for id, line in lines.items()} == states
    assert len({states["ada"], states["grace"], states["emmy"]}) == 3
    waits = {r.student.id for r in read_marks(graded, [STEM]) if r.waits}
    assert waits == {"grace"}
    assert "Grace Hopper" in done.output and "Ada Lovelace" not in done.output


def test_again_gives_the_same_file(graded, export_it):
    export_it(STEM)
    first = (graded / "exports" / f"{STEM}_csv.csv").read_bytes()
    export_it(STEM)
    assert (graded / "exports" / f"{STEM}_csv.csv").read_bytes() == first


def canvas_reads(text: str) -> dict[str, dict[str, float]]:
    """Marks by student's number and assignment, as Canvas's import takes them."""
    lines = list(csv.reader(io.StringIO(text, newline="")))
    header = lines[0]
    who = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert header[:5] == who
    points = next(line for line in lines if line[0] == "    Points Possible")
    assert all(float(value) for value in points[5:])
    students = [line for line in lines[1:] if line[1]]
    return {
        line[1]: {
            name: float(mark) for name, mark in zip(header[5:], line[5:], strict=True) if mark
        }
        for line in students
    }


def test_canvas_reads_every_mark_back(graded, export_it):
    export_it(STEM, "--for", "canvas")
    text = (graded / "exports" / f"{STEM}_canvas.csv").read_text()
    assert canvas_reads(text) == {
        "1001": {STEM: 8.5}, "1002": {STEM: 5.0}
    }, "an empty cell would remove what Canvas has of Emmy and Kurt"  # fmt: skip
    assert '"Lovelace, Ada"' in text


@pytest.fixture
def into(graded, export_it, tmp_path):
    """Fill a platform's file in."""

    def fill(platform: str, text: str, *words: str, code: int | None = None):
        path = str(template(tmp_path, text))
        return export_it(STEM, "--for", platform, "--template", path, *words, code=code)

    return fill


def test_canvass_own_file_is_filled_in_and_nothing_else_is_touched(graded, into):
    done = into("canvas", CANVAS)
    text = (graded / "exports" / f"{STEM}_canvas.csv").read_text()
    name = "01_rows (8)"
    assert canvas_reads(text.replace("Manual Posting", "")) == {
        "1001": {name: 8.5}, "1002": {name: 5.0}, "1003": {name: 2.0}, "999": {}
    }  # fmt: skip
    assert "Essay" not in text and "Byron, George" in done.output and "Gödel" not in done.output


NAMES_APART = (
    "LastName,FirstName,ID,SIS User ID,SIS Login ID,Section,01_rows (8)\n"
    "    Points Possible,,,,,,9\n"
    "Byron,Ada,1002,1001,somebody@uni.example,A,\n"
    "Lovelace,Ada,1001,s-1,ada@uni.example,A,\n"
)


def test_canvas_may_show_the_names_apart_and_its_number_is_nobody_elses(graded, into):
    """Grace is 1002 there, whatever else the line says."""
    into("canvas", NAMES_APART)
    lines = (graded / "exports" / f"{STEM}_canvas.csv").read_text().splitlines()
    assert lines[0] == NAMES_APART.splitlines()[0]
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["9", "5", "8.5"]


def test_a_file_that_is_not_canvass_is_refused(graded, into):
    into("canvas", "Name,01_rows\nAda,\n", code=2)
    assert not (graded / "exports").exists()


def test_points_of_another_size_are_scaled_and_told(graded, into):
    done = into("canvas", CANVAS.replace(",5,9,", ",5,18,"))
    text = (graded / "exports" / f"{STEM}_canvas.csv").read_text()
    assert canvas_reads(text)["1001"] == {"01_rows (8)": 17.0}
    assert "18" in done.output and "Points Possible" in done.output


def test_a_column_that_cannot_be_told_is_asked_for(graded, into):
    other = CANVAS.replace("01_rows (8)", "Rows (8)")
    asked = into("canvas", other, code=2).output
    assert "--column" in asked and "'Essay (7)', 'Rows (8)'" in asked
    assert not (graded / "exports").exists()
    into("canvas", other, "--column", "Rows (8)", code=1)


def moodle_reads(text: str) -> dict[str, str]:
    """Marks by identifier, as Moodle's upload of a grading worksheet takes them."""
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    assert list(lines[0]) == WORKSHEET.partition("\n")[0].split(",")
    return {line["Identifier"]: line["Grade"] for line in lines}


def test_moodles_worksheet_is_filled_in(graded, into):
    done = into("moodle", WORKSHEET)
    text = (graded / "exports" / f"{STEM}_moodle.csv").read_text()
    assert moodle_reads(text) == {
        "Participant 41": "94.44", "Participant 42": "12.00", "Participant 43": ""
    }  # fmt: skip
    told = [line for line in done.output.splitlines() if line.startswith("grace Grace Hopper")]
    assert len(told) == 1, "her mark cannot be changed there"


def translated(**words: str) -> str:
    text = WORKSHEET.replace("Lovelace", "Byron")
    for word, other in words.items():
        text = text.replace(word.replace("_", " "), other)
    return text


def marks_written(course) -> list[str]:
    """Of a worksheet in whatever language."""
    lines = list(csv.reader((course / "exports" / f"{STEM}_moodle.csv").read_text().splitlines()))
    return [line[4] for line in lines[1:]]


@pytest.mark.parametrize(
    ("mark", "highest"),
    [
        ("Bewertung", "Höchste Bewertung"),
        ("Note", "Note maximale"),
        ("Calificación", "Calificación máxima"),
        ("Voto", "Voto massimo"),
        ("Grade", "Maximum grade"),
    ],
)
def test_the_highest_mark_is_known_in_other_languages(graded, into, tmp_path, mark, highest):
    """8.5 of 9 is 94.44 of 100, however the two columns are called."""
    text = translated(Maximum_Grade=highest, **{",Grade,": f",{mark},"})
    assert highest in into("moodle", text).output
    assert marks_written(graded)[0] == "94.44"
    done = into_moodle_file(read_marks(graded, [STEM]), template(tmp_path, text), None)
    assert done.back, "a worksheet goes back another way than the gradebook's export"


def test_where_the_highest_mark_is_not_known_nothing_is_written_until_it_is_said(graded, into):
    text = translated(Maximum_Grade="Bestwertung", **{",Grade,": ",Bewertung,"})
    assert "--out-of 100" in into("moodle", text, "--column", "Bewertung", code=2).output
    assert not (graded / "exports").exists()
    into("moodle", text, "--column", "Bewertung", "--out-of", "100")
    assert marks_written(graded)[0] == "94.44"


def test_a_worksheet_with_commas_in_its_numbers_keeps_them(graded, into):
    into("moodle", WORKSHEET.replace(",", ";").replace("100.00", "100,00"))
    text = (graded / "exports" / f"{STEM}_moodle.csv").read_text()
    assert moodle_reads(text)["Participant 41"] == "94,44"


def test_moodles_gradebook_gets_the_columns_of_its_own_export(graded, export_it):
    export_it(STEM, "--for", "moodle")
    lines = written(graded, f"{STEM}_moodle.csv")
    assert list(lines[0]) == [
        "First name", "Last name", "ID number", "Email address", f"Assignment: {STEM} (Real)",
    ]  # fmt: skip
    marks = {line["Email address"]: line[f"Assignment: {STEM} (Real)"] for line in lines}
    assert marks == {"ada@uni.example": "8.5", "grace@uni.example": "5"}, "as with Canvas"


def test_a_mark_for_one_of_two_chapters_leaves_a_cell_empty_and_is_told(graded, export_it):
    with open_gradebook(graded) as gradebook:
        gradebook.update_or_create_assignment("02_rows")
    both, one = read_marks(graded, [STEM, "02_rows"]), read_marks(graded, [STEM])
    for platform in (as_canvas, as_moodle):
        assert len(platform(both).notes) == len(platform(one).notes) + 1
    export_it("--for", "canvas", code=1)


def test_somebody_with_a_new_address_is_found_by_name(graded, into):
    into("moodle", WORKSHEET.replace("ada@uni.example", "someone@else.example"))
    assert "94.44" in (graded / "exports" / f"{STEM}_moodle.csv").read_text()


# lateness


@pytest.fixture
def late(course):
    return grade_late(course)


def scores(course) -> dict[str, float]:
    found = read_marks(course, [STEM])
    return {r.student.id: r.score for r in found if r.score is not None}


def grant(course, *words: str, code: int | None = None) -> str:
    return run(extend, course, *words, code=code).output


def granted(course) -> list[Extension]:
    return read_extensions(course).entries()


def test_each_day_begun_costs_its_percent(late):
    assert scores(late) == pytest.approx({"ada": 7 * 0.8, "grace": 7 * 0.8})


def test_a_late_penalty_follows_a_mark_given_by_hand(late):
    mark_by_hand(url(late), PROOF, "ada", manual_score=2.0)
    assert scores(late)["ada"] == pytest.approx(9 * 0.8)


def test_more_time_takes_the_penalty_away_also_after_grading(late):
    two_days = Extension("ada", STEM, timedelta(days=2))
    grant(late, STEM, "ada", "--days", "2", code=0)
    assert granted(late) == [two_days]
    assert scores(late) == pytest.approx({"ada": 7.0, "grace": 5.6})
    grant(late, STEM, "ada", "--days", "2", code=0)
    assert granted(late) == [two_days], "again is no further extension"
    assert scores(late)["ada"] == pytest.approx(7.0)
    grant(late, STEM, "ada", "--remove", code=0)
    assert scores(late)["ada"] == pytest.approx(5.6)


def test_more_time_that_was_given_beforehand_counts_when_they_hand_in(late):
    grant(late, STEM, "emmy", "--until", "2027-02-03 12:01", code=0)
    (extension,) = granted(late)
    moved = datetime(2027, 2, 3, 12, 1).astimezone() - DUE.replace(tzinfo=UTC)
    assert (extension.student, extension.assignment) == ("emmy", STEM)
    assert abs(extension.time - moved) < timedelta(seconds=1)
    assert "2027-02-03 12:01" in grant(late)
    record(late, outcome("emmy"), handed_in=A_DAY_AND_A_HALF_LATE)
    assert scores(late)["emmy"] == pytest.approx(7.0)


@pytest.mark.parametrize("less", [("--days", "-2"), ("--until", "2027-01-30 12:00")])
def test_less_time_is_refused(late, less):
    grant(late, STEM, "ada", *less, code=2)
    assert granted(late) == []


def test_an_accommodation_holds_everywhere_unless_a_chapter_says_otherwise(late):
    grant(late, "all", "ada", "--hours", "48", code=0)
    assert scores(late)["ada"] == pytest.approx(7.0)
    grant(late, STEM, "ada", "--hours", "24", code=0)
    assert scores(late)["ada"] == pytest.approx(6.3)
    assert Extension("ada", ALL, timedelta(days=2)) in granted(late)
    assert len(grant(late).splitlines()) == 2


def test_a_list_of_accommodations_names_people_as_lists_do(late, tmp_path):
    path = tmp_path / "list.csv"
    path.write_bytes("\ufeffStudent;Days\nada@uni.example;2\nnobody;1\n".encode())
    grant(late, "--list", str(path), code=1)
    assert granted(late) == [Extension("ada", ALL, timedelta(days=2))], "and nobody else"
    assert scores(late)["ada"] == pytest.approx(7.0)


def test_grading_again_keeps_extension_and_hand_mark(late):
    grant(late, STEM, "ada", "--days", "2")
    mark_by_hand(url(late), PROOF, "ada", manual_score=2.0)
    record(late, outcome("ada"))
    assert scores(late)["ada"] == pytest.approx(9.0)


def test_who_is_not_in_the_list_is_not_recorded(course):
    with pytest.raises(NotInGradebook, match="mallory"):
        record(course, outcome("mallory"))


def test_a_chapter_that_was_not_released_is_refused(course):
    assert STEM in run(export, course, "09_rows", code=2).output, "the ones that were"


def test_a_folder_that_is_no_course_is_refused(tmp_path):
    run(export, tmp_path, STEM, code=2)
    assert list(tmp_path.iterdir()) == []


FORMULAS = ("=HYPERLINK(1)", "+SUM(1)", "@x", "-2+3", "\t=1", "＝1")


def test_a_spreadsheet_finds_no_formula_in_our_tables(graded):
    """And a platform the very names that it knows."""
    students = [Student(f"s{n}", name, name) for n, name in enumerate(FORMULAS)]
    add_students(graded, students)
    enrol(graded, students)
    for stem, platform in ((STEM, "csv"), (STEM, "canvas")):
        run(export, graded, stem, "--for", platform)
    tables = [graded / "students.csv", graded / "exports" / f"{STEM}_csv.csv"]
    cells = [
        cell
        for path in tables
        for line in csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline=""))
        for cell in line
    ]
    assert not [cell for cell in cells if cell.strip()[:1] in tuple("=+@-＝＋－＠")]
    known = {student.id: student for student in known_students(graded)}
    assert [known[s.id].last_name for s in students] == [name.strip() for name in FORMULAS]
    record(graded, *(outcome(student.id) for student in students))
    run(export, graded, STEM, "--for", "moodle")
    assert {line["Last name"] for line in written(graded, f"{STEM}_moodle.csv")} >= {
        name.strip() for name in FORMULAS
    }


def test_a_time_told_after_grading_counts_at_the_next_export(graded):
    with open_gradebook(graded) as gradebook:
        gradebook.update_or_create_assignment(STEM, duedate=DUE)
    with (graded / "local_config.py").open("a") as settings:
        plugin = "autograder.classroom.late.PercentADay"
        settings.write(f"\nc.AssignLatePenalties.plugin_class = {plugin!r}\n")
    run(export, graded, STEM)
    before = {line["student"]: line for line in written(graded, f"{STEM}_csv.csv")}["ada"]
    folder = graded / "submitted" / "ada" / STEM
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text(f"{A_DAY_AND_A_HALF_LATE:%Y-%m-%d %H:%M:%S} UTC")
    run(export, graded, STEM)
    after = {line["student"]: line for line in written(graded, f"{STEM}_csv.csv")}["ada"]
    assert before["late_penalty"] == "0" and float(after["late_penalty"]) > 0
