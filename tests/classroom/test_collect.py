"""Everything that instructors download, and everything that students hand in by mistake.

What `course collect` says of it is in tests/messages/test_course_verbs.py.
"""

import io
import json
import os
import resource
import time
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.classroom import archives
from autograder.classroom.collect import Collected, collect_from
from autograder.classroom.forget import files_of
from autograder.commands.cli import main
from autograder.commands.collect import collect
from autograder.exercises.cell_ids import COMMON
from autograder.grading.submissions import handed_in
from autograder.release.course_folder import open_gradebook, released_version
from autograder.roster.students import Student, add_students
from course_lib.checking import percent
from tests.classroom.collecting import BOMBS, CANVAS, MOODLE, NAME, NO_NOTEBOOKS, packed
from tests.classroom.conftest import answered
from tests.grading.gradebook_fixtures import STEM


@pytest.fixture
def take(course, tmp_path):
    """Hand these files in as one zip, and collect it."""

    def collect(files: dict[str, bytes], **more) -> Collected:
        source = tmp_path / "submissions.zip"
        source.write_bytes(packed(files))
        return collect_from(course, STEM, [source], **more)

    return collect


def there(course: Path) -> dict[str, bytes]:
    """What lies where nbgrader looks, by student."""
    files = (course / "submitted").rglob("*.ipynb")
    found = {path.relative_to(course / "submitted").parts: path.read_bytes() for path in files}
    assert all(parts[1:] == (STEM, NAME) for parts in found)
    return {parts[0]: data for parts, data in found.items()}


def whose(entries: list[tuple[str, str]]) -> list[str]:
    """Of which student, or which file, there is something to tell."""
    return [who for who, _ in entries]


@pytest.mark.parametrize(
    "name",
    [
        MOODLE + NAME,
        f"Ada Lovelace_4711_assignsubmission_file_{NAME}",
        CANVAS + NAME,
        "lovelaceada_LATE_1001_55512_" + NAME,
        "somebodyelse_1001_55512_" + NAME,
        CANVAS + f"{STEM}-2.ipynb",
        f"ada/{STEM}/{NAME}",
        f"ada/{NAME}",
        "ada@uni.example/homework.ipynb",
        f"Lovelace, Ada/{NAME}",
        "ada.ipynb",
        f"{STEM}_ada.ipynb",
        f"{STEM} (Ada Lovelace).ipynb",
        MOODLE + "Copy of 01_rows (3).ipynb",
        f"week 1\\ada\\{NAME}",
    ],
)
def test_the_owner_is_known_from_the_name(course, take, notebook, name):
    report = take({name: notebook})
    assert there(course) == {"ada": notebook}
    assert report.taken == ["ada"] and not report.problems
    assert sorted(report.missing) == ["emmy", "grace", "kurt"]


def test_accents_survive_what_platforms_make_of_them(course, take, notebook):
    take({"Kurt Go\u0308del_3_assignsubmission_file_/x.ipynb": notebook})
    assert set(there(course)) == {"kurt"}


def test_a_wrong_name_is_repaired_and_told(course, take, notebook):
    report = take({MOODLE + "Copy of 01_rows (3).ipynb": notebook, f"grace/{NAME}": notebook})
    assert set(there(course)) == {"ada", "grace"}
    assert whose(report.notes) == ["ada"]


@pytest.mark.parametrize("in_a_terminal", [True, False])
def test_a_bar_shows_how_far_it_is(course, notebook, tmp_path, in_a_terminal):
    source = tmp_path / "submissions.zip"
    source.write_bytes(packed({MOODLE + NAME: notebook, "grace.ipynb": notebook}))
    words = [STEM, str(source), "--course", str(course)]
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm"} if in_a_terminal else {"FORCE_COLOR": None}
    done = CliRunner().invoke(collect, words, env=terminal)
    assert done.exit_code == 0 and "2 taken" in done.output, done.output
    assert ("reading" in done.output and "100%" in done.output) == in_a_terminal


def test_a_zip_in_a_zip_is_opened(course, take, notebook):
    inner = packed({"my work/" + NAME: notebook, "__MACOSX/._" + NAME: b"junk"})
    report = take({MOODLE + "hand_in.zip": packed({"again.zip": inner})})
    assert there(course) == {"ada": notebook}
    assert whose(report.notes) == ["ada"]


