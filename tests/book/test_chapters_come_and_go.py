"""A chapter is added and dropped as CONTRIBUTING says, and the build names what else must change.

In books of a few lines; what holds there holds for the real one, whose build is the same.
"""

import shutil

import pytest

from tests.book.conftest import ROOT
from tests.grading.gradebook_fixtures import SMALL_COURSE

pytestmark = [pytest.mark.slow, pytest.mark.whole]

FIRST = "# First\n\nWhat it costs is counted in {doc}`98_costs`.\n\nIt is {prf:ref}`thm-cost`.\n"
COSTS = "# Costs\n\n```{prf:theorem} Cost\n:label: thm-cost\nIt costs $n^2$.\n```\n"


def rows_of_contributing() -> str:
    return (ROOT / "CONTRIBUTING.md").read_text()


def test_a_chapter_with_an_exercise_is_added(book):
    """A page, its name in the table of contents, a folder of exercises."""
    shutil.copytree(SMALL_COURSE / "01_rows", book.root / "solutions" / "99_rows")
    (book.root / "course_lib").symlink_to(ROOT / "course_lib")
    assert "write `chapters/NN_topic.md`, name it in `_toc.yml`" in rows_of_contributing()
    names = ("row_means", "what_a_mean_forgets", "mean_of_a_shift")
    boxes = "".join(f"\n```{{course-exercise}} {name}\n```\n" for name in names)
    assert book.build(**{"99_rows": f"# Rows\n{boxes}"}) == ""
    html = book.html("99_rows")
    assert "Exercise 99.1" in html and 'id="ex-row-means"' in html


def test_every_line_that_points_to_a_dropped_chapter_is_named(book):
    assert book.build(**{"97_first": FIRST, "98_costs": COSTS}) == ""
    assert "take it out of `_toc.yml`" in rows_of_contributing()
    del book.pages["98_costs"]
    complaints = book.build().splitlines()
    for pointer, reason in (("{doc}", "unknown document: '98_costs'"), ("{prf:ref}", "thm-cost")):
        location = f"chapters/97_first.md:{book.line('97_first', pointer)}: "
        assert any(line.startswith(location) and reason in line for line in complaints), complaints
    assert book.build(**{"97_first": "# First\n\nWhat it costs is left out.\n"}) == ""
