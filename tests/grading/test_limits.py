"""An exercise and a course may set limits: where they are said, and what they change."""

import json
import shutil
import sys
from dataclasses import replace

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell

from autograder.commands.cli import main
from autograder.exercises.assignment import load_assignment
from autograder.grading import changes, package
from autograder.grading.course_limits import course_limits
from autograder.grading.grade_class import grade_class
from autograder.grading.notes import Kind
from autograder.grading.rebuild import Rebuilt
from autograder.grading.referee import Attempt, Grader, Job
from autograder.release.bundle import write_checks
from autograder.release.course_folder import BadSettings, nbgrader_configuration
from autograder.release.notebooks import source_notebook
from autograder.sandbox import limits
from autograder.sandbox.bounds import NAMES, fault_in, of_a_submission, where_not_its_own
from autograder.sandbox.host import Sandbox
from autograder.sandbox.process import ProcessEnded
from course_lib.checking.terms import NO_LIMITS, Limits
from tests.exercises.conftest import GOOD
from tests.grading.gradebook_fixtures import STEM, outcome
from tests.grading.sandbox_fixtures import run, sandbox

__all__ = ["sandbox"]

OWN = "limits = { call_seconds = 5, cell_seconds = 20, memory_mib = 1500, returned_mib = 32 }"
ALL = Limits(call_seconds=5, cell_seconds=20, memory_mib=1500, returned_mib=32)
EXERCISE = "row_means"


@pytest.fixture
def chapter(tmp_path):
    """The small course's chapter, whose one function has limits of its own."""
    folder = shutil.copytree(GOOD / STEM, tmp_path / "solutions" / STEM)
    toml = folder / "assignment.toml"
    toml.write_text(toml.read_text().replace("required = true", f"required = true\n{OWN}"))
    return folder


# where they are said


def test_limits_go_from_the_exercise_into_its_record_and_the_notebook(chapter, tmp_path):
    assignment = load_assignment(chapter)
    assert assignment[EXERCISE].terms.limits == ALL
    write_checks(assignment, tmp_path, hidden=True)
    record = json.loads((tmp_path / "checks" / EXERCISE / "record.json").read_text())
    assert Limits(**record["limits"]) == ALL
    said = task_of(assignment)
    assert all(part in said for part in ("5 seconds", "20 seconds", "1500 MiB", "32 MiB"))


def test_an_exercise_without_limits_says_nothing_of_them(tmp_path):
    assignment = load_assignment(GOOD / STEM)
    write_checks(assignment, tmp_path, hidden=True)
    record = json.loads((tmp_path / "checks" / EXERCISE / "record.json").read_text())
    assert "limits" not in record and "graded" not in task_of(assignment)


def task_of(assignment) -> str:
    task = assignment[EXERCISE].cells.task
    return next(cell.source for cell in source_notebook(assignment).cells if cell.id == task)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("call_seconds", 0),
        ("call_seconds", limits.SUBMISSION_SECONDS + 1),
        ("call_seconds", float("nan")),
        ("cell_seconds", float("inf")),
        ("cell_seconds", True),
        ("memory_mib", 1),
        ("memory_mib", 1 << 40),
        ("memory_mib", 512.0),
        ("returned_mib", -1),
        ("returned_mib", 1 << 20),
        ("returned_mib", "32"),
        ("seconds", 5),
    ],
)
def test_what_cannot_be_a_limit(name, value):
    assert fault_in(name, value)


@pytest.mark.parametrize("name", NAMES)
def test_the_limits_that_are_given_where_nobody_asks_could_be_asked_for(name):
    usual = {
        "call_seconds": limits.CALL_SECONDS,
        "cell_seconds": limits.CELL_SECONDS,
        "memory_mib": limits.PROCESS_MEMORY // limits.MEBIBYTE,
        "returned_mib": 64,
    }
    assert fault_in(name, usual[name]) is None


def test_an_exercises_own_come_before_the_courses():
    course = Limits(call_seconds=1, memory_mib=700)
    assert where_not_its_own(Limits(call_seconds=5), course) == Limits(
        call_seconds=5, memory_mib=700
    )
    assert where_not_its_own(Limits(), Limits()) == Limits()


def test_a_submission_gets_the_most_that_any_exercise_asks_for():
    assert of_a_submission([Limits(call_seconds=5), Limits()]) == Limits()
    asked = [Limits(cell_seconds=3), Limits(cell_seconds=4, memory_mib=300)]
    usual = limits.PROCESS_MEMORY >> 20
    assert of_a_submission(asked) == Limits(cell_seconds=4, memory_mib=usual)
    assert of_a_submission([*asked, Limits()]).cell_seconds == limits.CELL_SECONDS
    assert of_a_submission([]) == Limits()


# a course's


@pytest.fixture
def course(released, tmp_path):
    return shutil.copytree(released, tmp_path / "course")


def set_in(course, *lines: str) -> None:
    (course / "local_config.py").write_text("\n".join(["c = get_config()", "", *lines]))


def read(course) -> Limits:
    return course_limits(course, nbgrader_configuration(course))


def test_a_course_says_its_limits_in_its_settings(course):
    set_in(course)
    assert read(course) == Limits()
    set_in(course, "c.Limits.call_seconds = 0.5", "c.Limits.returned_mib = 8")
    assert read(course) == Limits(call_seconds=0.5, returned_mib=8)


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["c.Limits.call_seconds = 600"], 3),
        (["c.Limits.call_seconds = 5", "c.Limits.call_seconds = 600"], 4),
        (["c.Limits.memory_mib = 3", "c.Limits.returned_mib = 4"], 3),
        (['c.Limits.cell_seconds = "ten"'], 3),
        (["c.Limits.seconds = 5"], 3),
        (["c.Limits = {'call_seconds': 600}"], 3),
        (["", "c.Limits.call_seconds = 5s"], 4),
        (["", "c.Limits.call_seconds = five"], 4),
    ],
)
def test_a_setting_that_cannot_be_used(course, lines, line):
    set_in(course, *lines)
    with pytest.raises(BadSettings) as refused:
        read(course)
    path = course / "local_config.py"
    assert (refused.value.path, refused.value.line) == (path, line)
    problem, remedy = str(refused.value).splitlines()
    assert problem.startswith(f"{path}:{line}: ") and remedy.strip()


