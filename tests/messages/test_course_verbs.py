"""What an instructor reads: `course init`, collect, grade, extend, export."""

import json
import re
import shutil
import time

import pytest
from click.testing import CliRunner

from autograder.commands.collect import collect
from autograder.commands.export import export
from autograder.commands.extend import extend
from autograder.commands.feedback import feedback
from autograder.commands.grade import grade
from autograder.commands.init import init
from autograder.commands.island import island
from autograder.commands.report import report
from autograder.grading.changes import before_and_after
from autograder.grading.grade_class import Change
from autograder.release.course_folder import open_gradebook
from autograder.roster.csv_tables import BadTable
from autograder.roster.students import known_students, labels, read_students
from tests.classroom.collecting import MOODLE, NAME, NO_NOTEBOOKS, REPAIRED, packed
from tests.classroom.conftest import answered
from tests.classroom.graded_course import (
    CANVAS,
    CLASS,
    WORKSHEET,
    grade_late,
    hand_in_settled,
    run,
    template,
    url,
)
from tests.classroom.graded_course import grade as give_marks
from tests.classroom.test_students import NO_LISTS
from tests.grading.gradebook_fixtures import PROOF, STEM, mark_by_hand


@pytest.fixture
def course(with_a_class, tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")  # deadlines are shown in the time of the machine
    time.tzset()
    yield shutil.copytree(with_a_class, tmp_path / "course")
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def told(course, reads):
    """What a verb prints in the course folder."""
    return lambda verb, *words: reads(run(verb, course, *words).output)


# init


def test_init(tmp_path, reads):
    (tmp_path / "class.csv").write_text("id,name\nada,Ada Lovelace\na b,Grace Hopper\n")
    words = [str(tmp_path / "course"), "--students", str(tmp_path / "class.csv")]
    reads(init_says(*words))


def test_init_without_a_list(tmp_path, reads):
    reads(init_says(str(tmp_path / "course")))


def test_init_again_with_somebody_missing(tmp_path, reads):
    words = [str(tmp_path / "course"), "--students", str(tmp_path / "class.csv")]
    for name in ("ada", "grace"):
        (tmp_path / "class.csv").write_text(f"id\n{name}\n")
        said = init_says(*words)
    reads(said)


def test_init_with_a_list_without_ids_for_who_has_one(tmp_path, reads):
    course, path = tmp_path / "course", tmp_path / "class.csv"
    path.write_text("id,name,email\n7001,Ada Lovelace,ada@uni.example\n")
    init_says(str(course), "--students", str(path))
    path.write_text("name,email\nAda Lovelace,ada@uni.example\n")
    reads(init_says(str(course), "--students", str(path)))


def init_says(*words: str) -> str:
    return CliRunner().invoke(init, list(words), catch_exceptions=False).output


@pytest.mark.parametrize("data", NO_LISTS.values(), ids=NO_LISTS)
def test_what_is_no_list_of_students(tmp_path, reads, data):
    path = tmp_path / "class.csv"
    path.write_bytes(data)
    with pytest.raises(BadTable) as refused:
        read_students(path)
    reads(str(refused.value))


def test_a_class_list_that_lost_its_ids(tmp_path, reads):
    (tmp_path / "students.csv").write_text("last_name,email\nLovelace,ada@uni.example\n")
    with pytest.raises(BadTable) as refused:
        known_students(tmp_path)
    reads(str(refused.value))


def test_notes_on_a_list_of_students(tmp_path, reads):
    path = tmp_path / "class.csv"
    path.write_bytes(
        "id,name,email\nada,Ada Lovelace,ada@uni.example\nada,Ada Lovelace,\nADA,George Byron,\n"
        "bob,Bob Ö,ada@uni.example\n../x,Eve,\n,Nobody,\n".encode("cp1252")
    )
    read = read_students(path)
    reads("\n".join([*read.notes, *read.refused]))


# collect


@pytest.fixture
def notebook(course):
    return answered((course / "release" / STEM / NAME).read_bytes(), "begun")


@pytest.fixture
def collected(course, tmp_path, reads):
    """What collect says of these files of a platform's zip."""

    def compare(files: dict[str, bytes]) -> None:
        (tmp_path / "submissions.zip").write_bytes(packed(files))
        reads(run(collect, course, STEM, str(tmp_path / "submissions.zip")).output)

    return compare


def test_collect(notebook, collected):
    collected({MOODLE + NAME: notebook, f"mallory/{NAME}": notebook})


@pytest.fixture
def line_of(course, tmp_path, reads):
    """What collect says of Ada, or of a file of hers, alone."""

    def compare(files: dict[str, bytes]) -> None:
        (tmp_path / "submissions.zip").write_bytes(packed(files))
        said = run(collect, course, STEM, str(tmp_path / "submissions.zip")).output
        lines = [line.strip() for line in said.splitlines()]
        reads("\n".join(line for line in lines if line.startswith(("ada Ada", "submissions.zip"))))

    return compare


@pytest.mark.parametrize("files", NO_NOTEBOOKS.values(), ids=NO_NOTEBOOKS)
def test_what_cannot_be_graded(line_of, files):
    line_of({MOODLE + name: data for name, data in files.items()})


@pytest.mark.parametrize("make", REPAIRED.values(), ids=REPAIRED)
def test_what_is_put_right(line_of, notebook, make):
    line_of(make(notebook))


def test_an_exchange_that_is_not_there(course, tmp_path, reads):
    (course / "local_config.py").write_text(f"c.Exchange.root = {str(tmp_path / 'none')!r}\n")
    said = run(collect, course, STEM).output
    reads("\n".join(line for line in said.splitlines() if not line.startswith("[")))


def test_nothing_at_all_is_found(tmp_path, told):
    (tmp_path / "empty").mkdir()
    told(collect, STEM, str(tmp_path / "empty"))


# grade


@pytest.fixture
def handed_in(course, notebook, monkeypatch):
    return hand_in_settled(course, notebook, monkeypatch)


def test_grade(handed_in, reads):
    said = run(grade, handed_in, STEM).output
    reads(re.sub(r"\([\d.]+ s, \d+ ms each\)", "(SECONDS)", said))


def test_grade_finds_nobody_of_this_name(handed_in, told):
    told(grade, STEM, "--student", "x*")


@pytest.mark.parametrize("words", [(), ("--again",)], ids=["", "with --again"])
def test_grade_is_stopped(handed_in, told, monkeypatch, words):
    def stop(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.commands.grade.grade_class", stop)
    told(grade, STEM, *words)


def test_marks_before_and_after(reads):
    changes = [Change("kurt", "sums-check", 3.0, 4.0)]
    reads("\n".join(before_and_after(changes, labels(CLASS))))


@pytest.mark.parametrize("verb", [feedback, report], ids=["feedback", "report"])
def test_nobody_was_graded(told, verb):
    told(verb, STEM)


def test_an_island_for_somebody_who_is_not_in_the_list(told):
    told(island, "zoe")


# extend


@pytest.fixture
def late(course):
    return grade_late(course)


EXTEND = {
    "two days": [STEM, "ada", "--days", "2"],
    "until a time": [STEM, "emmy", "--until", "2027-02-03 12:01"],
    "taken away": [STEM, "ada", "--remove"],
    "nobody of this name": [STEM, "nobody", "--days", "1"],
    "less time": [STEM, "ada", "--days", "-2"],
    "no time": [STEM, "ada"],
    "no time that can be read": [STEM, "ada", "--until", "soon"],
    "a chapter that is not released": ["09_rows", "ada", "--days", "2"],
    "what was granted, and that is nothing": [],
}


@pytest.mark.parametrize("words", EXTEND.values(), ids=EXTEND)
def test_extend(late, told, words):
    told(extend, *words)


def test_what_was_granted(late, told):
    for words in ("all", "ada", "--days", "2"), (STEM, "grace", "--until", "2027-02-03 12:01"):
        run(extend, late, *words, code=0)
    told(extend)


# export


@pytest.fixture
def marked(course):
    """Nothing waits for a person any more."""
    give_marks(course)
    mark_by_hand(url(course), PROOF, "grace", manual_score=2.0)
    return course


def test_export(marked, told):
    told(export, STEM)


def test_export_of_marks_that_are_not_final(course, told):
    give_marks(course)
    told(export, STEM)


def test_export_for_canvas(marked, told):
    told(export, STEM, "--for", "canvas")


def test_export_for_moodle(marked, reads):
    reads(run(export, marked, STEM, "--for", "moodle").output.splitlines()[0])


def test_export_with_empty_cells(marked, reads):
    with open_gradebook(marked) as gradebook:
        gradebook.update_or_create_assignment("02_rows")
    reads(run(export, marked, "--for", "canvas").output.splitlines()[0])


TEMPLATES = {
    "not of Canvas": ("canvas", "Name,01_rows\nAda,\n"),
    "other points": ("canvas", CANVAS.replace(",5,9,", ",5,18,")),
    "which column": ("canvas", CANVAS.replace("01_rows (8)", "Rows (8)")),
    "a worksheet of Moodle": ("moodle", WORKSHEET),
    "the highest mark is not known": (
        "moodle",
        WORKSHEET.replace("Maximum Grade", "Bestwertung").replace(",Grade,", ",01_rows,"),
    ),
}


@pytest.mark.parametrize(("platform", "text"), TEMPLATES.values(), ids=TEMPLATES)
def test_export_into_a_file(marked, tmp_path, told, platform, text):
    path = template(tmp_path, text)
    told(export, STEM, "--for", platform, "--template", str(path))


def test_a_chapter_that_was_not_released(told):
    told(export, "09_rows")


def test_somebody_has_marks_and_no_line(marked, tmp_path, reads):
    lines = WORKSHEET.replace("No,-,-,good", "Yes,-,-,").splitlines(keepends=True)
    path = template(tmp_path, "".join(line for line in lines if "Ada" not in line))
    words = STEM, "--for", "moodle", "--template", str(path), "--out-of", "9"
    reads(run(export, marked, *words).output.splitlines()[0])


def test_a_folder_that_is_no_course(tmp_path, reads):
    reads(run(export, tmp_path, STEM).output)


def test_a_kernel_of_another_language_and_outputs_without_end(line_of, notebook, monkeypatch):
    monkeypatch.setattr("autograder.classroom.collect.NOTEBOOK_AT_MOST", 1 << 20)
    content = json.loads(notebook)
    content["metadata"]["kernelspec"] = {"name": "ir", "language": "R", "display_name": "R"}
    code = next(c for c in content["cells"] if c["cell_type"] == "code")
    code["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * (2 << 20)}]
    line_of({f"ada/{NAME}": json.dumps(content).encode()})


def test_a_notebook_that_is_large_without_outputs(line_of, monkeypatch):
    monkeypatch.setattr("autograder.classroom.collect.NOTEBOOK_AT_MOST", 1 << 20)
    line_of({f"ada/{NAME}": b" " * (2 << 20)})
