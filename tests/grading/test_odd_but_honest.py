"""Honest hand-ins that are odd earn what their answers are worth, and the same every time."""

import shutil
import sys

import pytest

from autograder.demo.made_up_class import Class
from autograder.demo.odd import ODD
from autograder.exercises.assignment import load_assignment
from autograder.grading import package
from autograder.grading.pool import LocalPool
from autograder.grading.referee import Job
from autograder.paths import ROOT
from tests.shared import let_everybody_enter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")

STEM = "03_softmax"
MANY = (
    "300,000 lines printed",
    "25 figures",
    "a picture of nine",
    "a table from the laptop that binds a parameter's name",
    "an experiment that fails behind its answer",
    "an answer that is timed",
    "UTF-16",
)
"""Of which each kind once made a mark another, or made it vary."""


@pytest.fixture(scope="module")
def maker(released_softmax):
    return Class(load_assignment(ROOT / "solutions" / STEM), released_softmax)


@pytest.fixture(scope="module")
def unpacked(released_softmax, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd") / "package"
    package.unpack(package.pack(released_softmax, STEM), folder)
    let_everybody_enter(folder)
    yield folder
    shutil.rmtree(folder)


def test_the_corpus_is_large_and_each_has_a_name_of_its_own():
    assert len(ODD) >= 60
    assert len({odd.name for odd in ODD}) == len(ODD)
    assert {odd.name for odd in ODD} >= set(MANY)


def marks_of(unpacked, members) -> dict[str, dict[str, float]]:
    called = {member.name: f"{member.name}, {member.kind}" for member in members}
    jobs = [Job(member.name, STEM, "key", 1, member.files) for member in members]
    with LocalPool(unpacked, STEM, 2) as pool:
        outcomes = list(pool.grade(jobs))
    assert len(outcomes) == len(members)
    return {
        called[outcome.student]: {
            mark.cell: mark.points for mark in outcome.marks if mark.cell in members[0].points
        }
        for outcome in outcomes
    }


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param([odd for odd in ODD if odd.name in MANY], marks=pytest.mark.whole, id="some"),
        pytest.param(ODD, marks=pytest.mark.slow, id="all"),
    ],
)
def test_everybody_gets_what_is_due(maker, unpacked, chosen):
    members = [maker.odd(f"student_{number:03}", odd) for number, odd in enumerate(chosen)]
    got = marks_of(unpacked, members)
    assert got == {f"{one.name}, {one.kind}": pytest.approx(maker.full) for one in members}


@pytest.mark.slow
def test_the_same_file_gets_the_same_mark_twenty_times(maker, unpacked):
    odd = next(odd for odd in ODD if odd.name == "300,000 lines printed")
    for _ in range(4):
        members = [maker.odd(f"student_{number}", odd) for number in range(5)]
        marks = list(marks_of(unpacked, members).values())
        assert marks == 5 * [pytest.approx(maker.full)]
