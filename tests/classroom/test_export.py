"""Marks in the columns that Canvas and Moodle document, filled in and read back.

Each platform's reader is written down here from its manual: Canvas finds a student by ID, a column
by its heading, and the points under "    Points Possible"; Moodle's worksheet goes by Identifier.
"""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from autograder.classroom.export import number
from autograder.classroom.marks import read_marks
from autograder.commands.export import export
from autograder.commands.extend import extend
from autograder.grading.gradebook import recorder_of
from autograder.release.course_folder import nbgrader_configuration, open_gradebook
from tests.grading.gradebook_fixtures import PROOF, STEM, mark_by_hand, outcome

MOST = 9.0


@pytest.fixture
def graded(course):
    """Ada has 3 + 4 and 1.5 for her proof, Grace 1 + 4 and waits; Emmy and Kurt handed in
    nothing."""
    record(course, outcome("ada"), outcome("grace", code=1.0))
    mark_by_hand(url(course), PROOF, "ada", manual_score=1.5)
    return course


def url(course) -> str:
    return f"sqlite:///{course / 'gradebook.db'}"


def record(course, *outcomes, handed_in=None):
    with recorder_of(course, nbgrader_configuration(course)) as recorder:
        for each in outcomes:
            recorder.record(each, each, handed_in)


def run(course, *words: str, code: int | None = None) -> str:
    done = CliRunner().invoke(export, [*words, "--course", str(course)])
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    assert code is None or done.exit_code == code, done.output
    return done.output


def written(course, name: str) -> list[dict[str, str]]:
    text = (course / "exports" / name).read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_plain_table_has_a_line_for_everybody(graded):
    said = run(graded, STEM, code=1)
    lines = {line["student"]: line for line in written(graded, f"{STEM}_csv.csv")}
    assert [lines[s]["score"] for s in ("ada", "grace", "emmy")] == ["8.5", "5", ""]
    states = [lines[s]["state"] for s in ("ada", "grace", "emmy")]
    assert states == ["graded", "waits for a person", "not handed in"]
    assert {line["most"] for line in lines.values()} == {number(MOST)}
    assert "not final, since a person has still to mark some of it: grace Grace Hopper" in said


def test_again_gives_the_same_file(graded):
    run(graded, STEM)
    first = (graded / "exports" / f"{STEM}_csv.csv").read_bytes()
    run(graded, STEM)
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


def test_canvas_reads_every_mark_back(graded):
    run(graded, STEM, "--for", "canvas")
    text = (graded / "exports" / f"{STEM}_canvas.csv").read_text()
    assert canvas_reads(text) == {
        "1001": {STEM: 8.5}, "1002": {STEM: 5.0}
    }, "an empty cell would remove what Canvas has of Emmy and Kurt"  # fmt: skip
    assert '"Lovelace, Ada"' in text


CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Essay (7),01_rows (8),Current Score\n"
    ",,,,,,Manual Posting,\n"
    "    Points Possible,,,,,5,9,(read only)\n"
    '"Lovelace, Ada",1001,s-1,ada@uni.example,A,3,,60\n'
    '"Hopper, Grace",1002,s-2,grace@uni.example,A,4,2,\n'
    '"Noether, Emmy",1003,s-3,emmy@uni.example,A,4,2,\n'
    '"Byron, George",999,s-9,george@uni.example,A,4,,\n'
)


def test_canvass_own_file_is_filled_in_and_nothing_else_is_touched(graded, tmp_path):
    template = tmp_path / "canvas.csv"
    template.write_text(CANVAS)
    said = run(graded, STEM, "--for", "canvas", "--template", str(template))
    text = (graded / "exports" / f"{STEM}_canvas.csv").read_text()
    name = "01_rows (8)"
    assert canvas_reads(text.replace("Manual Posting", "")) == {
        "1001": {name: 8.5}, "1002": {name: 5.0}, "1003": {name: 2.0}, "999": {}
    }  # fmt: skip
    assert "Essay" not in text and "Byron, George" in said and "Gödel" not in said


NAMES_APART = (
    "LastName,FirstName,ID,SIS User ID,SIS Login ID,Section,01_rows (8)\n"
    "    Points Possible,,,,,,9\n"
    "Byron,Ada,1002,1001,somebody@uni.example,A,\n"
    "Lovelace,Ada,1001,s-1,ada@uni.example,A,\n"
)


def test_canvas_may_show_the_names_apart_and_its_number_is_nobody_elses(graded, tmp_path):
    """Grace is 1002 there, whatever else the line says."""
    template = tmp_path / "canvas.csv"
    template.write_text(NAMES_APART)
    run(graded, STEM, "--for", "canvas", "--template", str(template))
    lines = (graded / "exports" / f"{STEM}_canvas.csv").read_text().splitlines()
    assert lines[0] == NAMES_APART.splitlines()[0]
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["9", "5", "8.5"]


def test_a_file_that_is_not_canvass_is_told(graded, tmp_path):
    template = tmp_path / "list.csv"
    template.write_text("Name,01_rows\nAda,\n")
    words = STEM, "--for", "canvas", "--template", str(template)
    assert "is no export of Canvas" in run(graded, *words, code=2)


