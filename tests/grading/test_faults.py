"""Processes die at every level, and nobody loses a mark by it."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from nbformat.v4 import new_code_cell

from autograder.demo.attacks import ATTACKS
from autograder.demo.attacks.reading import HIDDEN
from autograder.demo.made_up_class import Class
from autograder.exercises.assignment import load_assignment
from autograder.grading import package, referee
from autograder.grading import pool as pool_module
from autograder.grading.notes import Fact, Kind, Note
from autograder.grading.pool import LocalPool
from autograder.grading.referee import Attempt, Grader, Job
from autograder.paths import ROOT
from autograder.sandbox import limits
from autograder.sandbox.host import NoSandbox, Sandbox
from course_lib.checking.findings import FailureKind
from tests.shared import let_everybody_enter

pytestmark = pytest.mark.whole

STEM = "03_softmax"
ASSIGNMENT = load_assignment(ROOT / "solutions" / STEM)


@pytest.fixture(scope="module")
def course(released_softmax, tmp_path_factory):
    return shutil.copytree(released_softmax, tmp_path_factory.mktemp("class") / "course")


@pytest.fixture(scope="module")
def unpacked(course, tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    let_everybody_enter(folder)
    package.unpack(package.pack(course, STEM), folder)
    return folder


@pytest.fixture(scope="module")
def grader(unpacked):
    with Sandbox(unpacked / "course_lib") as sandbox:
        yield Grader(unpacked, STEM, sandbox)


@pytest.fixture(scope="module")
def maker(course):
    return Class(ASSIGNMENT, course)


def job(member) -> Job:
    return Job(member.name, STEM, "key", 1, member.files)


def marks(outcome) -> dict[str, float]:
    return {mark.cell: mark.points for mark in outcome.marks if mark.points is not None}


def as_due(outcome, member) -> bool:
    got = marks(outcome)
    return {cell: got[cell] for cell in member.points} == pytest.approx(member.points)


def with_cell(member, source: str, at: int):
    notebook = json.loads(next(iter(member.files.values())))
    notebook["cells"].insert(at, dict(new_code_cell(source)))
    member.files[f"{STEM}.ipynb"] = json.dumps(notebook).encode()
    return member


DEATHS = {
    "os._exit": "import os; os._exit(3)",
    "a segfault": "import ctypes; ctypes.string_at(0)",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGABRT); os.abort()",
    "the stack": "import sys; sys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1)\nf(0)",
    "memory": "x = []\nwhile True: x.append(bytearray(2**26))",
}


@pytest.mark.parametrize("source", DEATHS.values(), ids=DEATHS)
def test_a_cell_that_ends_the_process_costs_nothing_else(grader, maker, source):
    member = with_cell(maker.model("ada"), source, at=4)
    outcome = grader.grade(job(member))
    assert as_due(outcome, member), outcome.incidents


def test_a_function_that_ends_the_process_costs_its_own_marks(grader, maker):
    member = maker.model("bo")
    notebook = json.loads(member.files[f"{STEM}.ipynb"])
    cell = next(cell for cell in notebook["cells"] if cell["id"] == "softmax")
    cell["source"] = "def softmax(x, axis=-1):\n    import os; os._exit(0)"
    member.files[f"{STEM}.ipynb"] = json.dumps(notebook).encode()
    outcome = grader.grade(job(member))
    expected = member.points | {"softmax-check": 0.0}
    assert {cell: marks(outcome)[cell] for cell in expected} == pytest.approx(expected)
    ended = Fact(Kind.CALL_FAILED, exercise="softmax", cause=FailureKind.ENDED)
    assert {note.fact for note in outcome.incidents} == {ended}


def test_a_cell_that_acts_runs_where_memory_is_limited_too(grader, maker):
    member = with_cell(maker.model("dov"), "import builtins\nbuiltins.one = 1.0", at=2)
    notebook = json.loads(member.files[f"{STEM}.ipynb"])
    cell = next(cell for cell in notebook["cells"] if cell["id"] == "softmax-vjp")
    assert "return " in cell["source"]
    cell["source"] = cell["source"].replace("return ", "return one * ")
    member.files[f"{STEM}.ipynb"] = json.dumps(notebook).encode()
    assert as_due(grader.grade(job(member)), member)


def test_hidden_inputs_are_given_when_no_visible_message_can_tell_them_any_more(
    grader, maker, monkeypatch
):
    def note(*arguments, real=referee.judge, hidden):
        order.append(hidden)
        return real(*arguments, hidden=hidden)

    order = []
    monkeypatch.setattr(referee, "judge", note)
    member = maker.model("fay")
    assert as_due(grader.grade(job(member)), member)
    assert order == sorted(order) and len(set(order)) == 2


def test_once_hidden_inputs_were_given_no_word_of_the_process_is_passed_on(grader, maker):
    """One that ends in a hidden test begins anew with the others, and could tell them."""
    attack = next(attack for attack in ATTACKS if HIDDEN in attack.code)
    outcome = grader.grade(job(maker.attack("eve", attack)))
    assert FailureKind.ENDED in {note.fact.cause for note in outcome.incidents}
    assert f"{HIDDEN}(" not in outcome.to_json()


def test_a_loop_without_end_is_stopped_and_the_rest_is_judged(grader, maker, monkeypatch):
    monkeypatch.setattr(limits, "CELL_SECONDS", 1)
    member = with_cell(maker.model("cem"), "while True: pass", at=4)
    outcome = grader.grade(job(member))
    assert as_due(outcome, member)
    assert outcome.too_slow


UNDER_A_STRICT_UMASK = """
import sys, tempfile
from pathlib import Path
from autograder.grading import package
from autograder.sandbox.host import Sandbox
course, stem = Path(sys.argv[1]), sys.argv[2]
with tempfile.TemporaryDirectory() as name:
    package.unpack(package.pack(course, stem), Path(name))
    with Sandbox(Path(name, "course_lib")) as sandbox, sandbox.student() as student:
        student.begin(0)
        print(student.run_cell("one", "import course_lib")["error"])
