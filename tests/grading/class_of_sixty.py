"""A run over a class of sixty that somebody may kill: python -m tests.grading.class_of_sixty COURSE

The workers' part is left out: what they would find is computed from the student's name.
"""

import os
import signal
import sys
from itertools import count
from pathlib import Path

import sqlalchemy as sa

from autograder.grading.gradebook import Recorder
from autograder.grading.journal import Journal, course_lock
from autograder.grading.outcome import Outcome
from tests.grading.gradebook_fixtures import STEM, outcome

STUDENTS = [f"student_{k:02}" for k in range(60)]

MOMENTS = count()


def outcome_of(student: str, round_: int) -> Outcome:
    """In the second round every third student has changed the proof, every other one the code."""
    number = int(student[-2:])
    proof = "by magic" if round_ and number % 3 == 0 else "by induction"
    code = 2.0 if round_ and number % 2 == 0 else 1.0
    return outcome(student, code=code, proof=proof, key=f"{code} {proof}")


def run(course: Path, round_: int) -> None:
    with (
        course_lock(course),
        Journal(course / "grading" / "journal.db") as journal,
        Recorder(f"sqlite:///{course / 'gradebook.db'}") as recorder,
    ):
        sa.event.listen(recorder._database.engine, "before_cursor_execute", moment)
        for waiting in journal.unrecorded(STEM):
            settle(journal, recorder, waiting)
        for student in STUDENTS:
            judged = outcome_of(student, round_)
            if journal.find(student, STEM, judged.key):
                continue
            moment()
            journal.store(judged)
            print(student, flush=True)
            settle(journal, recorder, judged)


def settle(journal: Journal, recorder: Recorder, judged: Outcome) -> None:
    recorder.record(judged, journal.last_recorded(judged.student, STEM))
    moment()
    journal.mark_recorded(judged)


def moment(*_: object) -> None:
    """The run dies at the moment of this number, if KILL_AT says so."""
    if next(MOMENTS) == int(os.environ.get("KILL_AT", -1)):
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]))
