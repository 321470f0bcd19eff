"""SECURITY.md and `course sandbox` promise the same, and each promise has its tests."""

from dataclasses import replace

import pytest

from autograder.paths import ROOT
from autograder.sandbox.probes import GROUPS, Attempt, Found
from autograder.sandbox.promises import PROMISES


def test_the_page_says_what_the_program_says():
    page = (ROOT / "SECURITY.md").read_text()
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")][1:]
    assert [row[0].removeprefix("| ") for row in rows] == [one.words for one in PROMISES]
    for row, promise in zip(rows, PROMISES, strict=True):
        assert row[2].removesuffix(" |") == ", ".join(f"`{path}`" for path in promise.tested_by)


def test_what_tests_it_is_there():
    assert all((ROOT / path).is_file() for one in PROMISES for path in one.tested_by)
    assert {one.group for one in PROMISES} - {""} == set(GROUPS)


@pytest.mark.parametrize("group", GROUPS)
def test_a_promise_holds_where_all_attempts_against_it_were_held(group):
    promise = next(one for one in PROMISES if one.group == group)
    held = Found(Attempt(group, "", "", {}), True, "EPERM")
    assert promise.holds("namespaces", [held])
    assert not promise.holds("namespaces", [held, replace(held, held=False)])
    assert not promise.holds("trusted", []) and not promise.holds(None)
