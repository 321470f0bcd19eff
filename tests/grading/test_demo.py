"""course demo: what it says of a class is so."""

import re

import pytest
from click.testing import CliRunner

from autograder.commands import demo as demo_command
from autograder.commands.cli import main
from autograder.demo.attacks import ATTACKS, THEMES
from autograder.demo.attacks.attack import Attack
from autograder.demo.made_up_class import Class
from autograder.exercises.assignment import load_assignment
from autograder.paths import ROOT
from tests.shared import let_everybody_enter

pytestmark = pytest.mark.whole
KINDS = {"right", "known mistakes", "nearly right", "broken", "attack"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    let_everybody_enter(tmp_path)
    monkeypatch.setattr(demo_command, "DEMO", tmp_path / "demo")
    return tmp_path / "demo"


def run(*words: str):
    return CliRunner().invoke(main, ["demo", *words], catch_exceptions=False)


def kinds(output: str) -> dict[str, tuple[int, int]]:
    """Kind: how many, and how many as due."""
    rows = re.findall(r"^([a-z ]+?) {2,}(\d+) +(\d+) ", output, re.MULTILINE)
    return {kind: (int(all_of_it), int(due)) for kind, all_of_it, due in rows}


def test_every_mark_of_a_small_class_is_what_is_due(folder):
    folder.mkdir()
    (folder / "left.txt").write_text("of an earlier demo")
    done = run("--students", "14")
    assert done.exit_code == 0, done.output
    assert not (folder / "left.txt").exists()
    table = kinds(done.output)
    assert set(table) == KINDS
    assert sum(number for number, _ in table.values()) == 14
    assert all(number == due for number, due in table.values())
    assert "14 graded" in done.output and "every mark is what is due" in done.output
    assert len(done.output.splitlines()) < 24
    for place in ("gradebook.db", "autograded", "grading"):
        assert (folder / place).exists()


def test_a_mark_that_is_not_due_is_told(folder, monkeypatch):
    """What the class expects is changed, so that the grader is right and the class is not."""
    monkeypatch.setattr(Class, "earned", lambda *_: 0.25)
    done = run("--chapter", "04_scaling", "--students", "8")
    assert done.exit_code == demo_command.NOT_AS_DUE
    assert re.search(r"student_\d+ \(nearly right\): [\d.]+ points, [\d.]+ due", done.output)
    number, due = kinds(done.output)["nearly right"]
    assert due < number


def test_an_unknown_chapter_is_told_with_the_known_ones():
    done = run("--chapter", "03_sofmax")
    assert done.exit_code == 2
    assert "03_softmax" in done.output


def test_attacks_have_a_table_of_their_own(folder, monkeypatch):
    some = [ATTACKS[0], Attack("nothing at all", "nobody")]
    monkeypatch.setattr(demo_command, "THEMES", dict.fromkeys(list(THEMES)[:1], some))
    done = run("--attacks")
    assert done.exit_code == 0, done.output
    for attack in some:
        assert re.search(rf"{attack.name}\s+{attack.held_by}\s+0\s", done.output)


def test_a_class_is_the_same_each_time_and_as_large_as_asked(released_softmax):
    assignment = load_assignment(ROOT / "solutions" / "03_softmax")
    maker = Class(assignment, released_softmax)
    for number in (1, 7, 50, 90):
        members = list(maker.members(number))
        assert len({member.name for member in members}) == number
        assert [m.files for m in members] == [m.files for m in maker.members(number)]
