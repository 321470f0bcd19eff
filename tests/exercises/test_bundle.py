"""What a student gets holds everything that is needed and nothing that gives an answer away."""

import ast
import json
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator

from autograder.exercises.assignment import (
    CodeExercise,
    ProofBlocks,
    ProofQuestion,
    load_assignment,
    load_course,
)
from autograder.paths import ROOT
from autograder.release.build import make_release
from autograder.release.bundle import (
    PACKAGES,
    PUBLIC_SEED,
    formulas_called,
    without_bodies,
    write_course_lib,
)
from autograder.release.seeds import secret_seed

ASSIGNMENT = load_assignment(ROOT / "solutions" / "03_softmax")
STEM = ASSIGNMENT.stem
CODE = [exercise for exercise in ASSIGNMENT.exercises if isinstance(exercise, CodeExercise)]
BUILT = [exercise for exercise in ASSIGNMENT.exercises if isinstance(exercise, ProofBlocks)]
ASKED = {
    name.removeprefix("course_lib."): exercise
    for exercise in CODE
    for name in exercise.withholds
    if name.startswith("course_lib.")
}
TOO_SHORT_TO_TELL = 24


@pytest.fixture(scope="session")
def classroom(released_softmax):
    """A course folder in which the chapter has been released."""
    return released_softmax


@pytest.fixture(scope="session")
def files(classroom):
    """Path in the bundle -> text."""
    with zipfile.ZipFile(classroom / "bundles" / f"{STEM}.zip") as archive:
        return {
            name.removeprefix(f"{STEM}/"): archive.read(name).decode()
            for name in archive.namelist()
        }


@pytest.fixture(scope="session")
def unpacked(classroom, tmp_path_factory):
    folder = tmp_path_factory.mktemp("student")
    with zipfile.ZipFile(classroom / "bundles" / f"{STEM}.zip") as archive:
        archive.extractall(folder)
    return folder / STEM


def packed(text):
    return "".join(text.split())


def statements(source):
    """Every statement in a function of this source, without docstrings, as one would type it."""
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    for node in (inner for function in functions for inner in ast.walk(function)):
        declares = isinstance(node, ast.Expr | ast.AnnAssign)  # a docstring, `total: float = 0`
        tells_nothing = declares and isinstance(node.value, ast.Constant | None)
        tells_nothing |= isinstance(node, ast.FunctionDef)
        if isinstance(node, ast.stmt) and not tells_nothing:
            text = packed(ast.unparse(node).removeprefix("return "))
            if len(text) >= TOO_SHORT_TO_TELL:
                yield text


def test_the_bundle_holds_what_a_student_needs(files):
    names = set(files)
    assert {f"{STEM}.ipynb", "README.md", "requirements.txt", "course_lib/__init__.py"} <= names
    for exercise in CODE:
        assert {f"checks/{exercise.name}/{file}" for file in ("tests.py", "record.json")} <= names
    for exercise in BUILT:
        assert f"checks/{exercise.name}/blocks.json" in names


def test_no_file_of_solutions_is_in_the_bundle(files):
    kept = [path for path in (ROOT / "solutions").rglob("*") if path.is_file()]
    kept = [path for path in kept if "__pycache__" not in path.parts]
    assert not set(files.values()) & {path.read_text() for path in kept}
    private = {path.name for path in kept} - {"tests.py"}
    assert not private & {name.rpartition("/")[2] for name in files}