def test_points_of_another_size_are_scaled_and_told(graded, tmp_path):
    template = tmp_path / "canvas.csv"
    template.write_text(CANVAS.replace(",5,9,", ",5,18,"))
    said = run(graded, STEM, "--for", "canvas", "--template", str(template))
    text = (graded / "exports" / f"{STEM}_canvas.csv").read_text()
    assert canvas_reads(text)["1001"] == {"01_rows (8)": 17.0}
    assert "Points Possible is 18 there and 9 here: marks are scaled" in said


def test_a_column_that_cannot_be_told_is_asked_for(graded, tmp_path):
    template = tmp_path / "canvas.csv"
    template.write_text(CANVAS.replace("01_rows (8)", "Rows (8)"))
    words = STEM, "--for", "canvas", "--template", str(template)
    assert "Say it with --column. There are: 'Essay (7)', 'Rows (8)'" in run(graded, *words, code=2)
    run(graded, *words, "--column", "Rows (8)", code=1)


WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    "Participant 41,Ada Lovelace,ada@uni.example,Submitted for grading,,100.00,Yes,-,-,\n"
    "Participant 42,Grace Hopper,grace@uni.example,Submitted for grading,12.00,100.00,No,-,-,good\n"
    "Participant 43,Emmy Noether,emmy@uni.example,No submission,,100.00,Yes,-,-,\n"
)


def moodle_reads(text: str) -> dict[str, str]:
    """Marks by identifier, as Moodle's upload of a grading worksheet takes them."""
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    assert list(lines[0]) == WORKSHEET.partition("\n")[0].split(",")
    return {line["Identifier"]: line["Grade"] for line in lines}


def test_moodles_worksheet_is_filled_in(graded, tmp_path):
    template = tmp_path / "worksheet.csv"
    template.write_text(WORKSHEET)
    said = run(graded, STEM, "--for", "moodle", "--template", str(template))
    text = (graded / "exports" / f"{STEM}_moodle.csv").read_text()
    assert moodle_reads(text) == {
        "Participant 41": "94.44", "Participant 42": "12.00", "Participant 43": ""
    }  # fmt: skip
    assert "Maximum Grade is 100 there and 9 here: marks are scaled" in said
    assert "grace Grace Hopper: Moodle says the grade cannot be changed" in said


def translated(tmp_path, **words: str):
    text = WORKSHEET.replace("Lovelace", "Byron")
    for word, other in words.items():
        text = text.replace(word.replace("_", " "), other)
    template = tmp_path / "worksheet.csv"
    template.write_text(text)
    return STEM, "--for", "moodle", "--template", str(template)


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
def test_the_highest_mark_is_known_in_other_languages(graded, tmp_path, mark, highest):
    """8.5 of 9 is 94.44 of 100, however the two columns are called."""
    words = translated(tmp_path, Maximum_Grade=highest, **{",Grade,": f",{mark},"})
    said = run(graded, *words)
    text = (graded / "exports" / f"{STEM}_moodle.csv").read_text()
    assert "Ada Byron,ada@uni.example,Submitted for grading,94.44," in text
    assert f"{highest} is 100 there and 9 here: marks are scaled" in said
    assert "Upload grading worksheet" in said and "CSV file" not in said


def test_where_the_highest_mark_is_not_known_nothing_is_written_until_it_is_said(graded, tmp_path):
    words = translated(tmp_path, Maximum_Grade="Bestwertung", **{",Grade,": ",Bewertung,"})
    words += ("--column", "Bewertung")
    said = run(graded, *words, code=2)
    assert "does not say what marks are out of there" in said and "--out-of 100" in said
    assert not (graded / "exports").exists()
    assert "Upload grading worksheet" in run(graded, *words, "--out-of", "100")
    text = (graded / "exports" / f"{STEM}_moodle.csv").read_text()
    assert "Ada Byron,ada@uni.example,Submitted for grading,94.44," in text


def test_a_worksheet_with_commas_in_its_numbers_keeps_them(graded, tmp_path):
    template = tmp_path / "worksheet.csv"
    template.write_text(WORKSHEET.replace(",", ";").replace("100.00", "100,00"))
    run(graded, STEM, "--for", "moodle", "--template", str(template))
    text = (graded / "exports" / f"{STEM}_moodle.csv").read_text()
    assert moodle_reads(text)["Participant 41"] == "94,44"


def test_moodles_gradebook_gets_the_columns_of_its_own_export(graded):
    run(graded, STEM, "--for", "moodle")
    lines = written(graded, f"{STEM}_moodle.csv")
    assert list(lines[0]) == [
        "First name", "Last name", "ID number", "Email address", f"Assignment: {STEM} (Real)",
    ]  # fmt: skip
    marks = {line["Email address"]: line[f"Assignment: {STEM} (Real)"] for line in lines}
    assert marks == {"ada@uni.example": "8.5", "grace@uni.example": "5"}, "as with Canvas"


