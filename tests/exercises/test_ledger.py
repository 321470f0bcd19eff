"""The ledger finds a claim that is lost, only said, or computed by a cell that does not run."""

import pytest

from autograder.paths import ROOT
from autograder.tools.ledger import Claim, check_page, read_claims, read_page, run_page

HEAD = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n  display_name: Python 3\n---\n\n"
CELL = "```{code-cell} ipython3\n1 + 1\n```\n"
CLAIMS = {"C001": Claim("C001", 7, "one"), "C002": Claim("C002", 7, "two", computed=False)}


@pytest.fixture
def page(tmp_path):
    """Write a chapter 7 and read its marks."""

    def write(text):
        path = tmp_path / "07_topic.md"
        path.write_text(HEAD + text)
        return read_page(path)

    return write


def test_there_are_194_claims_in_14_chapters():
    claims = read_claims()
    assert len(claims) == 194
    assert {claim.chapter for claim in claims.values()} == set(range(1, 15))
    assert all(claim.says for claim in claims.values())


def test_a_marked_and_computed_claim_is_covered(page):
    found = page(f"% claims: C001\n\n{CELL}\nWords.\n\n% claims: C002\n\nMore words.\n")
    check_page(found, CLAIMS)
    assert found.faults == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"% claims: C001\n\n{CELL}", "C002 is missing: two"),
        (f"% claims: C001 C002\n\nOnly words.\n\n{CELL}", ":8: C001 is said but not computed: one"),
        (f"% claims: C001 C002 C999\n{CELL}", ":8: there is no claim C999"),
    ],
)
def test_a_lost_claim_is_named_with_its_line(page, text, fault):
    found = page(text)
    check_page(found, CLAIMS)
    assert any(fault in said for said in found.faults), found.faults


def test_an_exercise_computes_too(page):
    found = page("% claims: C001 C002\n```{course-exercise} softmax\n```\n")
    check_page(found, CLAIMS)
    assert found.faults == []


def test_a_computation_that_stops_is_no_computation(page, monkeypatch):
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    found = page(f"% claims: C002\n\n{CELL}\n% claims: C001\n\n{CELL.replace('1 + 1', '1 / 0')}")
    run_page(found)
    assert found.faults == [
        "chapters/07_topic.md:16: the computation of C001 does not run: ZeroDivisionError"
    ]


def test_every_chapter_that_exists_is_whole():
    claims = read_claims()
    for path in sorted((ROOT / "chapters").glob("[0-9][0-9]_*.md")):
        found = read_page(path)
        check_page(found, claims)
        assert found.faults == []
