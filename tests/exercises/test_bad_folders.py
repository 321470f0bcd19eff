"""A folder that cannot be used is refused with file, line where there is one, and remedy."""

import shutil

import pytest

from autograder.exercises.toml_tables import BadExercise

TOML = "assignment.toml"
BLOCKS = "what_a_mean_forgets/proof.toml"
NAME = 'name = "row_means"'


def refused(load, path, line, words):
    """File and line come first, then the words, and a remedy on a line of its own."""
    with pytest.raises(BadExercise) as caught:
        load()
    problem, remedy = str(caught.value).splitlines()
    assert problem.startswith(f"{path}:{line}: " if line else f"{path}: "), problem
    assert words in problem
    assert remedy.startswith("  ")
    assert remedy.strip()


def test_a_good_folder_is_read(course):
    assignment = course.load()
    assert assignment.stem == "01_rows"
    assert assignment.minutes == 25
    assert [exercise.kind for exercise in assignment.exercises] == ["code", "proof blocks", "proof"]
    assert [exercise.number for exercise in assignment.exercises] == ["1.1", "1.2", "1.3"]
    assert [exercise.points for exercise in assignment.exercises] == [3, 4, 2]
    assert assignment["row_means"].starter.endswith('    r"""Return the mean of every row."""')


ENTRIES = [
    ("minutes = 5", "minutes = five", "five", "is not valid TOML"),
    ("minutes = 5", "minute = 5", NAME, "has no `minutes`"),
    (NAME, f"{NAME}\ncolour = 3", "colour", "`colour` means nothing here"),
    (
        'forgets"\nminutes = 10',
        'forgets"\nminutes = "ten"',
        '"ten"',
        "is 'ten', not a whole number",
    ),
    ("required = true", "required = 1", "required", "`required` is 1, not true or false"),
    ("minutes = 5", "minutes = true", "minutes = true", "`minutes` is True, not a whole"),
    ("minutes = 5", "minutes = 0", "minutes = 0", "`minutes` is 0"),
    ("required = true", "points = -1", "points", "`points` is -1"),
    ("level = 1", "level = 5", "level = 5", "`level = 5` is unknown"),
    ('kind = "proof"', 'kind = "essay"', "essay", "`kind = 'essay'` is unknown"),
    ('kind = "proof"', 'kind = "proof"\nmarking = "no"', "marking", "`marking = 'no'` is unknown"),
    ('goal = "mean"', 'goal = "meen"', "meen", "the goal 'meen', which is not in [goals]"),
    ("[goals]", '[goals]\nidle = "rest"', "idle", "no exercise practises the goal 'idle'"),
    ('mean = "take the mean of every row"', "mean = 3", "mean = 3", "`mean` is 3, not a text"),
    ("required = true", 'libraries = ["jax"]', "jax", "`libraries` is ['jax']"),
    ("required = true", "libraries = []", "libraries", "`libraries` is []"),
    ('["course_lib.cross_attention"]', "[7]", "[7]", "`withholds` holds 7, not a text"),
    (NAME, 'name = "row means"', "row means", "'row means' is not a Python name"),
    ('name = "mean_of_a_shift"', NAME, NAME, "two exercises are called 'row_means'"),
    ('"It is', '"1", "2", "3", "It is', "rubric", "'mean_of_a_shift' has 5 rubric points"),
    ("model =", "modell =", 'name = "mean_of_a_shift"', "has no `model`"),
    ("rubric = [", "rubric = [1, ", "rubric", "`rubric` holds 1, not a text"),
]


@pytest.mark.parametrize(("old", "new", "shown", "words"), ENTRIES, ids=[e[3] for e in ENTRIES])
def test_an_entry_of_assignment_toml(course, old, new, shown, words):
    course.spoil(TOML, old, new)
    line = course.last_line_of(TOML, shown)
    refused(course.load, course.chapter / TOML, line, words)


def test_toml_that_ends_too_early(course):
    course.append(TOML, "[goals")
    line = course.last_line_of(TOML, "[goals")
    refused(course.load, course.chapter / TOML, line, "is not valid TOML")


def test_exercises_that_are_no_tables(course):
    course.write(TOML, 'title = "Rows"\nexercise = [7]\n[goals]\n')
    refused(course.load, course.chapter / TOML, 1, "`exercise` holds 7, not a table")


LINE_2, LINE_3 = "Multiply by", "Take the right"
PROOF_ENTRIES = [
    ("after = [1]", "after = 1]", "after = 1]", "is not valid TOML"),
    ("after = [1]", "after = [1, 3]", None, "has no valid order: some lines wait for each other"),
    ("after = [1]", "after = [2, 2]", "after = [2, 2]", "line 2 comes after line 2"),
    ("after = [2]", "after = [9]", "after = [9]", "line 3 comes after line 9"),
    ("after = [2]", 'after = ["2"]', 'after = ["2"]', "`after` holds '2', not a whole number"),
    ("after = [2]", "befor = [2]", "befor", "`befor` means nothing here"),
    ("beside = 2\n", "", "[[distractor]]", "has no `beside`"),
    ("beside = 2", "beside = 5", "beside", "`beside` names no line"),
    ('why = "(0, 2)', 'wy = "(0, 2)', "[[distractor]]", "has no `why`"),
    ('why = "(0, 2) and (1, 1) have equal means."', 'why = " "', "why", "`why` is empty"),
    ('text = "A diff', 'txt = "A diff', None, "has no `text`"),
    ("statement =", "claim =", None, "has no `statement`"),
    ('[[distractor]]\ntext = "', '[[line]]\ntext = "', "beside", "`beside` means nothing here"),
]