def test_nothing_is_graded_with_a_setting_that_cannot_be_used(course):
    set_in(course, "c.Limits.call_seconds = 600")
    hand_in(course)
    done = CliRunner().invoke(main, ["grade", STEM, "--course", str(course)])
    assert done.exit_code == 2 and "local_config.py:3" in done.output
    assert not (course / "autograded").exists()


# what they change


def given(course, limits: Limits = NO_LIMITS) -> str:
    return package.digest(package.pack(course, STEM, limits))


def with_own(course, **own: float) -> None:
    path = course / "grader" / STEM / "checks" / EXERCISE / "record.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"limits": own}))


def test_a_courses_limit_counts_where_an_exercise_has_none_of_its_own(course):
    before = given(course)
    assert given(course, Limits(call_seconds=5)) != before
    with_own(course, call_seconds=3)
    own = given(course)
    assert own != before
    assert given(course, Limits(call_seconds=5)) == own
    assert given(course, Limits(call_seconds=5, returned_mib=3)) != own


class Pool:
    def __init__(self):
        self.students = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def grade(self, jobs):
        for job in jobs:
            self.students.append(job.student)
            yield replace(outcome(job.student), key=job.key, notebook="{}")


def hand_in(course) -> None:
    folder = course / "submitted" / "ada" / STEM
    folder.mkdir(parents=True)
    shutil.copy(course / "release" / STEM / f"{STEM}.ipynb", folder)


def judged(course) -> list[str]:
    with Pool() as pool:
        grade_class(course, STEM, lambda folder, data: pool)
    return pool.students


def test_a_courses_limit_has_judged_again_what_it_concerns(course):
    set_in(course)
    hand_in(course)
    assert judged(course) == ["ada"]
    set_in(course, "c.Limits.call_seconds = 5")
    assert judged(course) == ["ada"]
    assert judged(course) == []
    with_own(course, call_seconds=3)
    assert judged(course) == ["ada"]
    set_in(course, "c.Limits.call_seconds = 6")
    assert judged(course) == []


def test_limits_that_have_changed_since_the_release_are_told(course, chapter):
    shutil.copytree(GOOD / STEM, course / "solutions" / STEM)
    assert not changes.tests_changed(course, STEM)
    shutil.copy(chapter / "assignment.toml", course / "solutions" / STEM)
    assert changes.tests_changed(course, STEM)


# what they do


def test_a_worker_reads_them_from_what_it_is_given(course, tmp_path):
    with_own(course, cell_seconds=3)
    folder = tmp_path / "package"
    package.unpack(package.pack(course, STEM, Limits(memory_mib=300)), folder)
    assert Grader(folder, STEM, None).limits == Limits(cell_seconds=3, memory_mib=300)


@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")
class TestInTheSandbox:
    def test_a_cell_has_the_seconds_that_were_asked_for(self, sandbox, monkeypatch):
        monkeypatch.setattr(limits, "CELL_SECONDS", 30)
        with sandbox.student(own=Limits(cell_seconds=0.3)) as student:
            student.begin(0)
            run(student, "while True: pass")
            assert student.interrupted

    def test_a_process_has_the_memory_that_was_asked_for(self, sandbox):
        source = "import numpy as np\nkept = np.ones({} << 17)"
        for mebibytes, enough in ((300, False), (2000, True)):
            with sandbox.student(own=Limits(memory_mib=mebibytes)) as student:
                student.begin(0)
                assert (run(student, source.format(1100))["error"] is None) == enough

    def test_all_processes_together_have_half_as_much_again(self, sandbox):
        with sandbox.student(own=Limits(memory_mib=200)) as student:
            student.begin(0)
            source = "import os, signal\nfor _ in range(3):\n    if not os.fork():\n        "
            source += "kept = bytearray(os.urandom(1 << 20)) * 150\n        signal.pause()\n"
            with pytest.raises(ProcessEnded, match="0.29"):
                run(student, f"{source}signal.pause()")

    def test_a_submission_is_graded_within_them(self, course, tmp_path):
        with_own(course, cell_seconds=0.3)
        folder = tmp_path / "package"
        package.unpack(package.pack(course, STEM), folder)
        for path in (folder, *folder.parents[:3]):
            path.chmod(0o755)
        notebook = nbformat.read(folder / f"{STEM}.ipynb", as_version=4)
        notebook.cells.insert(2, new_code_cell("while True: pass", id="endless"))
        files = {f"{STEM}.ipynb": nbformat.writes(notebook).encode()}
        with Sandbox(folder / "course_lib") as started:
            judged = Grader(folder, STEM, started).grade(Job("ada", STEM, "key", 1, files))
        assert [(note.fact.kind, note.fact.limit) for note in judged.incidents] == [
            (Kind.CELL_TOO_SLOW, 0.3)
        ]

    def test_an_attempt_passes_them_on_to_each_process(self, sandbox):
        own = Limits(cell_seconds=3)
        with Attempt(sandbox, Rebuilt.__new__(Rebuilt), 1, own=own) as attempt:
            for memory in (None, 64 << 20):
                with attempt._new_process(memory) as student:
                    assert student.cell_seconds == 3
