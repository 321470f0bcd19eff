"""What the commands say of a class: how many, who, and what to type next."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.commands.grade import grade
from autograder.commands.island import island
from autograder.grading.changes import before_and_after
from autograder.grading.grade_class import Change
from autograder.grading.notes import Kind, Note
from autograder.roster.students import labels
from tests.classroom.graded_course import CLASS
from tests.grading.gradebook_fixtures import PROOF, STEM, mark_by_hand, outcome


def run(verb, *words: str, course: Path, code: int | None = None) -> str:
    done = CliRunner().invoke(verb, [*words, "--course", str(course)])
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    assert code is None or done.exit_code == code, done.output
    return done.output


class Settled:
    """A pool that judges nobody: each outcome is known before."""

    def grade(self, jobs):
        for job in jobs:
            found = outcome(job.student, key=job.key)
            missing = Note.of(Kind.ANSWER_MISSING, cell="row-means")
            yield replace(found, repairs=(missing,) * (job.student == "ada"))


@pytest.fixture
def handed_in(course, notebook, monkeypatch) -> Path:
    """Of Ada and Grace, each with a proof that waits."""
    for student in ("ada", "grace"):
        folder = course / "submitted" / student / STEM
        folder.mkdir(parents=True)
        (folder / f"{STEM}.ipynb").write_bytes(notebook)
    monkeypatch.setattr(
        "autograder.commands.grade.make_pool",
        lambda *words: lambda folder, data: nullcontext(Settled()),
    )
    return course


def test_answers_that_wait_are_counted_whenever_they_were_graded(handed_in):
    waiting = "2 answers wait for a person: type  jupyter lab"
    assert waiting in run(grade, STEM, course=handed_in)
    said = run(grade, STEM, course=handed_in)
    assert "0 graded, 2 unchanged" in said and waiting in said
    for student in ("ada", "grace"):
        mark_by_hand(f"sqlite:///{handed_in / 'gradebook.db'}", PROOF, student, manual_score=1.0)
    assert "wait for a person" not in run(grade, STEM, "--again", course=handed_in)


def test_a_deleted_answer_is_named_with_whose_it_is(handed_in):
    """A person should look: it is no mark that was earned."""
    told = run(grade, STEM, course=handed_in, code=1)
    assert "ada Ada Lovelace: 1.1 row_means: its answer cell is missing" in told


def test_a_changed_mark_says_whose_it_is():
    told = "\n".join(before_and_after([Change("kurt", "sums-check", 3.0, 4.0)], labels(CLASS)))
    assert "kurt Kurt Gödel  sums-check       3      4" in told


def test_a_name_that_fits_nobody_is_told(handed_in):
    said = run(grade, STEM, "--student", "x*", course=handed_in, code=2)
    assert f"no submission of {STEM} fits x*" in said


@pytest.mark.parametrize(
    ("words", "told"),
    [((), "the same command goes on"), (("--again",), "it goes on from there without --again")],
)
def test_a_run_that_is_stopped_says_how_to_go_on(handed_in, monkeypatch, words, told):
    def stop(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.commands.grade.grade_class", stop)
    assert told in run(grade, STEM, *words, course=handed_in, code=130)


def test_an_island_for_somebody_who_is_not_in_the_list_says_so(course):
    assert "zoe is not in the list of students" in run(island, "zoe", course=course)
    assert "is not in the list" not in run(island, "ada", course=course)
