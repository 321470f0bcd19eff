"""What an author of exercises reads: a folder refused, an exercise begun, a proof of it."""

import shutil

import pytest
from click.testing import CliRunner

from autograder.commands.cli import main
from autograder.exercises.toml_tables import BadExercise
from tests.exercises.bad_folders import (
    BLOCKS,
    ENTRIES,
    FENCES,
    OTHERS,
    PROOF_ENTRIES,
    SOURCES,
    TOML,
)
from tests.exercises.conftest import GOOD, Spoilable

SHOWN_BY_OTHERS = {
    *("a truth value for a number", "a number for a truth value", "a goal that is a number"),
    *("no model answer", "a rubric point that is a number", "no library"),
    *("a distractor beside nothing", "a distractor without a reason", "a line without a text"),
    *("no statement", "a line that is written as a distractor", "two core tests"),
    *("a limit that is too small", "a part of a mebibyte", "a limit of a proof"),
    *("a line after a line that is not there", "a model answer beside the docstring"),
}
"""Their sentence is that of another entry, with other names in it."""


def once_each(table: dict[str, tuple], width: int):
    """Each kind of refusal once, under its name, with what is needed to spoil the course."""
    chosen = {name: row[:width] for name, row in table.items() if name not in SHOWN_BY_OTHERS}
    return {"argvalues": chosen.values(), "ids": chosen}


@pytest.fixture
def course(tmp_path) -> Spoilable:
    shutil.copytree(GOOD, tmp_path / "solutions")
    return Spoilable(tmp_path / "solutions")


@pytest.fixture
def refused(reads):
    def compare(load) -> None:
        with pytest.raises(BadExercise) as caught:
            load()
        reads(str(caught.value))

    return compare


@pytest.mark.parametrize(("old", "new"), **once_each(ENTRIES, 2))
def test_an_entry_of_assignment_toml(course, refused, old, new):
    course.spoil(TOML, old, new)
    refused(course.load)


@pytest.mark.parametrize(("old", "new"), **once_each(PROOF_ENTRIES, 2))
def test_an_entry_of_proof_toml(course, refused, old, new):
    course.spoil(BLOCKS, old, new)
    refused(course.load)


@pytest.mark.parametrize(("file", "old", "new"), **once_each(SOURCES, 3))
def test_a_source_file(course, refused, file, old, new):
    course.spoil(f"row_means/{file}", old, new)
    refused(course.load)


@pytest.mark.parametrize("spoilt", OTHERS.values(), ids=OTHERS)
def test_a_folder(course, refused, spoilt):
    spoilt.spoil(course)
    refused(course.load_all if spoilt.whole else course.load)


def test_a_code_cell_in_a_prompt(course, refused):
    course.append("row_means/prompt.md", f"\n{FENCES[0]}\n")
    refused(course.load)


@pytest.fixture
def said(tmp_path):
    """What a verb prints about this course."""

    def run(*words: str) -> str:
        words = [*words, "--course", str(tmp_path)]
        done = CliRunner().invoke(main, words, env={"COLUMNS": "120"}, catch_exceptions=False)
        return f"{done.stdout}\n{done.stderr}"

    return run


@pytest.fixture
def told(course, said, reads):
    return lambda *words: reads(said(*words))


@pytest.mark.parametrize("kind", ["code", "blocks", "proof"])
def test_an_exercise_is_begun(told, kind):
    told("new", "exercise", "01_rows/centred", "--kind", kind)


def test_what_is_there_is_not_begun(told):
    told("new", "exercise", "01_rows/row_means")


def test_what_is_no_name(told):
    told("new", "exercise", "rows/x")


def test_a_place_is_still_to_be_filled(course, said, reads):
    course.spoil(TOML, '"Rows"', '"FILL: the title"')
    reads(said("release", "01_rows").partition("Error: ")[2])


def test_an_exercise_is_proved(told):
    told("exercises", "row_means", "--seeds", "1", "--no-messages")


def test_above_what_each_wrong_answer_is_told(course, said, reads):
    reads(said("exercises", "row_means", "--seeds", "1").split("\n\n")[1])


def test_an_exercise_is_refused(course, said, reads):
    course.spoil("row_means/wrong.py", "return x.mean(1)", "return x.mean(-1)")
    printed = said("exercises", "row_means", "--seeds", "1", "--no-messages")
    reads(printed.rpartition("\n\n")[2])


def test_no_exercise_has_this_name(told):
    told("exercises", "row_mean")


def test_there_is_no_exercise(course, told):
    shutil.rmtree(course.chapter)
    told("exercises")
