"""Hostile submissions gain nothing, stop nobody, change nothing and are told nothing.

The whole corpus is graded as one class with honest students among it; started by root, an ordinary
user grades it too.
"""

import contextlib
import json
import re
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from autograder.demo.attacks import ATTACKS, QUICK, THEMES
from autograder.demo.attacks.attack import Attack
from autograder.demo.attacks.reaching import LEFT_OVER
from autograder.demo.attacks.reading import HIDDEN
from autograder.demo.made_up_class import Class, Member, hand_in
from autograder.exercises.assignment import load_assignment
from autograder.grading import package
from autograder.grading import pool as pool_module
from autograder.grading.grade_class import Listener, grade_class
from autograder.grading.outcome import Outcome
from autograder.grading.pool import LocalPool
from autograder.grading.redact import RAISED, WITHHELD, for_student
from autograder.grading.referee import Job
from autograder.grading.sentences import in_full
from autograder.grading.worker import MEMORY
from autograder.paths import ROOT as CHECKOUT
from autograder.release.seeds import secret_seed
from autograder.sandbox import limits
from autograder.sandbox.host import Sandbox
from tests.grading.sandbox_fixtures import ROOT, gone
from tests.shared import let_everybody_enter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")

STEM = "03_softmax"
ASSIGNMENT = load_assignment(CHECKOUT / "solutions" / STEM)
CANARY = "canary of the class"
HONEST_AT = 25
"""After so many attackers an honest student follows."""


@dataclass
class Graded:
    """A class with attackers in it, after it was graded."""

    course: Path
    members: dict[str, Member]
    outcomes: dict[str, Outcome]
    before: dict[str, tuple[int, bytes]]

    def attackers(self):
        return (m for m in self.members.values() if m.kind.startswith("attack"))


def graded(course: Path, attacks, tier: str = "namespaces") -> Graded:
    """`course` is a released one, of which nothing has been handed in yet."""
    maker = Class(ASSIGNMENT, course)
    members = [maker.model("student_001")]
    for number, attack in enumerate(attacks):
        members.append(maker.attack(f"attacker_{number:03}", attack))
        if number % HONEST_AT == HONEST_AT - 1:
            members.append(maker.differently_right(f"student_{number:03}"))
    hand_in(course, STEM, members)
    (course / "notes.txt").write_text(CANARY)
    let_everybody_enter(course)
    before = files_of(course)
    outcomes = {}

    def done(outcome, problems):
        outcomes[outcome.student] = outcome

    def pool(folder, data):
        return LocalPool(folder, STEM, 2, tier)

    grade_class(course, STEM, pool, listener=Listener(done=done))
    return Graded(course, {m.name: m for m in members}, outcomes, before)


def files_of(course: Path) -> dict[str, tuple[int, bytes]]:
    """All that nobody but the grader's own recorder may change."""
    return {
        str(path.relative_to(course)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in course.rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and path.name != "gradebook.db"
        and not path.is_relative_to(course / "grading")
        and not path.is_relative_to(course / "autograded")
    }


def left_running() -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "comm").read_text() + (folder / "cmdline").read_text()
            if LEFT_OVER in words:
                found.append(int(folder.name))
    return found


@pytest.fixture(scope="module")
def quick(released_softmax, tmp_path_factory):
    course = tmp_path_factory.mktemp("quick") / "course"
    return graded(shutil.copytree(released_softmax, course), QUICK)


@pytest.fixture(scope="module")
def whole(released_softmax, tmp_path_factory):
    course = tmp_path_factory.mktemp("whole") / "course"
    return graded(shutil.copytree(released_softmax, course), ATTACKS)


@pytest.fixture(scope="module")
def landlock(released_softmax, tmp_path_factory):
    if ROOT:
        pytest.skip("root would stay root without namespaces; an ordinary user runs it below")
    course = tmp_path_factory.mktemp("landlock") / "course"
    return graded(shutil.copytree(released_softmax, course), ATTACKS, "landlock")


@pytest.fixture(
    params=[
        pytest.param("quick", marks=pytest.mark.whole),
        pytest.param("whole", marks=pytest.mark.slow),
        pytest.param("landlock", marks=pytest.mark.slow),
    ]
)
def attacked(request) -> Graded:
    return request.getfixturevalue(request.param)