"""


def test_files_that_only_their_owner_may_read_by_habit_keep_no_sandbox_from_starting(course):
    """Root makes them and another user needs them: umask 077."""
    command = [sys.executable, "-c", UNDER_A_STRICT_UMASK, str(course), STEM]
    done = subprocess.run(command, cwd=ROOT, umask=0o077, capture_output=True, text=True)
    assert done.stdout == "None\n", done.stderr


def test_a_worker_that_is_killed_at_work_is_replaced(unpacked, maker, monkeypatch):
    members = [maker.model(f"student_{k}") for k in range(6)]
    found, killed = {}, []
    wait = pool_module.wait

    def kill_one_at_work(pipes, *more):
        if busy := [worker for worker in pool._team if worker.jobs and not killed]:
            killed.append(busy[0].process.pid)
            os.kill(killed[0], signal.SIGKILL)
        return wait(pipes, *more)

    monkeypatch.setattr(pool_module, "wait", kill_one_at_work)
    with LocalPool(unpacked, STEM, 2) as pool:
        for outcome in pool.grade(map(job, members)):
            assert outcome.student not in found
            found[outcome.student] = outcome
    assert killed
    assert set(found) == {member.name for member in members}
    assert all(as_due(found[member.name], member) for member in members)


def test_large_submissions_and_large_outcomes_meet_without_waiting_for_each_other(unpacked, maker):
    members = [
        with_cell(maker.model(f"student_{k}"), "for k in range(9): print('x' * 90_000)", at=1)
        for k in range(3)
    ]
    for member in members:
        member.files["notes.txt"] = bytes(1 << 20)
    found = {}
    pool = LocalPool(unpacked, STEM, 1)

    def grade():
        found.update((outcome.student, outcome) for outcome in pool.grade(map(job, members)))

    grading = Thread(target=grade, daemon=True)
    grading.start()
    grading.join(120)
    for worker in pool._team:
        worker.process.kill()
        worker.process.wait()
    assert all(as_due(found[member.name], member) for member in members)


def test_a_warm_parent_that_is_killed_is_replaced(unpacked, maker):
    members = [maker.model(f"student_{k}") for k in range(4)]
    found = {}
    with LocalPool(unpacked, STEM, 1) as pool:
        for outcome in pool.grade(map(job, members)):
            found[outcome.student] = outcome
            if len(found) == 1:
                _kill_below(pool._team[0].process.pid)
    assert all(as_due(found[member.name], member) for member in members)


@pytest.mark.parametrize("when", ["at the first call", "at the last call"])
def test_a_warm_parent_that_dies_at_work_costs_nobody_a_mark(grader, maker, monkeypatch, when):
    def ask(*call, real=Attempt._call):
        calls.append(call)
        if len(calls) == fatal:
            _kill_below(os.getpid(), "autograder.sandbox.warm")
            with contextlib.suppress(NoSandbox):
                while True:
                    grader.sandbox.check_alive()
        return real(*call)

    calls, fatal = [], None
    monkeypatch.setattr(Attempt, "_call", ask)
    member = maker.model("cem")
    grader.grade(job(member))
    calls, fatal = [], 1 if "first" in when else len(calls)
    outcome = grader.grade(job(member))
    assert len(calls) > fatal
    assert as_due(outcome, member)
    assert not outcome.incidents


def test_a_submission_that_takes_its_worker_down_twice_is_left_to_a_person(unpacked, maker):
    deadly, honest = maker.model("student_1"), maker.model("student_2")
    jobs = [_Deadly(**vars(job(deadly))), job(honest)]
    with LocalPool(unpacked, STEM, 1) as pool:
        found = {outcome.student: outcome for outcome in pool.grade(jobs)}
    assert {mark.state for mark in found["student_1"].marks} == {"not gradable"}
    assert found["student_1"].incidents == (Note.of(Kind.GRADER_DIED, count=2),)
    assert as_due(found["student_2"], honest)


class _Deadly(Job):
    """Ends the process of whoever unpacks it, as a fault of ours might."""

    def __reduce__(self):
        return os._exit, (1,)


def _kill_below(pid: int, program: str = "") -> None:
    """Everything that this process has started, or all that runs this program."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if program in Path(f"/proc/{child}/cmdline").read_text():
            os.kill(int(child), signal.SIGKILL)


def test_a_worker_that_is_ready_when_all_is_done_ends_without_a_word(unpacked):
    with LocalPool(unpacked, STEM, 1) as pool:
        pool._fill_up(1)
        worker = pool._team.pop()
        worker.pipe.close()
        assert worker.process.wait(120) == 0


def test_a_grader_that_computes_too_long_is_ended_at_once_and_the_class_goes_on(unpacked, maker):
    busy, honest = maker.model("student_1"), maker.model("student_2")
    jobs = [job(busy), job(honest)]
    jobs[0] = replace(jobs[0], files=_Endless(jobs[0].files))
    with LocalPool(unpacked, STEM, 1, referee_seconds=5) as pool:
        found = {outcome.student: outcome for outcome in pool.grade(jobs)}
    assert found["student_1"].incidents == (Note.of(Kind.GRADER_TOO_SLOW, limit=5),)
    assert {mark.state for mark in found["student_1"].marks} == {"not gradable"}
    assert as_due(found["student_2"], honest)


class _Endless(dict):
    """To look at these files takes an hour, in which no line of Python runs."""

    def __reduce__(self):
        return _Endless, (dict(self),)

    def items(self):
        return sum(range(10**12)), super().items()
