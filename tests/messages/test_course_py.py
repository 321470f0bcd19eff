"""What a student reads after `python course.py`, without JupyterLab."""

import shutil
import zipfile

import pytest

from autograder.release.build import bundle_of_all
from course_lib.checking.__main__ import main
from tests.exercises.a_bundle import (
    NO_PYTHON,
    RIGHT,
    STEM,
    bundle_of,
    run,
    write,
)

pytestmark = pytest.mark.whole


@pytest.fixture
def bundle(released, tmp_path, monkeypatch):
    folder = bundle_of(released, tmp_path)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def told(bundle, capsys, reads):
    """What a verb prints in the folder of the assignment."""

    def compare(*words: str, below_the_table: bool = False) -> None:
        main(list(words))
        said = "".join(capsys.readouterr())
        reads(said.rpartition("\n\n")[2] if below_the_table else said)

    return compare


def test_check(bundle, told):
    write(bundle / f"{STEM}.ipynb", row_means=RIGHT)
    told("check")


def test_check_of_a_cell_that_is_no_python(bundle, told):
    write(bundle / f"{STEM}.py", row_means=NO_PYTHON)
    told("check", "row_means")


def test_left(bundle, told):
    write(bundle / f"{STEM}.ipynb", row_means=RIGHT, mean_of_a_shift="The sum grows by $nc$.")
    told("left")


def test_submit(bundle, told):
    write(bundle / f"{STEM}.ipynb", row_means=RIGHT)
    told("submit", below_the_table=True)


def test_submit_of_nothing(told):
    told("submit", below_the_table=True)


def test_submit_of_a_version_that_is_not_the_newest(bundle, told):
    file = bundle / f"{STEM}.py"
    write(file, row_means=RIGHT)
    text = file.read_text()
    version = text.partition("version: ")[2].split()[0]
    file.write_text(text.replace(version, "0.9"))
    told("submit", below_the_table=True)


def test_reset(told):
    told("reset", "row_means")


def test_there_are_answers_in_both_files(bundle, told):
    for kind in (".ipynb", ".py"):
        write(bundle / f"{STEM}{kind}", row_means=RIGHT)
    told("submit")


def test_there_is_neither_file(bundle, told):
    for kind in (".ipynb", ".py"):
        (bundle / f"{STEM}{kind}").unlink()
    told("submit")


@pytest.mark.parametrize("verb", ["check", "reset"])
def test_no_exercise_has_this_name(told, verb):
    told(verb, "row_mean")


def test_there_is_no_such_file(told):
    told("submit", "--file", "gone.ipynb")


def test_a_file_that_is_no_notebook(bundle, told):
    (bundle / "list.ipynb").write_text("[1, 2]")
    told("submit", "--file", "list.ipynb")


def test_a_file_without_answers(bundle, told):
    (bundle / "other.py").write_text("print(1)\n")
    told("submit", "--file", "other.py")


def test_no_assignment_lies_here(tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    told("left")


@pytest.mark.parametrize("verb", ["check", "left", "reset", "submit"])
def test_help_of_a_verb(bundle, reads, verb):
    reads(run(bundle, verb, "--help").stdout)


def test_help(bundle, reads):
    reads(run(bundle, "--help").stdout)


def test_no_such_verb(bundle, reads):
    reads(run(bundle, "tick", "row_means").stderr)


@pytest.mark.parametrize("words", [["left"], ["left", "09_else"]], ids=["none", "another"])
def test_which_assignment_of_the_whole_course(released, tmp_path, reads, words):
    course = shutil.copytree(released, tmp_path / "course")
    with zipfile.ZipFile(bundle_of_all(course, [STEM])) as archive:
        archive.extractall(tmp_path / "student")
    (folder,) = (tmp_path / "student").iterdir()
    reads(run(folder, *words).stderr)
