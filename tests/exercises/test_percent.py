"""A notebook and its plain Python file say the same, whatever an editor has made of the file."""

import ast

import pytest

from course_lib.checking.percent import as_text, cells_of, version_in, with_cell

CELLS = [
    {"id": "set-up", "cell_type": "code", "source": "import numpy as np"},
    {"id": "f-task", "cell_type": "markdown", "source": "## Task\n\n- $x^2$\n\n# deep"},
    {"id": "f", "cell_type": "code", "source": 'def f(x):\n    r"""Say.\n\n    # 1"""\n    ...'},
    {"id": "why", "cell_type": "markdown", "source": "*Write here.*"},
]
FILE = as_text("Rows", "0.1.0+abc", CELLS)


def ids(cells):
    return [cell["id"] for cell in cells]


def test_what_was_written_is_read_again():
    assert cells_of(FILE) == CELLS
    assert version_in(FILE) == "0.1.0+abc"
    ast.parse(FILE)


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_the_ends_of_lines_do_not_matter(ending):
    assert cells_of(FILE.replace("\n", ending)) == CELLS


def test_a_mark_without_a_name_begins_a_cell_of_the_student():
    text = FILE.replace('# %% id="f"', '# %%\nhalf = 0.5\n\n# %% id="f"')
    assert cells_of(text)[2] == {"id": None, "cell_type": "code", "source": "half = 0.5"}
    assert ids(cells_of(text)) == ["set-up", "f-task", None, "f", "why"]


def test_code_under_a_text_is_a_cell_of_the_student():
    text = FILE.replace("# # deep", "# # deep\n\nhalf = 0.5\n# of one\n")
    task, own = cells_of(text)[1:3]
    assert task == CELLS[1]
    assert own == {"id": None, "cell_type": "code", "source": "half = 0.5\n# of one"}


def test_code_above_the_first_mark_is_a_cell_of_the_student():
    assert cells_of("import math\n" + FILE)[0]["source"].startswith("import math")


def test_a_file_without_marks_is_one_cell():
    assert ids(cells_of("x = 1\n")) == [None]
    assert cells_of("# only words\n") == []


@pytest.mark.parametrize("name", ["f", "why"])
def test_one_cell_is_put_back_and_the_rest_of_the_file_stays(name):
    changed = with_cell(FILE, name, "new")
    for before, after in zip(CELLS, cells_of(changed), strict=True):
        assert after == (before | {"source": "new"} if before["id"] == name else before)
    starter = next(cell["source"] for cell in CELLS if cell["id"] == name)
    assert cells_of(with_cell(changed, name, starter)) == CELLS


def test_a_cell_that_was_deleted_comes_back_at_the_end():
    gone = FILE.replace('# %% id="f"\n', "")
    assert cells_of(with_cell(gone, "f", "new"))[-1] == CELLS[2] | {"source": "new"}
