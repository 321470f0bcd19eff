"""A course with marks, what platforms give out, and what an instructor types there."""

import shutil
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
from click.testing import CliRunner, Result

from autograder.commands.init import enrol, make_folder
from autograder.grading.gradebook import recorder_of
from autograder.grading.notes import Kind, Note
from autograder.release.course_folder import nbgrader_configuration, open_gradebook
from autograder.roster.students import Student, add_students
from tests.grading.gradebook_fixtures import PROOF, STEM, mark_by_hand, outcome

CLASS = [
    Student("ada", "Lovelace", "Ada", "ada@uni.example", "1001", "s-1", "ada@uni.example", "A"),
    Student("grace", "Hopper", "Grace", "grace@uni.example", "1002", "s-2", "grace@uni.example"),
    Student("emmy", "Noether", "Emmy", "emmy@uni.example", "1003", "s-3", "emmy@uni.example"),
    Student("kurt", "Gödel", "Kurt", "kurt@uni.example", "1004", "s-4", "kurt@uni.example"),
]
CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Essay (7),01_rows (8),Current Score\n"
    ",,,,,,Manual Posting,\n"
    "    Points Possible,,,,,5,9,(read only)\n"
    '"Lovelace, Ada",1001,s-1,ada@uni.example,A,3,,60\n'
    '"Hopper, Grace",1002,s-2,grace@uni.example,A,4,2,\n'
    '"Noether, Emmy",1003,s-3,emmy@uni.example,A,4,2,\n'
    '"Byron, George",999,s-9,george@uni.example,A,4,,\n'
)
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    "Participant 41,Ada Lovelace,ada@uni.example,Submitted for grading,,100.00,Yes,-,-,\n"
    "Participant 42,Grace Hopper,grace@uni.example,Submitted for grading,12.00,100.00,No,-,-,good\n"
    "Participant 43,Emmy Noether,emmy@uni.example,No submission,,100.00,Yes,-,-,\n"
)
DUE = datetime(2027, 1, 31, 12)
A_DAY_AND_A_HALF_LATE = DUE.replace(tzinfo=UTC) + timedelta(hours=36)


def course_with_a_class(released: Path, folder: Path) -> Path:
    """A copy of the released course, with four students."""
    shutil.copytree(released, folder)
    make_folder(folder, "mathematics_of_attention")
    add_students(folder, CLASS)
    enrol(folder, CLASS)
    return folder


def url(course: Path) -> str:
    return f"sqlite:///{course / 'gradebook.db'}"


def record(course: Path, *outcomes, handed_in: datetime | None = None) -> None:
    with recorder_of(course, nbgrader_configuration(course)) as recorder:
        for each in outcomes:
            recorder.record(each, each, handed_in)


def grade(course: Path) -> Path:
    """Ada has 3 + 4 and 1.5 for her proof, Grace 1 + 4 and waits; the others handed in nothing."""
    record(course, outcome("ada"), outcome("grace", code=1.0))
    mark_by_hand(url(course), PROOF, "ada", manual_score=1.5)
    return course


def grade_late(course: Path) -> Path:
    """Ten percent a day; Ada and Grace handed in a day and a half late."""
    settings = course / "local_config.py"
    settings.write_text(
        settings.read_text()
        + 'c.AssignLatePenalties.plugin_class = "autograder.classroom.late.PercentADay"\n'
    )
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(STEM, duedate=DUE)
    record(course, outcome("ada"), outcome("grace"), handed_in=A_DAY_AND_A_HALF_LATE)
    return course


class Settled:
    """A pool that judges nobody: each outcome is known before, and an answer of Ada's is gone."""

    def grade(self, jobs):
        for job in jobs:
            found = outcome(job.student, key=job.key)
            missing = Note.of(Kind.ANSWER_MISSING, cell="row-means")
            yield replace(found, repairs=(missing,) * (job.student == "ada"))


def hand_in_settled(course: Path, notebook: bytes, monkeypatch) -> Path:
    """Of Ada and Grace, each with a proof that waits, to be graded by `Settled`."""
    for student in ("ada", "grace"):
        folder = course / "submitted" / student / STEM
        folder.mkdir(parents=True)
        (folder / f"{STEM}.ipynb").write_bytes(notebook)
    monkeypatch.setattr(
        "autograder.commands.grade.make_pool",
        lambda *words: lambda folder, data: nullcontext(Settled()),
    )
    return course


def template(folder: Path, text: str) -> Path:
    path = folder / "template.csv"
    path.write_text(text)
    return path


def run(verb: click.Command, course: Path, *words: str, code: int | None = None) -> Result:
    """What this verb does in this course folder."""
    done = CliRunner().invoke(verb, [*words, "--course", str(course)])
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    assert code is None or done.exit_code == code, done.output
    return done