def test_the_corpus_is_large_and_every_attack_has_a_name_of_its_own():
    assert len(ATTACKS) >= 160
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert len(QUICK) == 2 * len(THEMES)
    assert all(attack.held_by for attack in ATTACKS)


def test_everybody_gets_what_is_due(attacked):
    """Attackers what their useless answers earn, honest students among them full marks."""
    assert set(attacked.outcomes) == set(attacked.members)
    for name, member in attacked.members.items():
        got = {m.cell: m.points for m in attacked.outcomes[name].marks if m.cell in member.points}
        assert got == pytest.approx(member.points), member.kind


def test_the_gradebook_says_the_same_and_nothing_else(attacked):
    query = """
        SELECT submitted_assignment.student_id, sum(grade.auto_score), sum(grade.manual_score),
               sum(grade.extra_credit)
        FROM submitted_assignment
        JOIN submitted_notebook ON submitted_notebook.assignment_id = submitted_assignment.id
        JOIN grade ON grade.notebook_id = submitted_notebook.id
        GROUP BY 1"""
    with sqlite3.connect(attacked.course / "gradebook.db") as db:
        rows = {student: (auto, *rest) for student, auto, *rest in db.execute(query)}
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    due = {name: sum(member.points.values()) for name, member in attacked.members.items()}
    assert rows == {name: (pytest.approx(points), None, None) for name, points in due.items()}


def test_nothing_outside_has_changed(attacked):
    assert files_of(attacked.course) == attacked.before
    for path in attacked.course.rglob("*"):
        assert path.name not in ("breach.txt", "late.txt"), path


def test_nothing_secret_comes_back(attacked):
    """Not the seed, not a hidden test, not a file of the class, not another student's work."""
    checks = attacked.course / "grader" / STEM / "checks"
    hidden = {
        test.name
        for exercise in ASSIGNMENT.exercises
        for test in getattr(exercise, "tests", ())
        if test.hidden
    }
    assert hidden and checks.is_dir()
    secrets = [str(secret_seed(attacked.course, STEM)), CANARY, "expect_close(", "\nroot:"]
    secrets += [HIDDEN, *(f"def {name}" for name in hidden)]
    for member in attacked.attackers():
        outcome = attacked.outcomes[member.name]
        shown = [c.comment for c in outcome.marks] + list(map(in_full, outcome.incidents))
        for cell in nbformat.reads(outcome.notebook, as_version=4).cells:
            shown += [json.dumps(output) for output in cell.get("outputs", [])]
        for secret in secrets:
            assert secret not in "\n".join(shown), (member.kind, secret)


def test_of_hidden_inputs_no_error_tells_a_student(attacked):
    for member in attacked.attackers():
        for mark in attacked.outcomes[member.name].marks:
            for finding in mark.findings:
                if finding.hidden and not finding.passed:
                    assert for_student(finding).evidence in (WITHHELD, RAISED), member.kind


def test_what_is_kept_is_small_and_carries_no_commands(attacked):
    """Nothing for the terminal of whoever grades, whatever was named or raised."""
    control = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
    for member in attacked.attackers():
        outcome = attacked.outcomes[member.name]
        assert len(outcome.to_json()) < 20 << 20, member.kind
        said = list(map(in_full, [*outcome.repairs, *outcome.incidents]))
        said += [mark.comment for mark in outcome.marks]
        said += [finding.evidence for mark in outcome.marks for finding in mark.findings]
        for words in said:
            assert not control.search(words) and len(words) < 2000, (member.kind, words)


def test_nothing_is_left_running(attacked):
    """Another test may be at the same attacks now: theirs end with their submission."""
    assert gone(left_running(), 3 * limits.SUBMISSION_SECONDS)


def test_each_takes_no_longer_than_a_submission_may(attacked):
    """Trusted steps besides; not a measure of speed but of a bound."""
    for member in attacked.attackers():
        seconds = sum(attacked.outcomes[member.name].seconds.values())
        assert seconds < 3 * limits.SUBMISSION_SECONDS, (member.kind, seconds)


# What was found by these attacks


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(CHECKOUT / "course_lib") as sandbox:
        yield sandbox


