"""Marks into tables, cell by cell: no gradebook, only results and what a platform gave."""

from datetime import datetime

import pytest

from autograder.classroom.export import (
    CANVAS_WHO,
    CSV_COLUMNS,
    MOODLE_WHO,
    POINTS_POSSIBLE,
    WORKSHEET_BACK,
    as_canvas,
    as_csv,
    as_moodle,
    into_canvas_file,
    into_moodle_file,
    number,
)
from autograder.classroom.marks import Result
from autograder.roster.csv_tables import BadTable
from autograder.roster.students import Student
from tests.classroom.graded_course import CLASS, template

ADA, GRACE, EMMY, KURT = CLASS
NOBODYS_FIELDS = Student("alan")
ONE, TWO = "01_rows", "02_rows"


def result(student: Student, earned: float | None, stem: str = ONE, most: float = 9.0) -> Result:
    return Result(student, stem, most, earned)


RESULTS = [result(ADA, 8.5), result(GRACE, 0.0), result(EMMY, None)]


def test_each_field_of_the_plain_table():
    handed_in = datetime(2027, 2, 3, 4, 5, 6)
    lines = as_csv([Result(ADA, ONE, 9.0, 8.5, 1.25, True, handed_in), result(EMMY, None)]).lines
    assert lines == [
        CSV_COLUMNS,
        ["ada", "Lovelace", "Ada", "ada@uni.example", ONE, "7.25", "9", "1.25",
         "waits for a person", "2027-02-03 04:05:06"],
        ["emmy", "Noether", "Emmy", "emmy@uni.example", ONE, "", "9", "0", "not handed in", ""],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "written"),
    [(None, ""), (0.0, "0"), (10.0, "10"), (100, "100"), (8.5, "8.5"), (1 / 3, "0.33")],
)
def test_a_number_has_two_places_at_most(value, written):
    assert number(value) == written


def test_canvas_gets_a_line_for_each_who_has_a_mark_anywhere():
    results = [*RESULTS, result(ADA, None, TWO, 4.0), result(GRACE, 3.0, TWO, 4.0)]
    export = as_canvas([*results, result(EMMY, None, TWO, 4.0)])
    assert export.lines == [
        [*CANVAS_WHO, ONE, TWO],
        [POINTS_POSSIBLE, "", "", "", "", "9", "4"],
        ["Lovelace, Ada", "1001", "s-1", "ada@uni.example", "A", "8.5", ""],
        ["Hopper, Grace", "1002", "s-2", "grace@uni.example", "", "0", "3"],
    ]
    assert len(export.notes) == 1, "of Ada's empty cell"
    assert as_canvas(RESULTS).notes == [], "Emmy has no line, so no empty cell"


def test_who_has_only_an_id_goes_by_it():
    """And it is noted that the platform's own number, or the address, is missing."""
    results = [*RESULTS, result(NOBODYS_FIELDS, 2.0)]
    canvas, moodle = as_canvas(results), as_moodle(results)
    assert canvas.lines[-1] == ["alan", "", "", "alan", "", "2"]
    assert moodle.lines[-1] == ["", "", "alan", "", "2"]
    assert len(canvas.notes) == len(moodle.notes) == 1
    without_a_mark = [*RESULTS, result(NOBODYS_FIELDS, None)]
    assert as_canvas(without_a_mark).notes == as_moodle(without_a_mark).notes == []


def test_moodle_gets_everybody_with_a_mark():
    export = as_moodle(RESULTS)
    assert export.lines == [
        [*MOODLE_WHO, f"Assignment: {ONE} (Real)"],
        ["Ada", "Lovelace", "s-1", "ada@uni.example", "8.5"],
        ["Grace", "Hopper", "s-2", "grace@uni.example", "0"],
    ]
    assert export.notes == []


@pytest.fixture
def canvas(tmp_path):
    """Fill Canvas's file in."""

    def fill(text: str, results=RESULTS, column=None, out_of=None):
        return into_canvas_file(results, template(tmp_path, text), column, out_of)

    return fill


