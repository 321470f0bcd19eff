"""One name for chapter, folder and table of contents; and pytest runs on a folder alone."""

import ast
import json
import re
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from autograder.commands.cli import main
from autograder.exercises.assignment import load_course
from autograder.exercises.chapter_page import shown_in
from autograder.paths import ROOT

COURSE = load_course()


@pytest.mark.parametrize("assignment", COURSE, ids=lambda assignment: assignment.stem)
def test_a_folder_of_exercises_has_its_chapter_under_the_same_name(assignment):
    assert (ROOT / "chapters" / f"{assignment.stem}.md").is_file()
    assert f"- file: chapters/{assignment.stem}\n" in (ROOT / "_toc.yml").read_text()


@pytest.mark.parametrize("assignment", COURSE, ids=lambda assignment: assignment.stem)
def test_a_chapter_shows_each_of_its_exercises_once_and_in_order(assignment):
    shown = shown_in(ROOT / "chapters" / f"{assignment.stem}.md")
    assert shown == [exercise.name for exercise in assignment.exercises]


def test_course_exercises_names_the_page_that_does_not_show_an_exercise(course):
    """One that has a page: a private exercise has none."""
    chapters = course.folder.parent / "chapters"
    typed = ["exercises", "--course", str(course.folder.parent), "--json", "01_rows", "--seeds=1"]

    def faults():
        proofs = json.loads(CliRunner().invoke(main, typed).stdout)
        return {p["exercise"]: [fault["file"] for fault in p["faults"]] for p in proofs}

    assert not any(faults().values())
    chapters.mkdir()
    page = chapters / "01_rows.md"
    page.write_text("```{course-exercise} row_means\n```\n")
    one = ["chapters/01_rows.md"]
    assert faults() == {"row_means": [], "what_a_mean_forgets": one, "mean_of_a_shift": one}


def nameless(node):
    """An expression as nested tuples, in which only functions of a library keep their names."""
    order = {}

    def plain(part):
        if isinstance(part, ast.Name):
            kept = part.id in ("np", "torch", "math")
            return part.id if kept else order.setdefault(part.id, len(order))
        if isinstance(part, ast.AST):
            return type(part).__name__, *(plain(value) for _, value in ast.iter_fields(part))
        return tuple(map(plain, part)) if isinstance(part, list) else repr(part)

    return plain(node)


def expressions(code, least=12):
    """All expressions of a program that are long enough to be somebody's idea."""
    nodes = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.expr))
    return {
        nameless(node): ast.unparse(node)
        for node in nodes
        if sum(not isinstance(part, ast.expr_context) for part in ast.walk(node)) >= least
    }


@pytest.mark.parametrize("assignment", COURSE, ids=lambda assignment: assignment.stem)
def test_no_cell_of_a_page_computes_what_its_exercise_asks_for(assignment):
    page = (ROOT / "chapters" / f"{assignment.stem}.md").read_text()
    head = r"(?:---\n.*?\n---\n|:tags: [^\n]*\n)?"
    cells = re.findall(rf"^`{{3}}{{code-cell}} ipython3\n{head}(.*?)^`{{3}}", page, re.M | re.S)
    assert len(cells) == page.count("{code-cell}")
    printed = {}
    for cell in cells:
        printed |= expressions(cell)
    for solution in sorted((ROOT / "solutions" / assignment.stem).glob("*/solution.py")):
        _, body = solution.read_text().split(f"def {solution.parent.name}(")
        _, _, body = body.split('"""', 2)
        asked = expressions("if True:\n" + body.lstrip("\n"))
        assert [printed[idea] for idea in asked if idea in printed] == [], solution.parent.name


def pytest_on(folder):
    options = ["-q", "-n0", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


def test_pytest_on_a_folder_runs_its_tests_on_the_model_answer():
    exercise = next(a for a in COURSE if a.stem == "06_multi_head")["split_heads"]
    code, said = pytest_on(exercise.folder)
    assert code == 0, said
    assert f"{2 * len(exercise.tests)} passed" in said, "in float64 and in float32"


def test_pytest_on_a_chapter_refuses_a_wrong_model_answer(course):
    shutil.copy(ROOT / "solutions" / "conftest.py", course.folder)
    course.spoil("row_means/solution.py", "x.shape[-1]", "5")
    code, said = pytest_on(course.chapter)
    assert code == 1, said
    assert "test_means_of_a_matrix[numpy float64]" in said
    assert "expected" in said
    assert "4 failed, 2 passed" in said, "the stack has rows of five"