def test_zips_without_end_are_not_followed(course, take, notebook, monkeypatch):
    data = notebook
    for _ in range(archives.DEEP + 2):
        data = packed({"in.zip" if data != notebook else NAME: data})
    report = take({MOODLE + "in.zip": data})
    assert there(course) == {}
    assert report.problems


@pytest.mark.parametrize("files", NO_NOTEBOOKS.values(), ids=NO_NOTEBOOKS)
def test_what_cannot_be_graded_is_told_and_stops_nobody(course, take, notebook, files):
    bad = {MOODLE + name: data for name, data in files.items()}
    report = take(bad | {f"grace/{NAME}": notebook})
    assert set(there(course)) == {"grace"}
    assert report.problems and "grace" not in whose(report.problems)
    assert "ada" in report.missing


def test_another_assignment_is_named(course, take, notebook):
    """Its cells are those of a notebook that was released under another name."""
    other = course / "release" / "02_columns" / "02_columns.ipynb"
    other.parent.mkdir()
    other.write_bytes(notebook.replace(b"row-means", b"column-means"))
    content = json.loads(other.read_bytes())
    content["cells"] = [c for c in content["cells"] if "column-means" in str(c["metadata"])]
    report = take({f"ada/{NAME}": json.dumps(content).encode()})
    assert there(course) == {}
    ((who, problem),) = report.problems
    assert who == "ada" and problem.endswith("course collect 02_columns")


def test_the_kernel_of_another_language_is_told_and_costs_nothing(course, take, notebook):
    content = json.loads(notebook)
    content["metadata"]["kernelspec"] = {"name": "ir", "language": "R", "display_name": "R"}
    report = take({f"ada/{NAME}": json.dumps(content).encode()})
    assert set(there(course)) == {"ada"}
    assert whose(report.notes) == ["ada"] and not report.problems


