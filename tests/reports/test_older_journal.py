"""A class that an earlier version of the grader has graded keeps its marks and what was told."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.commands.cli import main
from autograder.grading.journal import Journal
from autograder.grading.notes import Kind, Note
from autograder.grading.outcome import Outcome
from autograder.release.course_folder import open_gradebook
from tests.grading.gradebook_fixtures import STEM

pytestmark = pytest.mark.whole

RENAMED = "the notebook is called Ada Lovelace.ipynb; 01_rows.ipynb was expected"
LOOP = "row_means: it took more than 2 seconds"
ROW = {
    "student": "ada",
    "assignment": STEM,
    "key": "4b1d",
    "marks": [
        {
            "cell": "row-means-check",
            "points": 1.0,
            "most": 3.0,
            "state": "graded",
            "answer": "51e9",
            "findings": [
                {
                    "test": "test_means_of_a_matrix",
                    "property": "Each row of a matrix gives its mean",
                    "passed": True,
                    "core": True,
                    "hidden": False,
                    "evidence": "",
                    "hint": "",
                    "mistake": "",
                },
                {
                    "test": "test_equal_entries",
                    "property": "A row of equal entries has this entry as its mean",
                    "passed": False,
                    "core": False,
                    "hidden": True,
                    "evidence": "hidden",
                    "hint": "how many entries are there?",
                    "mistake": "the sum, not divided",
                },
                {
                    "test": "test_a_stack_of_matrices",
                    "property": "Each row of each matrix in a stack gives its mean",
                    "passed": False,
                    "core": False,
                    "hidden": True,
                    "evidence": "it raised ValueError, line 3",
                    "hint": "which axis is the last?",
                    "mistake": "",
                },
            ],
            "comment": "",
        },
        {
            "cell": "what-a-mean-forgets-check",
            "points": 0.0,
            "most": 4.0,
            "state": "graded",
            "answer": "77aa",
            "findings": [],
            "comment": "what_a_mean_forgets: your cells stop with NameError: no a: b",
        },
        {
            "cell": "mean-of-a-shift",
            "points": None,
            "most": 2.0,
            "state": "by hand",
            "answer": "90c2",
            "findings": [],
            "comment": "",
        },
    ],
    "repairs": [RENAMED],
    "incidents": [LOOP],
    "seconds": {"rebuild": 0.01, "run": 0.2, "referee": 0.3, "write": 0.01},
    "notebook": "",
    "too_slow": False,
}
"""As the version before typed notes wrote it."""


@pytest.fixture
def course(released, tmp_path) -> Path:
    course = shutil.copytree(released, tmp_path / "course")
    notebook = (course / "release" / STEM / f"{STEM}.ipynb").read_text()
    with Journal(course / "grading" / "journal.db"):
        pass
    with closing(sqlite3.connect(course / "grading" / "journal.db")) as db, db:
        row = ("ada", STEM, "judged", ROW["key"], json.dumps(ROW | {"notebook": notebook}))
        db.execute("INSERT INTO outcome VALUES (?, ?, ?, ?, ?)", row)
    return course


def run(course: Path, verb: str, *words: str) -> str:
    done = CliRunner().invoke(main, [verb, *words, "--course", str(course)])
    nobody_handed_in = 2 if verb == "grade" else 0
    assert done.exit_code == nobody_handed_in, done.output
    return done.stdout


def test_marks_and_findings_are_read_as_they_were_written():
    outcome = Outcome.from_json(json.dumps(ROW))
    code, blocks, proof = outcome.marks
    assert [(m.points, m.most, m.state, m.answer) for m in outcome.marks] == [
        (m["points"], m["most"], m["state"], m["answer"]) for m in ROW["marks"]
    ]
    assert [f.evidence for f in code.findings] == ["", "hidden", "it raised ValueError, line 3"]
    assert blocks.comment == ROW["marks"][1]["comment"]
    assert blocks.reason == "your cells stop with NameError: no a: b"
    assert outcome.repairs == (Note.of(Kind.LEGACY, RENAMED),)
    assert outcome.incidents == (Note.of(Kind.LEGACY, LOOP),)
    assert Outcome.from_json(outcome.to_json()) == outcome


def test_a_run_that_was_stopped_is_recorded_and_pages_show_the_same(course):
    """Judged by the earlier version, never recorded: it is recorded with these very marks."""
    report = json.loads(run(course, "grade", STEM, "--json"))
    assert {tuple(problem) for problem in report["problems"]} == {("ada", RENAMED), ("ada", LOOP)}
    with open_gradebook(course) as gradebook:
        grades = gradebook.find_submission(STEM, "ada").notebooks[0].grades
        scores = {grade.name: grade.auto_score for grade in grades}
    assert scores == {mark["cell"]: mark["points"] for mark in ROW["marks"]}
    (course / "submitted" / "ada" / STEM).mkdir(parents=True)
    run(course, "feedback", STEM)
    page = (course / "feedback" / "ada" / STEM / f"{STEM}.html").read_text()
    assert "<strong>1</strong> of 9 points" in page
    assert "Its numbers stay with the grader." in page and "It raised an exception" in page
    assert "your cells stop with NameError" in page.lower().replace("nameerror", "NameError")
    assert "Ada Lovelace.ipynb" in page
    run(course, "report", STEM)
    assert "Lovelace" not in (course / "reports" / f"{STEM}.html").read_text()
    run(course, "report", STEM, "--names")
    assert "Ada Lovelace.ipynb" in (course / "reports" / f"{STEM}-with-names.html").read_text()
    assert "--again" in run(course, "why", "ada", "row_means")


def test_a_release_without_an_outline_is_read_from_its_cells_and_records(course):
    run(course, "grade", STEM)
    (course / "release" / STEM / "checks" / "assignment.json").unlink()
    told = run(course, "why", "ada", "row_means")
    assert "1.1 row_means: The mean of every row" in told and "1 points of 3" in told
    (course / "submitted" / "ada" / STEM).mkdir(parents=True)
    run(course, "feedback", STEM)
    page = (course / "feedback" / "ada" / STEM / f"{STEM}.html").read_text()
    assert "<strong>1</strong> of 9 points" in page