def test_a_mark_for_one_of_two_chapters_leaves_a_cell_empty_and_says_so(graded):
    with open_gradebook(graded) as gradebook:
        gradebook.update_or_create_assignment("02_rows")
    assert "Export one chapter at a time" in run(graded, "--for", "canvas", code=1)
    assert "Export one chapter at a time" not in run(graded, STEM, "--for", "moodle")


def test_somebody_with_a_new_address_is_found_by_name(graded, tmp_path):
    template = tmp_path / "worksheet.csv"
    template.write_text(WORKSHEET.replace("ada@uni.example", "someone@else.example"))
    run(graded, STEM, "--for", "moodle", "--template", str(template))
    assert "94.44" in (graded / "exports" / f"{STEM}_moodle.csv").read_text()


# lateness


DUE = datetime(2027, 1, 31, 12)


@pytest.fixture
def late(course):
    """Ten percent a day; Ada and Grace handed in a day and a half late."""
    settings = course / "local_config.py"
    settings.write_text(
        settings.read_text()
        + 'c.AssignLatePenalties.plugin_class = "autograder.classroom.late.PercentADay"\n'
    )
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(STEM, duedate=DUE)
    when = DUE.replace(tzinfo=UTC) + timedelta(hours=36)
    record(course, outcome("ada"), outcome("grace"), handed_in=when)
    return course


def scores(course) -> dict[str, float]:
    found = read_marks(course, [STEM])
    return {r.student.id: r.score for r in found if r.score is not None}


def grant(course, *words: str) -> str:
    done = CliRunner().invoke(extend, [*words, "--course", str(course)])
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    return done.output


def test_each_day_begun_costs_its_percent(late):
    assert scores(late) == pytest.approx({"ada": 7 * 0.8, "grace": 7 * 0.8})


def test_a_late_penalty_follows_a_mark_given_by_hand(late):
    mark_by_hand(url(late), PROOF, "ada", manual_score=2.0)
    assert scores(late)["ada"] == pytest.approx(9 * 0.8)


def test_more_time_takes_the_penalty_away_also_after_grading(late):
    assert "ada Ada Lovelace: 2 more days for 01_rows" in grant(late, STEM, "ada", "--days", "2")
    assert scores(late) == pytest.approx({"ada": 7.0, "grace": 5.6})
    grant(late, STEM, "ada", "--days", "2")
    assert scores(late)["ada"] == pytest.approx(7.0), "again is no further extension"
    said = grant(late, STEM, "ada", "--remove")
    assert "the extension for 01_rows is taken away" in said
    assert scores(late)["ada"] == pytest.approx(5.6)


def test_more_time_that_was_given_beforehand_counts_when_they_hand_in(late):
    said = grant(late, STEM, "emmy", "--until", "2027-02-03 12:01")
    assert "emmy Emmy Noether: until 2027-02-03 12:01 for 01_rows" in said
    assert "until 2027-02-03 12:01" in grant(late)
    when = DUE.replace(tzinfo=UTC) + timedelta(hours=36)
    record(late, outcome("emmy"), handed_in=when)
    assert scores(late)["emmy"] == pytest.approx(7.0)


@pytest.mark.parametrize("less", [("--days", "-2"), ("--until", "2027-01-30 12:00")])
def test_less_time_is_refused(late, less):
    assert "less time than the others cannot be given" in grant(late, STEM, "ada", *less)
    assert "nobody has more time" in grant(late)


def test_an_accommodation_holds_everywhere_unless_a_chapter_says_otherwise(late):
    grant(late, "all", "ada", "--hours", "48")
    assert scores(late)["ada"] == pytest.approx(7.0)
    grant(late, STEM, "ada", "--hours", "24")
    assert scores(late)["ada"] == pytest.approx(6.3)
    assert "ada Ada Lovelace  all  2 more days" in grant(late)


def test_a_list_of_accommodations_names_people_as_lists_do(late, tmp_path):
    path = tmp_path / "list.csv"
    path.write_bytes("\ufeffStudent;Days\nada@uni.example;2\nnobody;1\n".encode())
    said = grant(late, "--list", str(path))
    assert "nobody: no student is called so" in said
    assert scores(late)["ada"] == pytest.approx(7.0)


def test_grading_again_keeps_extension_and_hand_mark(late):
    grant(late, STEM, "ada", "--days", "2")
    mark_by_hand(url(late), PROOF, "ada", manual_score=2.0)
    record(late, outcome("ada"))
    assert scores(late)["ada"] == pytest.approx(9.0)


def test_who_is_not_in_the_list_is_not_recorded(course):
    from autograder.grading.gradebook import NotInGradebook

    with pytest.raises(NotInGradebook, match="mallory is not in the list of students"):
        record(course, outcome("mallory"))


def test_a_chapter_that_was_not_released_is_told(course):
    assert "was not released here; released: 01_rows" in run(course, "09_rows", code=2)


def test_a_folder_that_is_no_course_is_told(tmp_path):
    assert "is no course folder. Make one with  course init" in run(tmp_path, STEM, code=2)