HEADER = "Student,ID,SIS User ID,SIS Login ID,Section,01_rows (8)\n"
POINTS = "    Points Possible,,,,,9\n"
ADAS = '"Lovelace, Ada",1001,s-1,ada@uni.example,A,\n'
EMMYS = '"Noether, Emmy",1003,s-3,emmy@uni.example,A,2\n'


@pytest.mark.parametrize(
    "text",
    [
        "Student,SIS Login ID,01_rows\nAda,ada,\n",
        "Name,ID,01_rows\nAda,1001,\n",
        "ID,Student,01_rows\n1001,Ada,\n",
    ],
    ids=["no ID", "no Student", "another first"],
)
def test_a_file_that_lacks_one_of_canvass_marks_is_none_of_its(canvas, text):
    with pytest.raises(BadTable, match="Canvas"):
        canvas(text)


def test_what_canvas_has_of_somebody_without_a_mark_stays(canvas):
    export = canvas(HEADER + ",,,,,Manual Posting\n" + POINTS + EMMYS + ADAS)
    assert export.lines == [
        [*CANVAS_WHO, "01_rows (8)"],
        ["", "", "", "", "", "Manual Posting"],
        [POINTS_POSSIBLE, "", "", "", "", "9"],
        ["Noether, Emmy", "1003", "s-3", "emmy@uni.example", "A", "2"],
        ["Lovelace, Ada", "1001", "s-1", "ada@uni.example", "A", "8.5"],
    ]
    assert len(export.notes) == 1, "Grace has no line there; nothing is scaled"


def test_a_mark_of_zero_is_a_mark(canvas):
    both = canvas(HEADER + POINTS + '"Hopper, Grace",1002,s-2,grace@uni.example,A,7\n' + ADAS)
    assert [line[-1] for line in both.lines[2:]] == ["0", "8.5"]
    assert both.notes == []
    assert len(canvas(HEADER + POINTS + ADAS).notes) == 1, "Grace's 0 has no line"


@pytest.mark.parametrize("of", ["18", "18.0", "18,0"])
def test_marks_are_scaled_to_what_they_are_out_of_there(canvas, of):
    export = canvas(HEADER + f'    Points Possible,,,,,"{of}"\n' + ADAS, RESULTS[:1])
    assert export.lines[-1][-1] == "17"
    assert len(export.notes) == 1
    assert canvas(HEADER + POINTS + ADAS, RESULTS[:1], out_of=90.0).lines[-1][-1] == "85"


def test_without_points_on_either_side_nothing_is_scaled(canvas):
    export = canvas(HEADER + POINTS + ADAS, [result(ADA, 1.0, most=0.0)])
    assert export.lines[-1][-1] == "1" and export.notes == []
    with pytest.raises(BadTable, match="--out-of"):
        canvas(HEADER + ADAS)


def test_canvass_number_goes_before_every_other_name(canvas):
    """Ada's number in a line that else is Grace's."""
    export = canvas(HEADER + POINTS + '"Hopper, Grace",1001,s-2,grace@uni.example,A,\n')
    assert export.lines[-1][-1] == "8.5"


def test_only_without_ids_of_the_registry_is_canvass_number_taken_for_ours(canvas):
    """Where our ids came from Canvas's column ID there is no number beside them."""
    alan = Student("7", "Turing", "Alan")
    results = [result(alan, 5.0)]
    points = "    Points Possible,,9\n"
    alone = canvas("Student,ID,01_rows (8)\n" + points + "A. T.,7,\n", results)
    assert alone.lines[-1] == ["A. T.", "7", "5"] and alone.notes == []
    for beside in ("SIS Login ID", "SIS User ID"):
        header = f"Student,ID,{beside},01_rows (8)\n"
        export = canvas(header + "    Points Possible,,,9\n" + "A. T.,7,x,\n", results)
        assert export.lines[-1][-1] == "" and len(export.notes) == 2


