"""What a student reads on the page that comes back, exercise by exercise."""

import shutil
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from autograder.commands.feedback import feedback
from autograder.grading.journal import Journal
from autograder.grading.outcome import Mark
from autograder.grading.referee import PROOF as PROOF_HOLDS
from course_lib.checking.findings import Finding
from tests.classroom.graded_course import record, run, url
from tests.grading.gradebook_fixtures import BLOCKS, CODE, PROOF, STEM, mark_by_hand, outcome

pytestmark = pytest.mark.whole
HELD = Finding("test_equal", "Equal rows have equal means", True)
CORE = Finding(
    *("test_means", "Each row gives its mean", False, True, False),
    *("entry 0: got 6, expected 2", "what is divided by what?", "the sum, not divided"),
)
HIDDEN = Finding("test_stack", "A stack gives a stack", False, False, True, "got 7")
BUILT = Finding("what_a_mean_forgets", PROOF_HOLDS, False, True, evidence="line b comes too early")
MARKS = {
    "some properties do not hold": Mark(CODE, 0.0, 3.0, findings=(HELD, CORE, HIDDEN)),
    "not attempted": Mark(CODE, 0.0, 3.0, "not attempted"),
    "could not be run": Mark(CODE, 0.0, 3.0, reason="SyntaxError: '(' was never closed"),
    "not gradable": Mark(CODE, None, 3.0, "not gradable"),
    "a proof that waits": Mark(PROOF, None, 2.0, "by hand"),
    "a proof that was marked": Mark(PROOF, None, 2.0, "by hand", comment="see the model"),
    "a proof that was built": Mark(BLOCKS, 0.0, 4.0, findings=(BUILT,)),
}


@pytest.fixture
def course(with_a_class, tmp_path):
    course = shutil.copytree(with_a_class, tmp_path / "course")
    (course / "submitted" / "ada").mkdir(parents=True)
    shutil.copytree(course / "release" / STEM, course / "submitted" / "ada" / STEM)
    return course


def page_of(course, *marks: Mark) -> BeautifulSoup:
    """What Ada gets back who has these marks, and full ones else."""
    by_cell = {mark.cell: mark for mark in outcome().marks} | {mark.cell: mark for mark in marks}
    notebook = (course / "release" / STEM / f"{STEM}.ipynb").read_text()
    found = replace(outcome(), marks=tuple(by_cell.values()), notebook=notebook)
    with Journal(course / "grading" / "journal.db") as journal:
        journal.store(found)
        record(course, found)
        journal.mark_recorded(found)
    run(feedback, course, STEM, code=0)
    html = (course / "feedback" / "ada" / STEM / f"{STEM}.html").read_text()
    return BeautifulSoup(html, "html.parser")


def text_of(part) -> str:
    for away in part.select("details"):
        away.decompose()
    blocks = part.select("p, h3, li:not(:has(p))")
    return "\n".join(" ".join(block.get_text().split()) for block in blocks)


@pytest.mark.parametrize("mark", MARKS.values(), ids=MARKS)
def test_an_exercise(course, reads, mark):
    page = page_of(course, mark)
    if mark.comment:
        mark_by_hand(url(course), PROOF, "ada", manual_score=1.5)
        page = page_of(course, mark)
    reads(text_of(page.find("section", id=mark.cell.removesuffix("-check"))))


def test_above_and_below_all_exercises(course, reads):
    page = page_of(course)
    made = page.find("footer").get_text().replace("\n", " ")
    reads(f"{text_of(page.find('header'))}\n{made.partition('Made ')[0]}")
