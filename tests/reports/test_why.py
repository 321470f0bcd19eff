"""Why a mark is what it is: told to the instructor, and to no student."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbconvert.exporters import HTMLExporter
from nbgrader.api import Gradebook
from nbgrader.server_extensions.formgrader import handlers

from autograder.commands.cli import main
from autograder.grading.outcome import Mark
from autograder.grading.redact import RAISED, WITHHELD, for_student
from autograder.release.course_folder import nbgrader_configuration
from autograder.reports.formgrader import ShowEvidence
from course_lib.checking.findings import Cause, FailureKind, Finding
from tests.reports.conftest import STEM

pytestmark = pytest.mark.whole
COURSE = str(Path(sys.executable).with_name("course"))


@pytest.fixture(scope="module")
def asked(graded, tmp_path_factory) -> Path:
    """A copy, since whoever reads the journal touches its file."""
    return shutil.copytree(graded, tmp_path_factory.mktemp("asked") / "course")


def why(course: Path, *words: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["why", *words, "--course", str(course)])
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


def marks(course: Path, student: str) -> dict[str, Mark]:
    log = json.loads((course / "grading" / STEM / f"{student}.json").read_text())
    return {mark.cell: mark for mark in map(Mark.from_dict, log["marks"])}


def hidden_failures(course: Path, student: str) -> list[tuple[str, Finding]]:
    """Cell, and what a hidden test found there."""
    return [
        (cell, finding)
        for cell, mark in marks(course, student).items()
        for finding in mark.findings
        if finding.hidden and not finding.passed
    ]


def test_what_a_hidden_test_saw_is_told_with_mistake_and_hint(asked):
    failures = hidden_failures(asked, "bo")
    assert len(failures) > 2
    for cell, finding in failures:
        assert "got " in finding.evidence and "expected " in finding.evidence
        told = why(asked, "bo", cell.removesuffix("-check"))
        for part in (finding.property, finding.evidence, finding.mistake, finding.hint):
            assert part in told


@pytest.mark.parametrize("exercise", ["softmax", "3.1", "softmax-check"])
def test_an_exercise_is_found_by_name_number_and_cell(asked, exercise):
    assert "3.1 softmax: Softmax" in why(asked, "cy", exercise)
    assert "3.1 softmax: Softmax" in why(asked, "cy", exercise, STEM)


def test_repairs_and_comments_are_told(asked):
    assert "my homework (2).ipynb" in why(asked, "flo", "softmax")
    told = why(asked, "ada", "variance_in_the_jacobian")
    assert "3 points of 4" in told and "marked by a person" in told
    assert marks(asked, "ed")["softmax-check"].reason in why(asked, "ed", "softmax")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("Lovelace", "softmax"), "ada Ada Lovelace"),
        (("nobody", "softmax"), "'nobody'"),
        (("ada", "sofmax"), "softmax"),
        (("ada", "softmax", "04_scaling"), "04_scaling"),
        (("absent", "softmax"), f"course grade {STEM} --student absent"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(asked, words, told):
    assert told in why(asked, *words, code=2)


def test_the_formgrader_shows_it_and_nobody_else_does(asked):
    config = nbgrader_configuration(asked)
    notebook = nbformat.read(asked / "autograded" / "bo" / STEM / f"{STEM}.ipynb", as_version=4)
    resources = {"assignment_id": STEM, "student": "bo", "submission_id": "x"}
    step = ShowEvidence(config=config)
    page = step.preprocess(nbformat.from_dict(notebook), dict(resources))[0]
    assert len(page.cells) > len(notebook.cells)
    for student in ("bo", "gus", "nobody"):
        without = {"assignment_id": STEM, "student": student}
        cells = list(notebook.cells)
        assert step.preprocess(nbformat.from_dict(notebook), without)[0].cells == cells
    html = formgrader_page(asked, "bo")
    _, finding = hidden_failures(asked, "bo")[0]
    assert finding.evidence in html


def formgrader_page(course: Path, student: str) -> str:
    """As nbgrader's server extension makes it."""
    config = nbgrader_configuration(course)
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    names = ("notebook_id", "base_url", "last_name", "first_name", "notebook_path")
    resources = dict.fromkeys(names, "x") | {"assignment_id": STEM, "submission_id": "x"}
    resources |= {"student": student, "index": 0, "total": 1}
    notebook = str(course / "autograded" / student / STEM / f"{STEM}.ipynb")
    return HTMLExporter(config=config).from_filename(notebook, resources)[0]


def test_no_file_that_a_student_gets_holds_it(course, tmp_path):
    """The feedback page, the graded notebook, nbgrader's own page, what the exchange hands out."""
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    with (course / "local_config.py").open("a") as settings:
        settings.write(f'c.Exchange.root = "{exchange}"\n')
    for verb in (["feedback", STEM, "--exchange"], ["report", STEM], ["export", STEM]):
        done = subprocess.run(
            [COURSE, *verb, "--course", str(course)],
            capture_output=True,
            text=True,
            env=os.environ | {"PATH": f"{Path(COURSE).parent}:{os.environ['PATH']}"},
        )
        assert done.returncode in (0, 1) and not done.stderr, done.stderr
    seen = {
        finding.evidence
        for student in ("ada", "bo")
        for _, finding in hidden_failures(course, student)
    }
    numbers = {number for evidence in seen for number in re.findall(r"\d\.\d{4,}", evidence)}
    assert len(numbers) > 2
    folders = ("feedback", "autograded", "reports", "release", "bundles", "exports")
    files = [path for name in folders for path in (course / name).rglob("*") if path.is_file()]
    files += [path for path in exchange.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".html", ".ipynb", ".csv", ".zip"}
    for path in files:
        text = path.read_bytes().decode(errors="replace")
        assert not [each for each in numbers if each in text], path
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        told = [c.comment or "" for s in gradebook.assignment_submissions(STEM)
                for n in s.notebooks for c in n.comments]  # fmt: skip
    assert told and not [each for each in numbers if each in "".join(told)]


def test_an_exception_in_a_hidden_test_tells_neither_its_type_nor_its_line():
    """A student may choose its text, its name, and in which of many lines it is raised."""

    def shown(exception: str, line: int | None = None, **more: bool) -> str:
        cause = Cause(FailureKind.RAISED, exception, line)
        finding = Finding("test", "it holds", passed=False, evidence="got 0.123", cause=cause)
        return for_student(Finding(**vars(finding) | {"hidden": True} | more)).evidence

    assert shown("ValueError", 3) == shown("N0123", 30017) == shown("KeyError") == RAISED
    assert shown("ValueError", hidden=False) == "got 0.123"
    differs = Finding("test", "it holds", passed=False, hidden=True, evidence="got 0.123")
    assert for_student(differs).evidence == WITHHELD
