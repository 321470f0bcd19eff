"""What the commands say of a class: how many, who, and what to type next."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.grading.command import grade
from tests.grader.rows import PROOF, STEM, mark_by_hand, outcome


def run(verb, *words: str, course: Path, code: int | None = None) -> str:
    done = CliRunner().invoke(verb, [*words, "--course", str(course)])
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    assert code is None or done.exit_code == code, done.output
    return done.output


class Settled:
    """A pool that judges nobody: each outcome is known before."""

    def grade(self, jobs):
        for job in jobs:
            yield outcome(job.student, key=job.key)


@pytest.fixture
def handed_in(course, notebook, monkeypatch) -> Path:
    """Of Ada and Grace, each with a proof that waits."""
    for student in ("ada", "grace"):
        folder = course / "submitted" / student / STEM
        folder.mkdir(parents=True)
        (folder / f"{STEM}.ipynb").write_bytes(notebook)
    monkeypatch.setattr(
        "autograder.grading.command.make_pool",
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
