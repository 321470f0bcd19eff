"""The bundle on a student's own machine, without JupyterLab: python course.py check, left, ..."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.commands.lab import unpack
from autograder.exercises.assignment import load_assignment
from autograder.release.build import bundle_of_all, make_release
from course_lib.checking import percent

pytestmark = pytest.mark.whole

STEM = "01_rows"
SOLUTIONS = Path(__file__).with_name("good_solutions")
RIGHT = "def row_means(x):\n    return x.mean(-1)"
WRONG = "def row_means(x):\n    return x.sum(-1)"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = tmp_path_factory.mktemp("course")
    make_release(load_assignment(SOLUTIONS / STEM), course)
    return course


@pytest.fixture
def bundle(course, tmp_path):
    unpack(STEM, tmp_path, course)
    return tmp_path / STEM


def run(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """As a student types it, where nothing else of the course is on the path."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [sys.executable, "course.py", *words]
    done = subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def write(file: Path, **answers: str) -> None:
    """Put answers into cells, by the names of the exercises."""
    answers = {name.replace("_", "-"): source for name, source in answers.items()}
    if file.suffix == ".py":
        text = file.read_text()
        for name, source in answers.items():
            text = percent.with_cell(text, name, source)
        file.write_text(text)
        return
    notebook = nbformat.read(file, as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    nbformat.write(notebook, file)


KINDS = pytest.mark.parametrize("kind", [".ipynb", ".py"])


@KINDS
def test_check_says_what_the_notebook_says(bundle, kind):
    write(bundle / f"{STEM}{kind}", row_means=WRONG)
    done = run(bundle, "check", "row_means")
    assert done.returncode == 1
    assert "row_means: 0 of 2 properties hold" in done.stdout
    assert "one slip gives these very numbers: the sum, not divided" in done.stdout
    write(bundle / f"{STEM}{kind}", row_means=RIGHT)
    done = run(bundle, "check", "row_means")
    assert done.returncode == 0
    assert "all 2 properties looked at here hold; 1 more is looked at" in done.stdout


@KINDS
def test_left_counts_and_names_what_was_never_attempted(bundle, kind):
    write(bundle / f"{STEM}{kind}", row_means=RIGHT, mean_of_a_shift="The sum grows by $nc$.")
    said = run(bundle, "left").stdout.splitlines()
    assert said[2].split("  ")[-1].strip() == "2 of 2 properties hold; 1 more when you hand in"
    assert said[3].endswith("0 of 4   not attempted")
    assert said[4].endswith("– of 2   written; a person reads it")
    assert said[6] == (
        "3 of 7 points here, 1 of them only if the rest holds when you hand in; "
        "2 more are given by a person. Not attempted: 1.2."
    )


def test_a_cell_that_python_cannot_read_is_named(bundle):
    write(bundle / f"{STEM}.py", row_means="def row_means(x):\n    return (x")
    said = run(bundle, "left").stdout
    assert "your cell is no valid Python: line 2: '(' was never closed" in said


@KINDS
def test_submit_makes_one_notebook_without_outputs_that_knows_its_version(bundle, kind):
    file = bundle / f"{STEM}{kind}"
    write(file, row_means=RIGHT)
    version = json.loads((bundle / "checks" / "assignment.json").read_text())["version"]
    done = run(bundle, "submit")
    assert done.returncode == 0
    assert f"Hand in this file:  hand_in{os.sep}{STEM}.ipynb" in done.stdout
    assert "Not attempted: 1.2, 1.3." in done.stdout
    made = nbformat.read(bundle / "hand_in" / f"{STEM}.ipynb", as_version=4)
    nbformat.validate(made)
    assert made.metadata.course.version == version
    assert next(cell for cell in made.cells if cell.id == "row-means").source == RIGHT
    assert not any(cell.get("outputs") for cell in made.cells)


def test_submit_of_nothing_says_that_it_earns_nothing(bundle):
    assert "it earns nothing" in run(bundle, "submit").stdout


@KINDS
def test_reset_puts_one_starter_back_and_keeps_the_file(bundle, kind):
    file = bundle / f"{STEM}{kind}"
    fresh = file.read_bytes()
    write(file, row_means=RIGHT)
    before = file.read_text()
    write(file, what_a_mean_forgets='what_a_mean_forgets = ["a"]')
    done = run(bundle, "reset", "what_a_mean_forgets")
    assert done.returncode == 0, done.stderr
    (kept,) = (bundle / "kept").iterdir()
    assert '"a"' in kept.read_text().replace("\\", "")
    assert "row_means: all 2" in run(bundle, "check", "row_means").stdout
    if kind == ".py":
        assert file.read_text() == before
    run(bundle, "reset", "row_means")
    sources = [
        [cell.source for cell in nbformat.reads(text, as_version=4).cells]
        if kind == ".ipynb"
        else percent.cells_of(text)
        for text in (fresh.decode(), file.read_text())
    ]
    assert sources[0] == sources[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "row_mean"], "no exercise is called 'row_mean' here; there are: row_means"),
        (["reset", "row_mean"], "No exercise is called 'row_mean'; there are: row_means"),
        (["tick", "row_means"], "tick is no command, and the assignment here is 01_rows"),
        (["04_scaling"], "04_scaling is no command, and the assignment here is 01_rows"),
        (["submit", "--file", "gone.ipynb"], "There is no file gone.ipynb"),
        (["submit", "--file", "README.md"], "README.md cannot be read as a notebook"),
        (["submit", "--file", "list.ipynb"], "list.ipynb cannot be read as a notebook"),
        (["submit", "--file", "other.py"], "holds none of the answers of 01_rows"),
    ],
)
def test_what_cannot_be_done_is_said(bundle, words, said):
    (bundle / "list.ipynb").write_text("[1, 2]")
    (bundle / "other.py").write_text("print(1)\n")
    done = run(bundle, *words)
    assert done.returncode in (1, 2)
    assert said in done.stdout + done.stderr


