"""What holds for every verb: how it is listed, how it refuses, what it imports."""

import ast
import errno
import logging
import re
import resource
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

from autograder import errors
from autograder.commands.cli import VERBS, main
from autograder.errors import CourseError

ROOT = Path(__file__).parents[2]


def verb(name: str) -> click.Command:
    return getattr(import_module(f"autograder.commands.{name}"), name)


def test_each_module_is_a_verb_and_each_verb_a_module():
    modules = {path.stem for path in (ROOT / "autograder" / "commands").glob("*.py")}
    assert modules - {"__init__", "cli", "options"} == VERBS.keys()


@pytest.mark.parametrize("name", VERBS)
def test_the_list_says_of_a_verb_what_its_own_help_begins_with(name):
    first = re.match(r".+?\.(?=\s|$)", " ".join(verb(name).help.split()))
    assert first[0] == VERBS[name]


def test_each_verb_is_one_line_of_a_narrow_terminal():
    text = CliRunner().invoke(main, ["--help"], terminal_width=80).output
    lines = text[text.index("Commands:") :].splitlines()[1:]
    assert [line.split(maxsplit=1) for line in lines] == [[n, VERBS[n]] for n in sorted(VERBS)]
    assert max(map(len, lines)) <= 80


HELP = """
import sys
from autograder.commands.cli import main
main(["--help"], standalone_mode=False)
sys.stderr.write(" ".join(sorted({name.partition(".")[0] for name in sys.modules})))
"""
HEAVY = {"numpy", "torch", "sphinx", "nbgrader", "nbformat", "distributed", "sqlalchemy", "rich"}


def test_the_list_of_verbs_imports_none_of_them():
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, cwd=ROOT)
    imported = set(done.stderr.split())
    assert "click" in imported
    assert not imported & HEAVY


DRAWN = re.compile(r"^([│├└─ ]*)(\w+) .*?(?:  ([\w.]+))?$", re.MULTILINE)


def drawing() -> dict[str, tuple[str, str]]:
    """Of autograder.errors: class -> (its parent there, its module)."""
    text = errors.__doc__[errors.__doc__.index("CourseError") :].partition("\n\n")[0]
    drawn: dict[str, tuple[str, str]] = {}
    parents = {0: "CourseError"}
    for indent, name, module in DRAWN.findall(text):
        if indent:
            drawn[name] = parents[len(indent) - 4], f"autograder.{module}"
        parents[len(indent)] = name
    return drawn


def in_the_sources() -> dict[str, tuple[str, str]]:
    """The same, of each class that derives from CourseError, read and not imported."""
    classes = {}
    for path in sorted((ROOT / "autograder").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    classes[node.name, ast.unparse(base).rpartition(".")[2]] = module
    below, last = {"CourseError"}, set()
    while below != last:
        last = set(below)
        below |= {name for name, base in classes if base in below}
    return {n: (base, module) for (n, base), module in classes.items() if base in below}


def test_the_drawing_of_exceptions_is_true():
    assert drawing() == in_the_sources()


def test_no_other_class_of_ours_is_shown_by_click():
    shown = [
        f"{path.name}: {node.name}"
        for path in sorted((ROOT / "autograder").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).startswith("click.") for base in node.bases)
    ]
    assert shown == ["cli.py: _Verbs", "errors.py: CourseError"]


@pytest.fixture
def run(monkeypatch):
    """Run a verb `fake` that does what is given."""

    def invoke(do, *options: str, **more):
        module = ModuleType("fake")
        module.fake = click.command("fake")(do)
        monkeypatch.setitem(VERBS, "fake", "Does what a test wants.")
        monkeypatch.setitem(sys.modules, "autograder.commands.fake", module)
        return CliRunner().invoke(main, [*options, "fake"], **more)

    return invoke


def raising(error: BaseException):
    def do() -> None:
        raise error

    return do


@pytest.mark.parametrize("name", drawing())
def test_each_of_them_ends_a_verb_with_its_message_and_exit_code(name, run):
    kind = getattr(import_module(drawing()[name][1]), name)
    assert issubclass(kind, CourseError)
    error = kind.__new__(kind)
    click.ClickException.__init__(error, "what is wrong, and what to do")
    result = run(raising(error))
    assert (result.exit_code, result.stdout) == (1 if name == "OtherExercises" else 2, "")
    assert result.stderr == "Error: what is wrong, and what to do\n"


@pytest.mark.parametrize(
    "error, shown",
    [
        (OSError(errno.ENOSPC, "No space left on device", "/c/students.csv"), "/c/students.csv"),
        (PermissionError(errno.EACCES, "Permission denied", "/c/exports"), "/c/exports"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left"),
        (OSError("said without a number"), "said without a number"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "Connection refused"),
    ],
)
def test_what_the_system_refuses_is_a_sentence_and_no_traceback(error, shown, run):
    result = run(raising(error))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert shown in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("error", [CourseError("x"), PermissionError(errno.EACCES, "x", "y")])
def test_who_asks_is_shown_the_place_in_the_program(error, run):
    for result in (run(raising(error), "--debug"), run(raising(error), env={"COURSE_DEBUG": "1"})):
        assert result.exit_code == 2
        assert "Traceback" in result.stderr and "in do" in result.stderr
        assert result.stderr.index("Error: ") > result.stderr.index("Traceback")
    assert "Traceback" not in run(raising(error)).stderr


def test_a_fault_of_ours_keeps_its_traceback(run):
    error = ValueError("a fault")
    assert run(raising(error)).exception is error


def test_ctrl_c_is_exit_code_130_and_nobody_reading_on_is_no_fault(run):
    assert run(raising(KeyboardInterrupt())).exit_code == 130
    quiet = run(raising(BrokenPipeError(errno.EPIPE, "Broken pipe")))
    assert (quiet.exit_code, quiet.output) == (1, "")


def test_course_v_tells_what_is_done_on_stderr_and_nothing_else_does(run):
    def do() -> None:
        for name in ("autograder.grading", "somebody.else"):
            logging.getLogger(name).info("3 graded by %s", name)

    assert run(do).stderr == ""
    told = run(do, "-v").stderr
    assert "autograder.grading: 3 graded" in told
    assert "somebody" not in told
    assert run(do).stderr == ""  # and the next one is quiet again
    assert logging.getLogger("autograder").handlers == []


@pytest.fixture
def course(tmp_path):
    course = tmp_path / "course"
    assert CliRunner().invoke(main, ["init", str(course)]).exit_code == 0
    return course


def refused(*words: object):
    result = CliRunner().invoke(main, [*map(str, words)])
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("Error: ")
    return result.stderr


def test_a_path_that_leads_nowhere_is_named(course, tmp_path):
    (tmp_path / "file").touch()
    assert str(tmp_path / "file" / "x") in refused("init", tmp_path / "file" / "x")
    students = tmp_path / "class.csv"
    students.write_text("id\nada\n")
    (course / "students.csv").mkdir()
    assert str(course / "students.csv") in refused("init", course, "--students", students)


def test_a_full_disk_leaves_the_class_list_as_it_was(course, tmp_path):
    students = tmp_path / "class.csv"
    students.write_text("id\nada\n")
    assert (
        CliRunner().invoke(main, ["init", str(course), "--students", str(students)]).exit_code == 0
    )
    before = (course / "students.csv").read_bytes()
    students.write_text("id\n" + "".join(f"student{number}\n" for number in range(500)))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        told = refused("init", course, "--students", students)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert "students.csv" in told or "gradebook" in told
    assert (course / "students.csv").read_bytes() == before
    assert not list(course.glob(".*.unfinished"))