@pytest.mark.parametrize(
    ("columns", "wanted", "chosen"),
    [
        ("01_rows (8),101_rows (9)", "01_rows (8)", "01_rows (8)"),
        ("01_rows,01_rows again", "01_rows", "01_rows"),
        ("01 Rows (8),Essay", None, "01 Rows (8)"),
        ("Rows (8),Essay", "rows", "Rows (8)"),
        ("01_rows (8),101_rows (9)", None, None),
        ("Rows,Essay", None, None),
        ("Essay,Other", "Section", None),
    ],
)
def test_the_column_is_the_one_that_fits_or_is_asked_for(canvas, columns, wanted, chosen):
    text = f"Student,ID,Section,{columns}\n    Points Possible,,,9,9\n"
    if chosen:
        assert canvas(text, column=wanted).lines[0] == ["Student", "ID", "Section", chosen]
    else:
        with pytest.raises(BadTable, match=f" is {wanted or '01_rows'}\\?.*--column"):
            canvas(text, column=wanted)


@pytest.fixture
def moodle(tmp_path):
    """Fill Moodle's file in."""

    def fill(text: str, results=RESULTS, column=None, out_of=None):
        return into_moodle_file(results, template(tmp_path, text), column, out_of)

    return fill


WORKSHEET = (
    "Identifier,Full name,Email address,Grade,Maximum Grade,Grade can be changed\n"
    "Participant 1,Ada Lovelace,ada@uni.example,,9.00,Yes\n"
    "Participant 2,Emmy Noether,emmy@uni.example,3.00,9.00,No\n"
)


def test_a_worksheet_keeps_every_column_and_what_has_no_mark_here(moodle):
    export = moodle(WORKSHEET, [RESULTS[0], RESULTS[2]])
    header, adas, emmys = (line.split(",") for line in WORKSHEET.splitlines())
    assert export.lines == [header, [*adas[:3], "8.5", *adas[4:]], emmys]
    assert export.notes == [], "nothing of Emmy's was to be changed"
    assert export.back == WORKSHEET_BACK


@pytest.mark.parametrize("locked", ["No", "nein", "NON"])
def test_a_mark_that_cannot_be_changed_there_stays_and_is_noted(moodle, locked):
    export = moodle(WORKSHEET.replace("Yes", locked))
    assert export.lines[1][3] == ""
    assert len(export.notes) == 2, "Ada's, and that Grace has no line"


def test_a_gradebooks_export_has_another_way_back(moodle):
    text = "First name,Last name,ID number,Email address,Assignment: 01_rows (Real)\n"
    line = "Ada,Lovelace,s-1,x@else.example,\n"
    export = moodle(text + line, RESULTS[:1], out_of=9.0)
    assert export.lines[1][-1] == "8.5" and not export.back and not export.notes
    mixed = moodle(WORKSHEET + "Ada,Emmy Noether,,,9.00,Yes\n", RESULTS[:1])
    assert not mixed.back, "one line is no participant's"


def test_a_column_that_is_asked_for_goes_before_the_worksheets_own(moodle):
    text = WORKSHEET.replace("Full name", "My grade")
    assert moodle(text, RESULTS[:1], column="My grade").lines[1][1:4] == [
        "8.5", "ada@uni.example", ""
    ]  # fmt: skip


def test_a_comma_in_moodles_numbers_is_kept_also_without_a_fraction(moodle):
    text = WORKSHEET.replace("9.00", '"9,00"')
    assert moodle(text, RESULTS[:1]).lines[1][3] == "8,5"
    assert moodle(WORKSHEET, RESULTS[:1]).lines[1][3] == "8.5"


def test_who_is_in_no_class_list_keeps_the_line_and_is_noted(moodle):
    export = moodle(WORKSHEET.replace("Emmy Noether,emmy@", "George Byron,george@"), RESULTS[:1])
    assert export.lines[2][3] == "3.00" and len(export.notes) == 1


@pytest.mark.parametrize("header", ["First name,Last name", "LastName,FirstName", "Surname,Given"])
def test_somebody_is_found_by_both_names_or_by_any_address(moodle, header):
    names = {"First name": "Ada,Lovelace", "LastName": "Lovelace,Ada", "Surname": "x,y"}
    who = names[header.partition(",")[0]]
    address = "ada@uni.example" if who == "x,y" else "-"
    text = f"{header},Adresse,Assignment: 01_rows (Real)\n{who},{address},\n"
    assert moodle(text, RESULTS[:1], out_of=9.0).lines[1][-1] == "8.5"