def test_answers_in_both_files_are_a_question(bundle):
    for kind in (".ipynb", ".py"):
        write(bundle / f"{STEM}{kind}", row_means=RIGHT)
    done = run(bundle, "submit")
    assert done.returncode == 2
    assert f"such as  --file {STEM}.py" in done.stderr
    assert run(bundle, "submit", "--file", f"{STEM}.py").returncode == 0


def test_the_plain_file_runs_as_it_is(bundle):
    write(bundle / f"{STEM}.py", row_means=RIGHT)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [sys.executable, str(bundle / f"{STEM}.py")]
    done = subprocess.run(words, cwd=bundle.parent, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "3 of 7 points here" in done.stdout


@KINDS
def test_an_answer_that_is_no_python_is_told_as_such(bundle, kind):
    write(bundle / f"{STEM}{kind}", row_means="def row_means(X:\n    return X")
    for verb in (("check", "row_means"), ("left",)):
        assert "no valid Python: line 1: '(' was never closed" in run(bundle, *verb).stdout


def test_the_whole_course_is_one_folder_whose_chapters_are_named(course, tmp_path):
    with zipfile.ZipFile(bundle_of_all(course, [STEM])) as archive:
        archive.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert f"Name one of:  {STEM}" in run(folder, "left").stderr
    assert "No assignment is called 09_else" in run(folder, "left", "09_else").stderr
    write(folder / STEM / f"{STEM}.py", row_means=RIGHT)
    assert "3 of 7 points here" in run(folder, "submit", STEM).stdout
    assert "3 of 7 points here" in run(folder, "left", STEM[:2]).stdout
    assert (folder / STEM / "hand_in" / f"{STEM}.ipynb").is_file()
    assert f"python course.py submit {STEM}" in (folder / "README.md").read_text()


def test_a_mended_visible_test_makes_a_new_version_and_is_told_from_the_others(course, tmp_path):
    shutil.copytree(course, tmp_path / "course")
    shutil.copytree(SOLUTIONS / STEM, tmp_path / STEM)
    tests = tmp_path / STEM / "row_means" / "tests.py"
    tests.write_text(tests.read_text().replace("how many entries", "how many numbers"))
    for _ in range(2):
        make_release(load_assignment(tmp_path / STEM), tmp_path / "course")
    versions = json.loads((tmp_path / "course" / "versions" / f"{STEM}.json").read_text())
    before, after = versions.values()
    assert before.keys() == after.keys() == {"row_means", "what_a_mean_forgets"}
    assert {name for name in after if before[name] != after[name]} == {"row_means"}


def test_every_command_of_the_readme_exists(bundle):
    readme = (bundle / "README.md").read_text()
    for verb in ("check", "left", "reset", "submit"):
        assert f"python course.py {verb}" in readme
        assert f"python course.py {verb}" in run(bundle, verb, "--help").stdout
    assert "row_means" in readme and "{" not in readme
    assert "python course.py submit" in run(bundle, "--help").stdout
