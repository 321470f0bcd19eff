"""What can change a verdict is in the journal's key, and nothing else is: both directions."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.grading import fingerprint, package
from autograder.grading.fingerprint import (
    NOTEBOOK,
    PACKAGES,
    WORKER,
    code_of,
    environment_fingerprint,
    modules_behind,
)
from autograder.paths import ROOT

STEM = "01_rows"
RELEASED = f"release/{STEM}"
COMPARATOR = "course_lib.checking.expect"
CODE = "\nA_NEW_NAME = 1\n"
NO_CODE = '\n# a comment\n"""A text that nobody reads."""\n'


@pytest.fixture(scope="module")
def copy_of_sources(tmp_path_factory):
    copy = tmp_path_factory.mktemp("sources")
    for name in ("autograder", "course_lib"):
        ignored = shutil.ignore_patterns("__pycache__", "static")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    return copy


@pytest.fixture
def sources(copy_of_sources, monkeypatch):
    """A copy of our sources, in which `append` changes a file until the test is over."""
    monkeypatch.setattr(fingerprint, "ROOT", copy_of_sources)
    monkeypatch.setattr(package, "ROOT", copy_of_sources)
    changed: dict[Path, str] = {}

    def append(name: str, text: str) -> None:
        path = copy_of_sources / name
        changed.setdefault(path, path.read_text())
        path.write_text(changed[path] + text)

    yield append
    for path, text in changed.items():
        path.write_text(text)


def now(*tests_import: str) -> str:
    return environment_fingerprint.__wrapped__((COMPARATOR, *tests_import))


JUDGES = [
    "autograder/grading/referee.py",
    "autograder/grading/rebuild.py",
    "autograder/sandbox/child.py",
    "autograder/sandbox/codec.py",
    "autograder/sandbox/launcher.py",
    "autograder/sandbox/limits.py",
    "course_lib/checking/expect.py",
    "course_lib/checking/verdicts.py",
]
DOES_NOT_JUDGE = [
    "autograder/book/theme.py",
    "autograder/classroom/collect.py",
    "autograder/commands/grade.py",
    "autograder/demo/attacks/reading.py",
    "autograder/exercises/assignment.py",
    "autograder/grading/grade_class.py",
    "autograder/grading/pages.py",
    "autograder/release/notebooks.py",
    "autograder/reports/class_report.py",
    "course_lib/__init__.py",
    "course_lib/checking/page.py",
    "course_lib/kernels.py",
    "course_lib/plots/_style.py",
]


def test_each_piece_of_code_that_judges_changes_the_fingerprint(sources):
    seen = [now()]
    for source in JUDGES:
        sources(source, CODE)
        seen.append(now())
    assert len(set(seen)) == len(seen)


def test_no_comment_changes_the_fingerprint_and_no_code_that_does_not_judge(sources):
    before = now()
    for source in JUDGES:
        sources(source, NO_CODE)
    for source in DOES_NOT_JUDGE:
        sources(source, CODE)
    assert now() == before


def test_a_formula_counts_where_a_test_imports_it(sources):
    imported = fingerprint.modules_imported(b"from course_lib import softmax")
    with_it, without = now(*imported), now()
    sources("course_lib/softmax_family.py", CODE)
    assert now(*imported) != with_it and now() == without


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x = 1", "x = 1  # why", True),
        ("x = 1", "x = 2", False),
        ('def f():\n    """It."""\n    return 1', "def f():\n\n    return 1", True),
        ('def f():\n    """It."""\n    return 1', 'def f():\n    return """It."""', False),
        ("class A:\n    x: int", 'class A:\n    x: int\n    """Why."""', True),
        ("@core\ndef test(): ...", "def test(): ...", False),
    ],
)
def test_of_a_module_the_code_counts(one, other, same):
    assert (code_of(one.encode()) == code_of(other.encode())) == same


def test_the_fingerprint_says_in_words_what_it_is_made_of():
    named = [part.split() for part in environment_fingerprint().split(", ")]
    assert [name for name, _ in named] == ["python", *PACKAGES, "grader"]


LOADED = f"""
import importlib, json, sys
for name in {WORKER}:
    importlib.import_module(name)
print(json.dumps(sorted(sys.modules)))
"""


def test_all_that_a_worker_and_a_students_process_load_is_followed():
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {
        name
        for name in json.loads(done.stdout)
        if name.startswith(("autograder.", "course_lib.checking"))
    }
    tests = "course_lib.checking.marks"  # of an exercise, not the worker itself
    followed = modules_behind((*WORKER, tests)).keys()
    packages = {name for name in loaded - followed if _passes_names_on(name)}
    assert loaded - followed == packages


def _passes_names_on(name: str) -> bool:
    """It is the __init__ of a package, which does nothing itself."""
    path = ROOT.joinpath(*name.split(".")) / "__init__.py"
    if not path.is_file():
        return False
    return all(
        isinstance(node, ast.ImportFrom | ast.Expr)
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
        for node in ast.parse(path.read_text()).body
    )


# what a worker is given


@pytest.fixture
def course(tmp_path):
    """As a release leaves it, as far as a package takes from it."""
    course = tmp_path / "course"
    checks = course / "grader" / STEM / "checks" / "row_means"
    checks.mkdir(parents=True)
    (checks / "tests.py").write_text("from course_lib import island, softmax\n")
    (checks / "record.json").write_text("{}")
    released = course / "release" / STEM
    shutil.copytree(
        ROOT / "course_lib", released / "course_lib", ignore=shutil.ignore_patterns("__pycache__")
    )
    (released / f"{STEM}.ipynb").write_text("{}")
    return course


def given(course) -> str:
    return package.digest(package.pack(course, STEM))


@pytest.mark.parametrize(
    ("file", "more"),
    [
        (f"grader/{STEM}/checks/row_means/tests.py", NO_CODE),  # docstrings of tests are shown
        (f"grader/{STEM}/checks/row_means/record.json", " "),
        (f"{RELEASED}/{STEM}.ipynb", " "),
        (f"{RELEASED}/course_lib/kernels.py", CODE),
    ],
)
def test_what_counts_of_a_release(course, file, more):
    before, path = given(course), course / file
    path.write_text(path.read_text() + more)
    assert given(course) != before


def test_what_does_not_count_of_a_release(course):
    before = given(course)
    for path in (course / RELEASED / "course_lib").rglob("*.py"):
        path.write_text(path.read_text() + NO_CODE)
    (course / RELEASED / "README.md").write_text("more")
    assert given(course) == before


def test_what_counts_of_the_machine_that_is_laid_over_a_release(course, sources):
    before = given(course)
    for module in ("page", "__main__"):
        sources(f"course_lib/checking/{module}.py", CODE)
    sources("course_lib/checking/expect.py", NO_CODE)
    assert given(course) == before
    sources("course_lib/checking/expect.py", CODE)
    assert given(course) != before


def test_the_same_in_gives_the_same_package(course):
    first = package.pack(course, STEM)
    for path in course.rglob("*.py"):
        path.touch()
    assert package.pack(course, STEM) == first


def test_what_the_tests_of_a_package_import_is_found(course):
    imported = package.tests_import(package.pack(course, STEM))
    assert imported == ("course_lib.island", "course_lib.softmax_family")
    (course / "grader" / STEM / "checks" / "row_means" / "tests.py").write_text("def (")
    assert package.tests_import(package.pack(course, STEM)) == ()


def test_the_notebooks_first_cell_imports_what_is_said():
    from autograder.release.notebooks import SET_UP

    assert f"from {NOTEBOOK} import" in SET_UP
