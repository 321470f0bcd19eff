"""What the commands find in a class: how many, who, and where it goes on.

How they say it is in tests/messages/test_course_verbs.py.
"""

import json

import pytest

from autograder.commands.grade import grade
from autograder.commands.island import island
from autograder.grading.changes import before_and_after
from autograder.grading.grade_class import Change
from autograder.roster.students import labels
from tests.classroom.graded_course import CLASS, hand_in_settled, run, url
from tests.grading.gradebook_fixtures import PROOF, STEM, mark_by_hand


@pytest.fixture
def handed_in(course, notebook, monkeypatch):
    return hand_in_settled(course, notebook, monkeypatch)


def report(course, *words: str) -> dict:
    return json.loads(run(grade, course, STEM, "--json", *words).stdout)


def test_answers_that_wait_are_counted_whenever_they_were_graded(handed_in):
    first, second = report(handed_in), report(handed_in)
    assert (first["graded"], first["unchanged"], first["needs_person"]) == (2, 0, 2)
    assert (second["graded"], second["unchanged"], second["needs_person"]) == (0, 2, 2)
    for student in ("ada", "grace"):
        mark_by_hand(url(handed_in), PROOF, student, manual_score=1.0)
    assert report(handed_in, "--again")["needs_person"] == 0


def test_a_deleted_answer_is_told_with_whose_it_is(handed_in):
    """A person should look: it is no mark that was earned."""
    told = run(grade, handed_in, STEM, code=1).output
    assert "Ada Lovelace" in told and "row_means" in told and "Grace Hopper" not in told


def test_a_changed_mark_says_whose_it_is():
    told = before_and_after([Change("kurt", "sums-check", 3.0, 4.0)], labels(CLASS))
    row = ["kurt", "Kurt", "Gödel", "sums-check", "3", "4"]
    assert row in [line.split() for line in told]


def test_a_name_that_fits_nobody_is_told(handed_in):
    assert "x*" in run(grade, handed_in, STEM, "--student", "x*", code=2).output


@pytest.mark.parametrize("words", [(), ("--again",)])
def test_a_run_that_is_stopped_ends_with_130(handed_in, monkeypatch, words):
    def stop(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.commands.grade.grade_class", stop)
    told = run(grade, handed_in, STEM, *words, code=130).output
    assert ("--again" in told) == bool(words), "what goes on from there"


def test_an_island_for_somebody_who_is_not_in_the_list_is_made_and_told(course):
    for student in ("zoe", "ada"):
        told = run(island, course, student, code=0).output
        assert (course / "quizzes" / f"island-{student}.html").is_file()
        assert (len(told.splitlines()) == 3) == (student == "zoe")