@pytest.mark.parametrize(
    ("old", "new", "shown", "words"), PROOF_ENTRIES, ids=[e[3] for e in PROOF_ENTRIES]
)
def test_an_entry_of_proof_toml(course, old, new, shown, words):
    course.spoil(BLOCKS, old, new)
    line = course.last_line_of(BLOCKS, shown) if shown else None
    if words == "has no `text`":
        line = course.last_line_of(BLOCKS, "[[line]]")
    refused(course.load, course.chapter / BLOCKS, line, words)


def test_a_proof_of_more_than_nine_lines(course):
    course.append(BLOCKS, '\n[[line]]\ntext = "And so on."\n' * 6)
    refused(course.load, course.chapter / BLOCKS, None, "has 10 lines")


@pytest.mark.parametrize(
    "file",
    [f"row_means/{name}.py" for name in ("solution", "tests", "right", "wrong")]
    + ["row_means/prompt.md", BLOCKS, TOML],
)
def test_a_missing_file(course, file):
    (course.chapter / file).unlink()
    refused(course.load, course.chapter / file, None, "is missing")


def test_a_missing_folder(course):
    shutil.rmtree(course.chapter / "row_means")
    refused(course.load, course.chapter / "row_means/prompt.md", None, "is missing")


def test_a_folder_that_no_exercise_lists(course):
    (course.chapter / "column_means").mkdir()
    refused(
        course.load,
        course.chapter / "column_means",
        None,
        "is not listed in assignment.toml",
    )


def test_caches_and_hidden_folders_are_no_exercises(course):
    for name in ("__pycache__", ".ipynb_checkpoints"):
        (course.chapter / name).mkdir()
        (course.folder / name).mkdir()
    assert len(course.load_all()) == 1


def test_a_folder_that_is_not_named_like_a_chapter(course):
    course.chapter.rename(course.folder / "rows")
    refused(course.load_all, course.folder / "rows", None, "is not named like a chapter")


def test_a_chapter_without_assignment_toml(course):
    (course.folder / "02_columns").mkdir()
    refused(course.load_all, course.folder / "02_columns" / TOML, None, "is missing")


def test_one_name_in_two_chapters(course):
    shutil.copytree(course.chapter, course.folder / "02_columns")
    refused(
        course.load_all,
        course.folder / "02_columns" / TOML,
        course.line_of(TOML, NAME),
        "two exercises are called 'row_means': here and in 01_rows",
    )


@pytest.mark.parametrize(
    "cell", ["```{code-cell}\nx = 1\n```", "```python\nx\n```", "```\nx\n```", "~~~\nx\n~~~"]
)
def test_a_prompt_with_a_code_cell(course, cell):
    course.append("row_means/prompt.md", f"\n{cell}\n")
    line = course.line_of("row_means/prompt.md", cell.partition("\n")[0])
    refused(course.load, course.chapter / "row_means/prompt.md", line, "holds a code cell")


def test_a_prompt_may_fence_an_equation(course):
    course.append("row_means/prompt.md", "\n```{math}\nx\n```\n")
    assert course.load()["row_means"].prompt.endswith("```")


DOCSTRING = '    r"""Return the mean of every row."""\n'
MODEL = "    return x.sum(axis=-1) / x.shape[-1]\n"
SOURCES = [
    ("solution.py", DOCSTRING, "", "def row", "row_means has no docstring"),
    ("solution.py", MODEL, "", "def row", "row_means has no model answer"),
    ("solution.py", f'"""\n{MODEL}', f'"""; {MODEL.strip()}\n', "def row", "has no model answer"),
    ("solution.py", " -> np.ndarray", "", "def row", "row_means does not say what it returns"),
    ("solution.py", 'library = "numpy"', "import math", "import math", "does not begin with"),
    ("solution.py", 'library = "numpy"', 'library = "jax"', "jax", "does not begin with"),
    ("solution.py", "def row_means", "def rowmeans", 'library = "numpy"', "defines no function"),
    ("solution.py", MODEL, "    return x.sum(\n", "return x.sum(", "is not valid Python"),
    ("tests.py", "@core\n", "", None, "0 tests are marked @core"),
    ("tests.py", "def test_equal", "@core\ndef test_equal", None, "2 tests are marked @core"),
    ("tests.py", "@core\n", "@core\n@hidden\n", "def test_means", "visible test stands below"),
    (
        "tests.py",
        "equal_entries(row_means, arrays)",
        "equal_entries(row_means)",
        "def test_equal",
        "test_equal_entries takes ['row_means']",
    ),
    (
        "tests.py",
        '    r"""A row of equal entries has this entry as its mean"""\n',
        "",
        "def test_equal",
        "test_equal_entries has no docstring",
    ),
    (
        "tests.py",
        "def test_a_stack_of_matrices",
        "def test_equal_entries",
        "def test_equal_entries",
        "two tests are called test_equal_entries",
    ),
]


@pytest.mark.parametrize(
    ("file", "old", "new", "shown", "words"), SOURCES, ids=[entry[-1] for entry in SOURCES]
)
def test_a_source_file(course, file, old, new, shown, words):
    file = f"row_means/{file}"
    course.spoil(file, old, new)
    line = course.last_line_of(file, shown) if shown else None
    refused(course.load, course.chapter / file, line, words)


def test_tests_that_are_all_hidden(course):
    for old in ("@core\n", "def test_equal"):
        course.spoil("row_means/tests.py", old, f"@hidden\n{old}")
    refused(course.load, course.chapter / "row_means/tests.py", None, "has no visible test")
