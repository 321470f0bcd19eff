"""The class report counts right, names nobody unless asked, and asks nobody for anything."""

import json
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import datetime

import pytest
from click.testing import CliRunner

from autograder.commands.cli import main
from autograder.exercises.cell_ids import CellIds
from autograder.grading.notes import Fact, Kind
from autograder.paths import ROOT
from autograder.release.course_folder import open_gradebook
from autograder.release.outline import Outline, OutlinedExercise
from autograder.reports.anonymous import AnonymousFinding, AnonymousResult, AnonymousSubmission
from autograder.reports.class_report import ClassCount
from autograder.reports.pages import sentence
from autograder.reports.results import read_sheets
from course_lib.checking.findings import FailureKind
from tests.reports.conftest import STEM

pytestmark = pytest.mark.whole
LATE = 'c.AssignLatePenalties.plugin_class = "autograder.classroom.late.PercentADay"\n'
CLASS = ("ada", "bo", "cy", "di", "ed", "flo", "gus", "absent", "Lovelace")


def report(course, *words: str) -> str:
    words = ["report", STEM, "--course", str(course), *words]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    name = f"{STEM}-with-names.html" if "--names" in words else f"{STEM}.html"
    return (course / "reports" / name).read_text()


def table(page: str, heading: str) -> list[list[str]]:
    """The texts of the cells of the table below a heading."""
    from bs4 import BeautifulSoup

    below = BeautifulSoup(page, "html.parser").find("h2", string=heading)
    rows = below.find_next("table").tbody.find_all("tr")
    return [[cell.get_text(" ", strip=True) for cell in row.find_all("td")] for row in rows]


def logs(course) -> list[dict]:
    return [json.loads(path.read_text()) for path in (course / "grading" / STEM).glob("*.json")]


def test_it_counts_what_the_logs_say(course):
    page, found = report(course), logs(course)
    failed, slips, unattempted = Counter(), Counter(), Counter()
    for log in found:
        for mark in log["marks"]:
            unattempted[mark["cell"]] += mark["state"] == "not attempted"
            failed.update(f["property"] for f in mark["findings"] if not f["passed"])
            slips.update({(mark["cell"], f["mistake"]) for f in mark["findings"] if f["mistake"]})
    assert f"{len(found)} handed in" in page and "1 of the list handed in nothing" in page
    exercises = {row[0].partition(" ")[0]: row for row in table(page, "Exercises")}
    assert int(exercises["3.1"][-1]) == unattempted["softmax-check"] > 0
    assert int(exercises["3.2"][-1]) == unattempted["what-softmax-forgets-check"]
    hardest = table(page, "Properties, the hardest first")
    assert sum(int(row[1]) for row in hardest) == sum(failed.values())
    assert sum(int(row[2]) for row in table(page, "Misconceptions")) == sum(slips.values())
    assert max(slips.values()) == 2  # ada and bo made the same ones
    shares = [int(row[1]) / int(row[2]) for row in hardest]
    assert shares == sorted(shares, reverse=True)


def test_it_names_nobody_unless_asked(course):
    page = report(course)
    words = set(page.replace(",", " ").replace("<", " ").replace(">", " ").split())
    assert not words & set(CLASS)
    assert "my homework" not in page  # the name of a file is often that of its author
    named = report(course, "--names")
    assert "absent" in named and "ada, bo" in named and "my homework" in named
    assert (course / "reports" / f"{STEM}-with-names.html").stat().st_mode & 0o077 == 0


def test_marks_that_are_not_final_are_told_beneath_the_headline(course):
    page = report(course)
    rows = [row for sheet in read_sheets(course, STEM).values() for row in sheet.cells.values()]
    waiting = sum(row.waits for row in rows)
    told = f"{waiting} answers wait for a person; these marks are not final"
    assert page.index("is the median") < page.index(told) < page.index("handed in")
    assert "late penalties" not in page
    with sqlite3.connect(course / "gradebook.db") as db:
        db.execute("UPDATE grade SET manual_score = 0 WHERE auto_score IS NULL")
        db.execute("UPDATE grade SET needs_manual_grade = 0")
    (course / "local_config.py").write_text(LATE)
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(STEM, duedate=datetime(2020, 1, 1))
        gradebook.find_submission(STEM, "ada").timestamp = datetime(2020, 1, 2, 12)
        gradebook.db.commit()
    page = report(course)
    assert "not final" not in page
    assert "what is left after late penalties, which 1 of them has" in page


SUMS = OutlinedExercise("sums", "1.1", "Sums", "code", CellIds.of("sums"))
FAILED = AnonymousFinding("it sums", hidden=False, passed=False, mistake="")
LOOP = Fact(Kind.CALL_FAILED, exercise="sums", cause=FailureKind.TOO_SLOW)


def test_a_built_proof_and_a_loop_want_no_other_mistake():
    """A wrong order of lines and a loop without end give no numbers that a mistake could give."""
    assert unnamed(SUMS) == {"1.1": 1}
    assert unnamed(SUMS, replace(LOOP, exercise="means")) == {"1.1": 1}
    assert unnamed(SUMS, LOOP) == {}
    assert unnamed(replace(SUMS, kind="proof blocks")) == {}


def unnamed(exercise: OutlinedExercise, *incidents: Fact) -> dict[str, int]:
    """Exercises in which somebody has failed in a way that no mistake explains."""
    result = AnonymousResult(exercise, 3.0, share=0.0, attempted=True, findings=(FAILED,))
    submission = AnonymousSubmission(
        points=0.0,
        most=3.0,
        waiting=0,
        late=False,
        results=(result,),
        repairs=frozenset(),
        incidents=frozenset(incidents),
        seconds={},
    )
    count = ClassCount(Outline(STEM, "Sums", (exercise,)))
    count.add(submission)
    return count.summary(0).unnamed


def test_with_names_the_instructor_reads_what_hidden_tests_saw(course):
    hidden = [
        finding["evidence"].partition(";")[0]
        for log in logs(course)
        for mark in log["marks"]
        for finding in mark["findings"]
        if finding["hidden"] and not finding["passed"]
    ]
    assert len(set(hidden)) > 2
    named, page = report(course, "--names"), report(course)
    assert all(sentence(evidence).partition("'")[0] in named for evidence in hidden)
    assert not any(evidence in page for evidence in hidden)


IMPORTED = f"""
import sys
from autograder.commands.cli import main
try:
    main(["report", "{STEM}", "--course", sys.argv[1]])
except SystemExit as ended:
    print(ended.code, *[name for name in ("sphinx", "torch", "distributed") if name in sys.modules])
"""


def test_it_needs_neither_sphinx_nor_torch_nor_dask(course):
    """Which take seconds to import."""
    words = [sys.executable, "-c", IMPORTED, str(course)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0", done.stdout + done.stderr


@pytest.mark.browser
def test_its_picture_comes_first_and_it_asks_nobody_for_anything(course, browser):
    report(course)
    path = course / "reports" / f"{STEM}.html"
    with browser.new_context(viewport={"width": 390, "height": 800}) as context:
        tab, asked = context.new_page(), []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(path.as_uri())
        assert asked == [path.as_uri()]
        assert tab.locator("script").count() == 0
        pictures = tab.locator("svg[aria-label]:visible")
        assert pictures.count() == 3
        widths = [pictures.nth(number).bounding_box()["width"] for number in range(3)]
        assert all(300 < width < 390 for width in widths), "nothing is hidden at the side"
        picture, first_table = tab.locator("svg:visible").first, tab.locator("table").first
        assert picture.bounding_box()["y"] < first_table.bounding_box()["y"]
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