TO_ITS_GROUP = """
import os
os.setsid()  # the group of the tests must not be in danger
from pathlib import Path
from autograder.sandbox.host import Sandbox
with Sandbox(Path("course_lib")) as one, Sandbox(Path("course_lib")) as other:
    with one.student() as student:
        student.begin(0)
        student.run_cell("cell", "import os, signal; os.killpg(0, signal.SIGKILL)")
    with other.student() as student:
        student.begin(0)
        print(student.run_cell("cell", "print('alive')")["stdout"])
"""


@pytest.mark.whole
def test_a_signal_to_its_own_group_does_not_reach_the_grader():
    """A group of processes is not confined by the namespace of its pids."""
    done = subprocess.run(
        [sys.executable, "-c", TO_ITS_GROUP], cwd=CHECKOUT, capture_output=True, text=True
    )
    assert "alive" in done.stdout, (done.returncode, done.stderr)


MANY = """
import os, time
for _ in range(60):
    try:
        if os.fork() == 0:
            held = bytearray(b"x" * (20 << 20))
            time.sleep(60)
    except OSError:
        break
time.sleep(0.3)
"""


@pytest.mark.whole
def test_the_processes_of_one_student_do_not_count_for_the_next(sandbox):
    for _ in range(5):
        with sandbox.student() as student:
            student.begin(0)
            student.run_cell("many", MANY)
        with sandbox.student() as student:
            student.begin(0)
            run = "import subprocess; subprocess.run(['true'], check=True)"
            assert student.run_cell("one", run)["error"] is None


@pytest.mark.whole
def test_a_worker_that_hangs_is_replaced(released_softmax, tmp_path, monkeypatch):
    monkeypatch.setattr(pool_module, "JOB_SECONDS", 4)
    maker = Class(ASSIGNMENT, released_softmax)
    sleeping = next(a for a in ATTACKS if a.name == "a sleep without end")
    members = [maker.attack("hangs", sleeping), maker.model("right")]
    unpacked = tmp_path / "package"
    package.unpack(package.pack(released_softmax, STEM), unpacked)
    let_everybody_enter(unpacked)
    with LocalPool(unpacked, STEM, 1) as pool:
        jobs = [Job(m.name, STEM, "key", 1, m.files) for m in members]
        outcomes = {outcome.student: outcome for outcome in pool.grade(jobs)}
    assert outcomes["right"].points == sum(members[1].points.values())
    assert all(mark.needs_person for mark in outcomes["hangs"].marks)


@pytest.mark.whole
def test_a_worker_does_not_grow_without_end():
    # Mapped, not written to: what counts is the address space, and the machine may be small.
    code = (
        "import mmap\nfrom autograder.sandbox import limits\n"
        f"limits.bound_memory({MEMORY})\nmmap.mmap(-1, {MEMORY} - (1 << 29)).close()\n"
        f"try:\n    mmap.mmap(-1, {MEMORY} + 1)\nexcept OSError:\n    print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True)
    assert done.stdout == b"refused\n", done.stderr


# The same notebooks under nbgrader's own execution, where checks and answers share a process

BITE = (
    "a tag that skips the checks",
    "the points are handed out freely",
    "the judge finds that everything holds",
    "check is another function",
    "asserts are dropped from the syntax tree",
    "a result is published before the check",
)


@pytest.mark.slow
def test_without_a_referee_these_attacks_earn_marks(released_softmax):
    """Or the corpus would prove nothing: a useless notebook earns nothing there, an attack does."""
    maker = Class(ASSIGNMENT, released_softmax)
    chosen = {attack.name: attack for attack in ATTACKS if attack.name in BITE}
    honest = maker.attack("useless", Attack("nothing at all", ""))
    assert earned_in_kernel(released_softmax, honest) == 0
    assert earned_in_kernel(released_softmax, maker.model("right")) == sum(maker.full.values())
    for name in BITE:
        assert earned_in_kernel(released_softmax, maker.attack("attacker", chosen[name])) > 0, name


def earned_in_kernel(course: Path, member: Member) -> float:
    from nbgrader.preprocessors import Execute
    from nbgrader.utils import determine_grade

    notebook = nbformat.reads(member.files[f"{STEM}.ipynb"].decode(), as_version=4)
    place = {"metadata": {"path": str(course / "release" / STEM)}}
    notebook, _ = Execute().preprocess(notebook, place)
    checks = [c for c in notebook.cells if c.cell_type == "code" and "nbgrader" in c.metadata]
    return sum(determine_grade(c)[0] for c in checks if c.metadata.nbgrader.grade)