def test_200_megabytes_of_printing_are_left_behind(course, take, notebook):
    content = json.loads(notebook)
    code = next(c for c in content["cells"] if c["cell_type"] == "code")
    code["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * (200 << 20)}]
    report = take({f"ada/{NAME}": json.dumps(content).encode()})
    assert len(there(course)["ada"]) < 1 << 20
    assert whose(report.notes) == ["ada"]


def test_200_megabytes_of_something_else_are_told(course, take):
    report = take({f"ada/{NAME}": b" " * (200 << 20)})
    assert there(course) == {}
    assert whose(report.problems) == ["ada"]


def test_a_zip_that_lies_about_its_size_is_cut(course, take, notebook, monkeypatch):
    monkeypatch.setattr(archives, "BYTES_AT_MOST", 1000)
    report = take({f"ada/{NAME}": notebook})
    assert there(course) == {} and report.problems


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_no_hand_in_costs_more_than_seconds(course, take, notebook, bomb):
    """It is named, and everybody else is taken."""
    files = {f"ada/{name}": data for name, data in bomb().items()}
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    report = take(files | {f"grace/{NAME}": notebook})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() - began + after.ru_utime - before.ru_utime
    assert set(there(course)) == {"grace"} and set(whose(report.problems)) == {"ada"}
    assert len(report.problems) <= 6
    assert seconds < 30


THEFTS = {
    "Canvas": f"mallory/ada_1_99999999_{NAME}",
    "Moodle": f"mallory/Ada Lovelace_1_assignsubmission_file_{NAME}",
    "a folder like Canvas's": f"mallory/ada_1_9999999_x/{NAME}",
    "a folder": f"mallory/ada/{NAME}",
    "a file": "mallory/ada.ipynb",
}


@pytest.mark.parametrize("enrolled", [True, False])
@pytest.mark.parametrize("name", THEFTS.values(), ids=THEFTS)
def test_nobody_can_hand_in_in_the_name_of_another(course, take, notebook, name, enrolled):
    """In folders by student the folder decides, whatever stands in it."""
    if enrolled:
        enrol_mallory(course)
    theirs = answered(notebook, "mallory")
    report = take({f"ada/{NAME}": notebook, name: theirs, f"mallory/{NAME}": theirs})
    assert there(course) == {"ada": notebook} | ({"mallory": theirs} if enrolled else {})
    assert enrolled or whose(report.problems) == ["mallory"]


@pytest.mark.parametrize("name", ["mallory.zip", f"{STEM}_mallory.zip", "mallory"])
def test_nor_in_a_zip_or_a_folder_that_is_called_after_them(course, tmp_path, notebook, name):
    enrol_mallory(course)
    inside = {"ada.ipynb": notebook, CANVAS + NAME: notebook}
    source = tmp_path / name
    if source.suffix:
        source.write_bytes(packed(inside))
    else:
        source.mkdir()
        for each, data in inside.items():
            (source / each).write_bytes(data)
    collect_from(course, STEM, [source])
    assert set(there(course)) == {"mallory"}


def test_a_date_in_the_zip_of_a_student_counts_for_nothing(course, tmp_path, notebook):
    """The same files are taken whatever date stands beside each."""
    taken = []
    for years in ((2107, 1990), (1990, 2107)):
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as archive:
            for mark, year in zip("ab", years, strict=True):
                entry = zipfile.ZipInfo(f"{mark}/{NAME}", (year, 1, 1, 0, 0, 0))
                archive.writestr(entry, answered(notebook, mark))
        (tmp_path / "class.zip").write_bytes(packed({"ada.zip": inner.getvalue()}))
        collect_from(course, STEM, [tmp_path / "class.zip"], older_too=True)
        taken.append(there(course)["ada"])
    assert taken[0] == taken[1]


def enrol_mallory(course: Path) -> None:
    add_students(course, [Student("mallory", "Mallory", "Mal")])


def test_two_hand_ins_of_one_student_are_both_kept_for_a_person_to_decide(
    course, take, notebook, tmp_path
):
    take({f"ada/{NAME}": notebook})
    first, second = answered(notebook, "first"), answered(notebook, "second")
    names = ("Ada Lovelace_41_assignsubmission_file_/", "Ada Lovelace_42_assignsubmission_file_/")
    report = take({names[0] + NAME: first, names[1] + NAME: second})
    assert there(course) == {"ada": notebook}, "till somebody decides nothing changes"
    assert whose(report.problems) == ["ada"] and not report.taken
    aside = course / "collected" / STEM / "set_aside" / "ada"
    kept = {path.read_bytes(): path for path in aside.rglob("*.ipynb")}
    assert kept.keys() == {first, second}
    assert all(str(path) in report.problems[0][1] for path in kept.values())
    collect_from(course, STEM, [kept[first]], older_too=True)
    assert there(course) == {"ada": first}
    record = course / "collected" / STEM / "taken" / "ada.json"
    assert {aside, record} <= set(files_of(course, "ada")), "what course forget removes"


def test_the_same_twice_is_no_question(course, take, notebook):
    report = take({f"ada/{NAME}": notebook, "ada.ipynb": notebook})
    assert there(course) == {"ada": notebook} and not report.problems


def zip_of(tmp_path: Path, name: str, files: dict[str, bytes], day: int) -> Path:
    """As downloaded on that day."""
    path = tmp_path / name
    path.write_bytes(packed(files))
    os.utime(path, (day * 86_400, day * 86_400))
    return path


def test_an_older_zip_leaves_a_newer_hand_in_and_its_time_alone(course, tmp_path, notebook):
    newer = answered(notebook, "newer")
    old = zip_of(tmp_path, "old.zip", {MOODLE + NAME: notebook, f"grace/{NAME}": notebook}, day=1)
    new = zip_of(tmp_path, "new.zip", {MOODLE + NAME: newer}, day=2)
    when = datetime.fromisoformat("2027-01-31T23:59:00+00:00")
    collect_from(course, STEM, [old])
    collect_from(course, STEM, [new], when=when)
    for again in (old, zip_of(tmp_path, "never seen.zip", {MOODLE + NAME: b"x" + newer}, day=1)):
        report = collect_from(course, STEM, [again])
        assert there(course)["ada"] == newer and "ada" not in report.taken
        assert handed_in(course, STEM, "ada").day == 31
    assert collect_from(course, STEM, [old]).kept == ["ada"]
    assert collect_from(course, STEM, [old], older_too=True).taken == ["ada"]
    assert there(course)["ada"] == notebook


def test_canvas_number_of_an_upload_says_which_is_older(course, take, notebook):
    second = answered(notebook, "second")
    take({f"lovelaceada_1001_222_{NAME}": second})
    assert take({f"lovelaceada_1001_111_{NAME}": notebook}).kept == ["ada"]
    assert there(course) == {"ada": second}
    assert take({f"lovelaceada_1001_333_{NAME}": notebook}).taken == ["ada"]


def test_whoever_goes_back_to_an_earlier_answer_is_named(course, tmp_path, notebook):
    other = answered(notebook, "other")
    for day, data in enumerate((notebook, other, notebook), 1):
        source = zip_of(tmp_path, f"{day}.zip", {MOODLE + NAME: data}, day)
        report = collect_from(course, STEM, [source])
    assert there(course) == {"ada": other} and whose(report.problems) == ["ada"]


FORGED = "ada_Ada:all_is_well"
NASTY = f"\x1b]0;owned\x07\x1b[2J\r\n{FORGED}\u202e" + "x" * 200 + ".ipynb"


def test_a_name_is_shown_as_one_short_line(course, tmp_path, notebook):
    """Of a file, a folder, a zip: no control of the terminal, no line of its own."""
    source = tmp_path / "submissions.zip"
    names = [MOODLE + NASTY, f"{NASTY}/x.ipynb", f"grace/{NASTY}", f"grace/{NASTY}.docx"]
    names += [f"emmy/{NASTY}.zip", f"kurt/{NASTY}.docx"]
    source.write_bytes(packed(dict.fromkeys(names, b"x") | {MOODLE + NASTY: notebook}))
    done = CliRunner().invoke(collect, [STEM, str(source), "--course", str(course)])
    report = (course / "collected" / STEM / "report.txt").read_text()
    for told in (done.output, report):
        assert all(line.isprintable() and len(line) < 500 for line in told.splitlines())
        assert not [line for line in told.splitlines() if line.startswith(FORGED)]


def test_a_course_is_found_from_inside_any_of_its_folders(course, take, notebook, monkeypatch):
    take({f"ada/{NAME}": notebook})
    monkeypatch.chdir(course / "submitted" / "ada")
    (course / "grace.ipynb").write_bytes(notebook)
    done = CliRunner().invoke(main, ["collect", STEM, "../../grace.ipynb"])
    assert done.exit_code == 0 and set(there(course)) == {"ada", "grace"}


@pytest.mark.parametrize(
    "verb", [["collect", STEM, "."], ["grade", STEM], ["extend", "all", "ada"]]
)
def test_outside_a_course_nothing_is_done(tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, verb)
    assert done.exit_code == 2 and str(tmp_path) in done.output
    assert not list(tmp_path.iterdir())


def test_who_is_not_in_the_list_is_told_and_left_out(course, take, notebook):
    report = take({f"mallory/{NAME}": notebook, f"ada/{NAME}": notebook})
    assert set(there(course)) == {"ada"}
    assert whose(report.problems) == ["mallory"]


def test_an_exchange_that_is_not_there_is_named_and_nothing_is_taken(course, tmp_path):
    (course / "local_config.py").write_text(f"c.Exchange.root = {str(tmp_path / 'none')!r}\n")
    done = CliRunner().invoke(collect, [STEM, "--course", str(course)])
    assert done.exit_code == 2 and str(tmp_path / "none") in done.output
    assert "Traceback" not in done.output
    assert there(course) == {}


def test_nothing_at_all_is_told_with_the_place_that_was_looked_at(course, tmp_path):
    (tmp_path / "empty").mkdir()
    done = CliRunner().invoke(collect, [STEM, str(tmp_path / "empty"), "--course", str(course)])
    assert done.exit_code == 2 and str(tmp_path / "empty") in done.output
    assert "Kurt Gödel" in done.output, "nothing has come from him either"


def test_two_of_one_name_are_both_named(course, take, notebook):
    add_students(course, [Student("ada2", "Lovelace", "Ada")])
    report = take({MOODLE + NAME: notebook})
    ((who, reason),) = report.problems
    assert who == "Ada Lovelace" and {"ada", "ada2"} <= set(reason.replace(",", " ").split())
    assert there(course) == {}


@pytest.mark.parametrize("group", ["Group 1-", "-", "Tutorial A-2-"])
def test_a_group_of_moodles_stands_before_the_name(course, take, notebook, group):
    take({group + MOODLE + NAME: notebook})
    assert there(course) == {"ada": notebook}


def test_without_a_list_two_of_one_name_are_told_apart_by_a_person(course, take, notebook):
    (course / "students.csv").unlink()
    with open_gradebook(course) as gradebook:
        for student in ("ada", "grace", "emmy", "kurt"):
            gradebook.remove_student(student)
    other = "Ada Lovelace_4712_assignsubmission_file_/"
    report = take({MOODLE + NAME: notebook, other + NAME: answered(notebook, "other")})
    assert there(course) == {} and whose(report.problems) == ["Ada_Lovelace"]


def test_where_two_would_fit_nobody_is_guessed(course, take, notebook):
    report = take({"ada_grace.ipynb": notebook})
    assert there(course) == {} and report.problems


def test_of_several_the_one_with_the_right_name_and_cells_is_taken(course, take, notebook):
    second = answered(notebook, "second")
    report = take(
        {
            MOODLE + NAME: second,
            MOODLE + "Untitled.ipynb": b'{"cells": [], "nbformat": 4}',
            MOODLE + "old.ipynb": notebook,
        }
    )
    assert there(course) == {"ada": second}
    assert whose(report.notes) == ["ada"] and NAME in report.notes[0][1]


def test_canvas_keeps_the_last_that_was_uploaded(course, take, notebook):
    second = answered(notebook, "second")
    take({f"lovelaceada_1001_222_{STEM}-1.ipynb": second, f"lovelaceada_1001_111_{NAME}": notebook})
    assert there(course) == {"ada": second}


def test_again_changes_nothing_and_a_newer_one_keeps_the_older(course, take, notebook):
    first = take({f"ada/{NAME}": notebook})
    again = take({f"ada/{NAME}": notebook})
    assert (first.taken, again.taken, again.unchanged) == (["ada"], [], ["ada"])
    second = answered(notebook, "second")
    take({f"ada/{NAME}": second})
    assert there(course) == {"ada": second}
    kept = list((course / "collected" / STEM / "earlier" / "ada").iterdir())
    assert [path.read_bytes() for path in kept] == [notebook]


def test_the_time_of_handing_in_is_what_the_instructor_says(course, take, notebook):
    when = datetime.fromisoformat("2027-01-31T23:59:00+01:00")
    take({f"ada/{NAME}": notebook}, when=when)
    stamp = course / "submitted" / "ada" / STEM / "timestamp.txt"
    assert f"{handed_in(course, STEM, 'ada'):%Y-%m-%d %H:%M}" == "2027-01-31 22:59"
    take({f"ada/{NAME}": answered(notebook, "later")})
    assert not stamp.exists(), "it was the time of another hand-in"


def test_a_folder_is_read_and_its_links_lead_nowhere(course, tmp_path, notebook):
    source = tmp_path / "from students"
    (source / "ada").mkdir(parents=True)
    (source / "ada" / NAME).write_bytes(notebook)
    (source / "grace").symlink_to(source / "ada")
    (source / "emmy").mkdir()
    (source / "emmy" / NAME).symlink_to(course / "gradebook.db")
    collect_from(course, STEM, [source])
    assert set(there(course)) == {"ada"}


def test_a_zip_of_one_student_goes_by_its_own_name(course, tmp_path, notebook):
    source = tmp_path / "ada.zip"
    source.write_bytes(packed({NAME: notebook}))
    collect_from(course, STEM, [source])
    assert set(there(course)) == {"ada"}


@pytest.fixture
def bundle(course) -> dict[str, bytes]:
    """Everything that a student was given, with an answer in the plain file."""
    folder = course / "release" / STEM
    files = [
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in str(path)
    ]
    given = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    plain = given[f"{STEM}.py"].decode()
    return given | {f"{STEM}.py": percent.with_cell(plain, "row-means", "half = 1").encode()}


@pytest.mark.parametrize("whole", [True, False])
def test_a_plain_file_is_taken_as_the_notebook_that_it_is(course, take, bundle, whole):
    files = bundle if whole else {f"{STEM}.py": bundle[f"{STEM}.py"]}
    report = take({f"{MOODLE}{name}": data for name, data in files.items()})
    assert report.taken == ["ada"] and not report.problems
    taken = json.loads(there(course)["ada"])
    sources = {cell["id"]: cell["source"] for cell in taken["cells"]}
    assert sources["row-means"] == "half = 1"
    assert taken["metadata"]["course"]["version"] == released_version(course, STEM)
    assert take({f"{MOODLE}{name}": data for name, data in files.items()}).unchanged == ["ada"]


def test_the_notebook_of_a_bundle_handed_in_whole_is_taken(course, take, bundle, notebook):
    fresh = (course / "release" / STEM / f"{STEM}.py").read_bytes()
    files = bundle | {NAME: notebook, f"{STEM}.py": fresh}
    report = take({f"{MOODLE}{name}": data for name, data in files.items()})
    assert there(course) == {"ada": notebook}
    assert report.notes == [], "the plain file is no second notebook"


def test_nothing_is_noted_of_what_came_as_it_should(course, take, notebook):
    report = take({MOODLE + NAME: notebook, f"grace/{NAME}": notebook})
    assert report.notes == report.problems == []
    assert report.moodle == {"ada": MOODLE.rstrip("/")}, "and of Grace there is no such folder"
    assert take({MOODLE + NAME: notebook}).missing == ["kurt", "emmy"], "as in the class list"


@pytest.mark.parametrize("when", [None, datetime.fromisoformat("2027-01-31T23:59:00+01:00")])
def test_what_canvas_marks_as_late_is_noted(take, notebook, when):
    report = take({f"lovelaceada_LATE_1001_55512_{NAME}": notebook}, when=when)
    assert whose(report.notes) == ["ada"]


def test_an_answered_notebook_goes_before_an_untouched_one_of_the_right_name(
    course, take, notebook
):
    fresh = (course / "release" / STEM / NAME).read_bytes()
    report = take({f"ada/{NAME}": fresh, "ada/mine.ipynb": notebook})
    assert there(course) == {"ada": notebook}
    assert whose(report.notes) == ["ada"] * 2, "its name, and that there were two"


@pytest.mark.parametrize("newest", [0, 1, 2])
def test_of_notebooks_that_fit_alike_the_newest_is_taken(course, tmp_path, notebook, newest):
    files = [tmp_path / "in" / "ada" / f"{number}.ipynb" for number in range(3)]
    for number, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(answered(notebook, str(number)))
        os.utime(file, (1_800_000_000 + (number == newest),) * 2)
    collect_from(course, STEM, [tmp_path / "in"])
    assert there(course) == {"ada": files[newest].read_bytes()}


def test_the_cells_that_all_assignments_share_are_none_of_this_one(course, take, notebook):
    content = json.loads(notebook)
    content["cells"] = [cell for cell in content["cells"] if cell["id"] in COMMON]
    assert content["cells"]
    report = take({f"ada/{NAME}": json.dumps(content).encode()})
    assert there(course) == {} and whose(report.problems) == ["ada"]


def test_another_notebook_in_the_released_folder_is_no_assignment(course, take, notebook):
    content = json.loads(notebook)
    for cell in content["cells"]:
        cell["id"] = "other-" + cell["id"]
        cell["metadata"].get("nbgrader", {})["grade_id"] = cell["id"]
    other = json.dumps(content).encode()
    (course / "release" / STEM / "other.ipynb").write_bytes(other)
    report = take({f"ada/{NAME}": other})
    assert there(course) == {}
    ((_, problem),) = report.problems
    assert "course collect" not in problem


def test_without_a_list_of_students_each_folder_is_somebody(course, take, notebook, monkeypatch):
    monkeypatch.setattr("autograder.classroom.collect.everybody", lambda course: [])
    report = take({f"mallory x/{NAME}": notebook, f"-.-/{NAME}": notebook})
    assert set(there(course)) == {"mallory_x"}
    assert report.taken == ["mallory_x"] and report.missing == []
    assert whose(report.problems) == ["-.-"], "that can name no folder"


def test_the_name_of_a_zip_counts_before_all_that_is_in_it(course, tmp_path, notebook):
    source = tmp_path / "ada.zip"
    for inside in ("grace", "mallory"):
        source.write_bytes(packed({f"{inside}/{NAME}": notebook}))
        collect_from(course, STEM, [source])
        assert set(there(course)) == {"ada"}


@pytest.mark.parametrize("too_large_by", [0, 1])
def test_only_a_notebook_beyond_the_limit_loses_its_outputs(
    course, take, notebook, monkeypatch, too_large_by
):
    content = json.loads(notebook)
    code = next(c for c in content["cells"] if c["cell_type"] == "code")
    code["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 10_000}]
    data = json.dumps(content).encode()
    for module in ("classroom.collect", "grading.rebuild"):
        limit = len(data) - too_large_by
        monkeypatch.setattr(f"autograder.{module}.NOTEBOOK_AT_MOST", limit)
    report = take({f"ada/{NAME}": data})
    assert report.taken == ["ada"] and not report.problems
    assert (there(course)["ada"] == data) == (not too_large_by)
    assert len(report.notes) == too_large_by


@pytest.mark.parametrize("too_large_by", [0, 1])
def test_a_plain_file_has_a_limit(course, take, bundle, monkeypatch, too_large_by):
    data = bundle[f"{STEM}.py"]
    limit = len(data) - too_large_by
    monkeypatch.setattr("autograder.classroom.collect.PLAIN_AT_MOST", limit)
    report = take({f"ada/{STEM}.py": data, "ada/helpers.py": b"print(1)"})
    assert report.taken == ["ada"] * (not too_large_by)
    assert whose(report.problems) == ["ada"] * too_large_by


def test_a_file_beside_the_notebook_is_no_problem_and_alone_it_is_one(course, take, notebook):
    report = take({f"ada/{NAME}": notebook, "ada/notes.pdf": b"%PDF", "grace/a.pdf": b"%PDF"})
    assert set(there(course)) == {"ada"} and whose(report.problems) == ["grace"]
    both = take({"ada/broken.ipynb": b"%PDF", "ada/notes.pdf": b"%PDF"})
    assert whose(both.problems) == ["ada"], "once, for the notebook that is none"


def test_what_is_damaged_is_no_second_notebook(course, take, notebook):
    report = take({f"ada/{NAME}": notebook, "ada/broken.ipynb": b"%PDF"})
    assert report.taken == ["ada"] and report.notes == []
    assert whose(report.problems) == ["ada"]


def test_other_notebooks_in_the_folder_are_kept_and_give_way(course, take, notebook):
    folder = course / "submitted" / "ada" / STEM
    folder.mkdir(parents=True)
    (folder / "old.ipynb").write_bytes(b"old")
    (folder / NAME).write_bytes(b"older")
    take({f"ada/{NAME}": notebook})
    assert there(course) == {"ada": notebook}
    kept = (course / "collected" / STEM / "earlier" / "ada").iterdir()
    assert sorted(path.read_bytes() for path in kept) == [b"old", b"older"]


@pytest.mark.parametrize(
    ("metadata", "notes"),
    [
        ({"kernelspec": {"language": "python"}}, 0),
        ({"kernelspec": {"language": "Python3"}}, 0),
        ({"kernelspec": {}, "language_info": {"name": "ipython"}}, 0),
        ({"kernelspec": {}, "language_info": {"name": "R"}}, 1),
        ({"kernelspec": {"language": "R"}, "language_info": {"name": "python"}}, 1),
        ({}, 0),
    ],
)
def test_the_language_is_the_kernels_or_else_the_notebooks(take, notebook, metadata, notes):
    content = json.loads(notebook)
    for key in ("kernelspec", "language_info"):
        content["metadata"].pop(key, None)
    content["metadata"] |= metadata
    report = take({f"ada/{NAME}": json.dumps(content).encode()})
    assert len(report.notes) == notes and report.taken == ["ada"]


def test_again_with_a_time_changes_the_time_alone(course, take, notebook):
    when = datetime.fromisoformat("2027-01-31T23:59:00+01:00")
    take({f"ada/{NAME}": notebook})
    assert take({f"ada/{NAME}": notebook}, when=when).unchanged == ["ada"]
    assert f"{handed_in(course, STEM, 'ada'):%Y-%m-%d %H:%M}" == "2027-01-31 22:59"
    assert take({f"ada/{NAME}": notebook}).unchanged == ["ada"]
    assert handed_in(course, STEM, "ada"), "nothing new came, so its time stays"
    assert not (course / "collected" / STEM / "earlier").exists()
