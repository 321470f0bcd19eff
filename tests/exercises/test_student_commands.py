"""The bundle on a student's own machine, without JupyterLab: python course.py check, left, ...

What it prints is in tests/messages/test_course_py.py.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest

from autograder.exercises.assignment import load_assignment
from autograder.files import files_below
from autograder.release.build import bundle_of_all, make_release
from course_lib.checking import percent
from tests.exercises.a_bundle import (
    NO_PYTHON,
    RIGHT,
    SOLUTIONS,
    STEM,
    WRONG,
    bundle_of,
    run,
    standing,
    write,
)

pytestmark = pytest.mark.whole


@pytest.fixture
def bundle(released, tmp_path):
    return bundle_of(released, tmp_path)


KINDS = pytest.mark.parametrize("kind", [".ipynb", ".py"])


@KINDS
@pytest.mark.parametrize(("answer", "code"), [(WRONG, 1), (RIGHT, 0), (NO_PYTHON, 1)])
def test_check_ends_with_0_if_all_that_is_looked_at_holds(bundle, kind, answer, code):
    write(bundle / f"{STEM}{kind}", row_means=answer)
    done = run(bundle, "check", "row_means")
    assert (done.returncode, done.stderr) == (code, "")
    assert "row_means" in done.stdout and "mean_of_a_shift" not in done.stdout


@KINDS
def test_left_counts_and_names_what_was_never_attempted(bundle, kind, monkeypatch):
    file = bundle / f"{STEM}{kind}"
    write(file, row_means=RIGHT, mean_of_a_shift="The sum grows by $nc$.")
    rows = {row.exercise["name"]: row for row in standing(monkeypatch, file)}
    assert {name: (row.points, row.attempted) for name, row in rows.items()} == {
        "row_means": (3.0, True),
        "what_a_mean_forgets": (0.0, False),
        "mean_of_a_shift": (None, True),
    }
    assert rows["row_means"].at_stake == 1.0
    lines = run(bundle, "left").stdout.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["1.1", "1.2", "1.3"]
    assert "2 of 2" in lines[2], "of the properties"
    assert "3 of 7" in lines[6] and "1.2" in lines[6], "the sum, and what is not attempted"


@KINDS
def test_submit_makes_one_notebook_without_outputs_that_knows_its_version(bundle, kind):
    file = bundle / f"{STEM}{kind}"
    write(file, row_means=RIGHT)
    version = json.loads((bundle / "checks" / "assignment.json").read_text())["version"]
    done = run(bundle, "submit")
    assert done.returncode == 0
    assert f"hand_in{os.sep}{STEM}.ipynb" in done.stdout
    made = nbformat.read(bundle / "hand_in" / f"{STEM}.ipynb", as_version=4)
    nbformat.validate(made)
    assert made.metadata.course.version == version
    assert next(cell for cell in made.cells if cell.id == "row-means").source == RIGHT
    assert not any(cell.get("outputs") for cell in made.cells)


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
    assert run(bundle, "check", "row_means").returncode == 0, "the other answer stays"
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
    ("words", "code"),
    [
        (["check", "row_mean"], 1),
        (["reset", "row_mean"], 2),
        (["tick", "row_means"], 1),
        (["04_scaling"], 1),
        (["submit", "--file", "gone.ipynb"], 2),
        (["submit", "--file", "README.md"], 2),
        (["submit", "--file", "list.ipynb"], 2),
        (["submit", "--file", "other.py"], 2),
    ],
)
def test_what_cannot_be_done_changes_nothing(bundle, words, code):
    (bundle / "list.ipynb").write_text("[1, 2]")
    (bundle / "other.py").write_text("print(1)\n")
    before = {path: path.read_bytes() for path in files_below(bundle)}
    done = run(bundle, *words)
    assert done.returncode == code
    assert done.stdout + done.stderr
    assert {path: path.read_bytes() for path in files_below(bundle)} == before


def test_answers_in_both_files_are_a_question(bundle):
    for kind in (".ipynb", ".py"):
        write(bundle / f"{STEM}{kind}", row_means=RIGHT)
    done = run(bundle, "submit")
    assert done.returncode == 2
    assert f"--file {STEM}.py" in done.stderr
    assert not (bundle / "hand_in").exists()
    assert run(bundle, "submit", "--file", f"{STEM}.py").returncode == 0


def test_the_plain_file_runs_as_it_is(bundle):
    write(bundle / f"{STEM}.py", row_means=RIGHT)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [sys.executable, str(bundle / f"{STEM}.py")]
    done = subprocess.run(words, cwd=bundle.parent, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "3 of 7" in done.stdout


@KINDS
def test_left_shows_where_a_cell_is_no_python(bundle, kind):
    write(bundle / f"{STEM}{kind}", row_means=NO_PYTHON)
    assert "line 1: " in run(bundle, "left").stdout.splitlines()[2]


def test_the_whole_course_is_one_folder_whose_chapters_are_named(released, tmp_path):
    course = shutil.copytree(released, tmp_path / "course")
    with zipfile.ZipFile(bundle_of_all(course, [STEM])) as archive:
        archive.extractall(tmp_path / "student")
    (folder,) = (tmp_path / "student").iterdir()
    for words in (["left"], ["left", "09_else"]):
        done = run(folder, *words)
        assert done.returncode == 1 and STEM in done.stderr
    write(folder / STEM / f"{STEM}.py", row_means=RIGHT)
    assert "3 of 7" in run(folder, "submit", STEM).stdout
    assert "3 of 7" in run(folder, "left", STEM[:2]).stdout
    assert (folder / STEM / "hand_in" / f"{STEM}.ipynb").is_file()
    assert f"python course.py submit {STEM}" in (folder / "README.md").read_text()


def test_a_mended_visible_test_makes_a_new_version_and_is_told_from_the_others(released, tmp_path):
    shutil.copytree(released, tmp_path / "course")
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
