"""nbgrader's Validate button, `check` and the grader agree on every visible property."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.validator import Validator

from course_lib.checking import percent
from course_lib.checking.__main__ import main
from tests.grading.gradebook_fixtures import BLOCKS, CODE, MOST, STEM

pytestmark = pytest.mark.whole

ANSWERS = {
    "right": "def row_means(x):\n    return x.mean(-1)",
    "right_but_for_what_is_hidden": "def row_means(x):\n    return x.mean(1)",
    "wrong": "def row_means(x):\n    return x.sum(-1)",
    "stops": "def row_means(x):\n    raise KeyError(x)",
    "untouched": None,
}


@pytest.fixture(scope="module")
def course(released, tmp_path_factory):
    """Everybody has handed in, and is graded."""
    course = tmp_path_factory.mktemp("agree") / "course"
    shutil.copytree(released, course)
    for student, answer in ANSWERS.items():
        folder = course / "submitted" / student / STEM
        folder.mkdir(parents=True)
        notebook = nbformat.read(released / "release" / STEM / f"{STEM}.ipynb", as_version=4)
        for cell in notebook.cells:
            if cell.id == "row-means" and answer:
                cell.source = answer
        nbformat.write(notebook, folder / f"{STEM}.ipynb")
    plain = (released / "release" / STEM / f"{STEM}.py").read_text()
    (course / "submitted" / "plain_file" / STEM).mkdir(parents=True)
    (course / "submitted" / "plain_file" / STEM / f"{STEM}.py").write_text(
        percent.with_cell(plain, "row-means", ANSWERS["right"])
    )
    words = [str(Path(sys.executable).with_name("course")), "grade", STEM, "--course", str(course)]
    words += ["--workers", "1"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return course


def test_a_plain_file_earns_what_the_notebook_earns(course):
    logs = [course / "grading" / STEM / f"{name}.json" for name in ("right", "plain_file")]
    notebook, plain = (json.loads(log.read_text()) for log in logs)
    assert plain["marks"] == notebook["marks"]
    assert sum(mark["points"] or 0 for mark in plain["marks"]) == MOST[CODE]
    assert plain["repairs"] == []


@pytest.mark.parametrize("student", ANSWERS)
def test_the_three_agree(course, student, tmp_path, monkeypatch, capsys):
    bundle = shutil.copytree(course / "release" / STEM, tmp_path / STEM)
    shutil.copy(course / "submitted" / student / STEM / f"{STEM}.ipynb", bundle)
    found = Validator().validate(str(bundle / f"{STEM}.ipynb"))
    assert found.keys() <= {"failed"}, "no cell that is locked has changed"
    failed_there = {cell["source"] for cell in found.get("failed", [])}

    log = json.loads((course / "grading" / STEM / f"{student}.json").read_text())
    marks = {mark["cell"]: mark for mark in log["marks"]}
    visible = [finding for finding in marks[CODE]["findings"] if not finding["hidden"]]
    holds = bool(visible) and all(finding["passed"] for finding in visible)

    monkeypatch.chdir(bundle)
    checked = main(["check", "row_means"]) == 0
    assert holds == checked == ('check("row_means")' not in failed_there)
    assert holds == student.startswith("right")
    assert 'check("what_a_mean_forgets")' in failed_there and marks[BLOCKS]["points"] == 0
