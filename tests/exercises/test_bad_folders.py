"""A folder that cannot be used is refused with file, line where there is one, and remedy.

What its author reads is in tests/messages/test_authors.py.
"""

import pytest

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


def refused(load, path, line):
    """File and line come first, then the problem, and a remedy on a line of its own."""
    with pytest.raises(BadExercise) as caught:
        load()
    assert (caught.value.path, caught.value.line) == (path, line), caught.value
    problem, remedy = str(caught.value).splitlines()
    assert problem.startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert remedy.startswith("  ") and remedy.strip()


def test_a_good_folder_is_read(course):
    assignment = course.load()
    assert assignment.stem == "01_rows"
    assert assignment.minutes == 25
    assert [exercise.kind for exercise in assignment.exercises] == ["code", "proof blocks", "proof"]
    assert [exercise.number for exercise in assignment.exercises] == ["1.1", "1.2", "1.3"]
    assert [exercise.points for exercise in assignment.exercises] == [3, 4, 2]
    assert assignment["row_means"].starter.endswith('    r"""Return the mean of every row."""')


@pytest.mark.parametrize(("old", "new", "shown"), ENTRIES.values(), ids=ENTRIES)
def test_an_entry_of_assignment_toml(course, old, new, shown):
    course.spoil(TOML, old, new)
    refused(course.load, course.chapter / TOML, course.last_line_of(TOML, shown))


def test_toml_that_ends_too_early(course):
    course.append(TOML, "[goals")
    refused(course.load, course.chapter / TOML, course.last_line_of(TOML, "[goals"))


@pytest.mark.parametrize(("old", "new", "shown"), PROOF_ENTRIES.values(), ids=PROOF_ENTRIES)
def test_an_entry_of_proof_toml(course, old, new, shown):
    course.spoil(BLOCKS, old, new)
    line = course.last_line_of(BLOCKS, shown) if shown else None
    refused(course.load, course.chapter / BLOCKS, line)


@pytest.mark.parametrize(("file", "old", "new", "shown"), SOURCES.values(), ids=SOURCES)
def test_a_source_file(course, file, old, new, shown):
    file = f"row_means/{file}"
    course.spoil(file, old, new)
    line = course.last_line_of(file, shown) if shown else None
    refused(course.load, course.chapter / file, line)


@pytest.mark.parametrize("spoilt", OTHERS.values(), ids=OTHERS)
def test_a_folder(course, spoilt):
    spoilt.spoil(course)
    load = course.load_all if spoilt.whole else course.load
    refused(load, course.folder / spoilt.path, spoilt.line)


@pytest.mark.parametrize(
    "file",
    [f"row_means/{name}.py" for name in ("solution", "tests", "right", "wrong")]
    + ["row_means/prompt.md", BLOCKS, TOML],
)
def test_a_missing_file(course, file):
    (course.chapter / file).unlink()
    refused(course.load, course.chapter / file, None)


@pytest.mark.parametrize("cell", FENCES)
def test_a_prompt_with_a_code_cell(course, cell):
    course.append("row_means/prompt.md", f"\n{cell}\n")
    line = course.line_of("row_means/prompt.md", cell.partition("\n")[0])
    refused(course.load, course.chapter / "row_means/prompt.md", line)


def test_caches_and_hidden_folders_are_no_exercises(course):
    for name in ("__pycache__", ".ipynb_checkpoints"):
        (course.chapter / name).mkdir()
        (course.folder / name).mkdir()
    assert len(course.load_all()) == 1


def test_a_prompt_may_fence_an_equation(course):
    course.append("row_means/prompt.md", "\n```{math}\nx\n```\n")
    assert course.load()["row_means"].prompt.endswith("```")