@pytest.mark.parametrize("exercise", CODE, ids=lambda exercise: exercise.name)
def test_the_tests_of_the_bundle_are_the_visible_ones(files, exercise):
    visible = [test.name for test in exercise.tests if not test.hidden]
    source = files[f"checks/{exercise.name}/tests.py"]
    functions = [n.name for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
    assert functions == visible
    record = json.loads(files[f"checks/{exercise.name}/record.json"])
    assert list(record["tests"]) == visible
    assert record["hidden"] == len(exercise.tests) - len(visible)
    everything = "".join(files.values())
    for test in exercise.tests:
        if test.hidden:
            assert test.name not in everything
            assert test.property in files[f"{STEM}.ipynb"].replace('\\"', '"')


@pytest.mark.parametrize("exercise", CODE, ids=lambda exercise: exercise.name)
@pytest.mark.parametrize("file", ["solution.py", "right.py", "wrong.py"])
def test_no_line_of_an_answer_is_in_the_bundle(files, exercise, file):
    told = packed("".join(files.values()))
    lines = list(statements((exercise.folder / file).read_text()))
    assert lines, "the test has something to look for"
    assert [line for line in lines if line in told] == []


def test_no_model_proof_is_in_the_bundle(files):
    told = packed("".join(files.values())).replace("\\\\", "\\")
    for exercise in ASSIGNMENT.exercises:
        if isinstance(exercise, ProofQuestion):
            assert packed(exercise.prompt)[:60] in told, "the question is"
            for line in (*exercise.model.splitlines(), *exercise.rubric):
                assert not line.strip() or packed(line) not in told


def asked_anywhere() -> dict[str, str]:
    """Function of course_lib -> the first exercise of the course that asks for it."""
    asked: dict[str, str] = {}
    for exercise in (e for chapter in load_course() for e in chapter.exercises):
        for name in getattr(exercise, "withholds", ()):
            if name.startswith("course_lib."):
                asked.setdefault(name.removeprefix("course_lib."), exercise.number)
    return asked


def test_no_body_that_any_chapter_asks_for_nor_its_neighbours_is_in_the_bundle(files):
    seen, everything = set(), asked_anywhere()
    assert set(everything) > set(ASKED)
    for name in [name for name in files if name.startswith("course_lib/") and name.endswith(".py")]:
        whole = (ROOT / name).read_text()
        functions = [n for n in ast.parse(whole).body if isinstance(n, ast.FunctionDef)]
        if asked := {function.name for function in functions} & set(everything):
            seen |= asked
            assert list(statements(whole))
            told = packed(files[name])
            assert [line for line in statements(whole) if line in told] == []
    assert seen == set(everything)


ASK = """
import inspect, sys
import course_lib, course_lib.island, course_lib.plots, course_lib.checking.notebook
print(course_lib.__file__)
for name in sys.argv[1:]:
    function = getattr(course_lib, name)
    try:
        function(*[None] * len(inspect.signature(function).parameters))
    except NotImplementedError as refusal:
        print(refusal)
"""


def test_course_lib_of_the_bundle_says_which_exercise_asks_for_a_function(unpacked):
    elsewhere = {"attend": asked_anywhere()["attend"]}
    expected = {name: exercise.number for name, exercise in ASKED.items()} | elsewhere
    command = [sys.executable, "-W", "error", "-c", ASK, *expected]
    done = subprocess.run(command, cwd=unpacked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    where, *said = done.stdout.splitlines()
    assert where == str(unpacked / "course_lib" / "__init__.py")
    assert said == [
        f"{name} is what exercise {number} asks you to write" for name, number in expected.items()
    ]


@pytest.mark.parametrize("chapter", load_course(), ids=lambda chapter: chapter.stem)
def test_no_chapter_of_the_course_needs_a_formula_that_another_asks_for(chapter):
    assert formulas_called(chapter) == set()


IMPORTED = """from course_lib import attend, scaled_dot_scores
from course_lib.checking import expect_close
"""


def test_a_chapter_whose_tests_call_a_formula_is_given_it(tmp_path):
    """Nothing less would let its visible tests run; release says so."""
    folder = tmp_path / "01_rows"
    shutil.copytree(ROOT / "tests" / "exercises" / "good_solutions" / "01_rows", folder)
    tests = folder / "row_means" / "tests.py"
    before = load_assignment(folder)
    write_course_lib(before, tmp_path)
    assert "is what exercise 3.1 asks you to write" in softmax_family(tmp_path)
    tests.write_text(IMPORTED + tests.read_text())
    chapter = load_assignment(folder)
    assert formulas_called(chapter) == {"attend"}, "nobody asks for the scores"
    write_course_lib(chapter, tmp_path)
    assert softmax_family(tmp_path) == (ROOT / "course_lib" / "softmax_family.py").read_text()


def softmax_family(folder) -> str:
    return (folder / "course_lib" / "softmax_family.py").read_text()


def test_the_only_seed_in_the_bundle_is_the_public_one(classroom, files):
    secret = str(secret_seed(classroom, STEM))
    assert secret not in "".join(files.values())
    assert not any("seed" in name for name in files)
    for exercise in CODE:
        record = json.loads(files[f"checks/{exercise.name}/record.json"])
        assert {test["seed"] for test in record["tests"].values()} == {PUBLIC_SEED}


def test_the_folder_of_the_grader_has_all_tests_and_the_secret_seed(classroom):
    for exercise in CODE:
        folder = classroom / "grader" / STEM / "checks" / exercise.name
        record = json.loads((folder / "record.json").read_text())
        assert list(record["tests"]) == [test.name for test in exercise.tests]
        seeds = {test["seed"] for test in record["tests"].values()}
        assert seeds == {secret_seed(classroom, STEM)} != {PUBLIC_SEED}
        source = (folder / "tests.py").read_text()
        assert all(f"def {test.name}(" in source for test in exercise.tests)


def test_the_secret_seed_is_kept_until_a_new_one_is_asked_for(tmp_path):
    first = secret_seed(tmp_path, STEM)
    assert secret_seed(tmp_path, STEM) == first
    assert secret_seed(tmp_path, "04_scaling") != first
    make_release(ASSIGNMENT, tmp_path)
    assert secret_seed(tmp_path, STEM) == first
    make_release(ASSIGNMENT, tmp_path, reseed=True)
    assert secret_seed(tmp_path, STEM) != first
    assert (tmp_path / "seeds" / STEM).stat().st_mode & 0o077 == 0


def test_the_notebook_is_valid_for_nbgrader_and_for_jupyter(files):
    notebook = nbformat.reads(files[f"{STEM}.ipynb"], as_version=4)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    graded = {cell.id for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")}
    expected = {f"{exercise.slug}-check" for exercise in (*CODE, *BUILT)}
    by_hand = {e.slug for e in ASSIGNMENT.exercises if getattr(e, "marking", "") == "by hand"}
    assert graded == expected | by_hand
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert not any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.parametrize("exercise", CODE, ids=lambda exercise: exercise.name)
def test_the_answer_cell_of_a_fresh_notebook_is_the_starter(files, exercise):
    notebook = nbformat.reads(files[f"{STEM}.ipynb"], as_version=4)
    cell = next(cell for cell in notebook.cells if cell.id == exercise.slug)
    assert cell.source == f"{exercise.starter}\n    ..."


@pytest.mark.parametrize("exercise", BUILT, ids=lambda exercise: exercise.name)
def test_a_built_proof_does_not_list_its_lines_in_order(files, exercise):
    data = json.loads(files[f"checks/{exercise.name}/blocks.json"])
    assert data["letters"] == sorted(data["letters"])
    for key in ("text", "after", "part"):
        assert list(data[key]) == sorted(data[key]), f"{key} is in the order shown"
    assert exercise.blocks.share(data["letters"]) == 0
    texts = [files[f"{STEM}.ipynb"].find(json.dumps(t)[1:-1]) for t in data["text"].values()]
    assert -1 not in texts
    assert texts == sorted(texts)


def test_requirements_are_lines_of_the_lock(files):
    lock = (ROOT / "requirements.lock").read_text().splitlines()
    lines = files["requirements.txt"].splitlines()
    assert set(lines) <= set(lock)
    assert [line.partition("==")[0] for line in lines] == sorted(PACKAGES)


MODULE = '''import numpy as np

LIMIT = 3


@np.vectorize
def wanted(x):
    """Say."""
    return x * LIMIT


def neighbour(x):
    return wanted(x) + 1


class Kept:
    field = LIMIT

    def helper(self):
        return self.field + 7
'''


def test_the_bodies_of_a_module_are_taken_out_together_or_not_at_all():
    assert without_bodies(MODULE, {"other": "3.1"}) == MODULE
    namespace: dict = {}
    taken = without_bodies(MODULE, {"wanted": "3.1"})
    exec(taken, namespace)
    with pytest.raises(NotImplementedError, match="wanted is what exercise 3.1 asks you to write"):
        namespace["wanted"](1)
    with pytest.raises(NotImplementedError, match="neighbour stands beside what you are asked"):
        namespace["neighbour"](1)
    with pytest.raises(NotImplementedError, match="helper stands beside"):
        namespace["Kept"]().helper()
    assert namespace["Kept"].field == namespace["LIMIT"] == 3
    assert "x * LIMIT" not in taken and "field + 7" not in taken
