"""A real Jupyter kernel in place of the fork: the same verdicts, the same kinds of outputs."""

import shutil
import sys
import time
from dataclasses import dataclass

import pytest
from click.testing import CliRunner

from autograder.commands.cli import main
from autograder.demo.attacks import ATTACKS, QUICK
from autograder.demo.made_up_class import Class, Member
from autograder.exercises.assignment import load_assignment
from autograder.grading import package
from autograder.grading.outcome import Mark, Outcome
from autograder.grading.pool import LocalPool
from autograder.grading.referee import Job
from autograder.paths import ROOT as CHECKOUT
from autograder.sandbox import limits
from autograder.sandbox.host import NoSandbox, Sandbox
from autograder.sandbox.probes import surroundings, try_all
from autograder.sandbox.process import ProcessEnded, StudentProcess
from course_lib.checking.perform import CallRequest
from course_lib.checking.setting import Setting
from course_lib.checking.terms import NO_TERMS
from tests.grading.sandbox_fixtures import COURSE_LIB, run
from tests.shared import let_everybody_enter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")

STEM = "03_softmax"
ON_THE_CHANNEL = {
    f"attack: {name}"
    for name in (
        "a thread answers faster",
        "a thread that listens in and answers every call",
        "another process answers",
        "every answer is sent twice",
        "a header longer than the world",
        "the channel is closed",
    )
}
"""Where they break off depends on who holds the other end; they earn nothing at either."""


@pytest.fixture(scope="module")
def sandboxes():
    with Sandbox(COURSE_LIB) as fork, Sandbox(COURSE_LIB, kernel=True) as kernel:
        yield fork, kernel


@pytest.fixture(scope="module")
def both(sandboxes):
    """One process of each kind, which every test of cells uses: a kernel takes its time."""
    fork, kernel = (sandbox.student() for sandbox in sandboxes)
    with fork, kernel:
        for student in (fork, kernel):
            student.begin(1)
        yield fork, kernel


def kinds(student: StudentProcess, source: str) -> dict:
    """What a cell shows, but for what differs from run to run."""
    answer = run(student, source)
    outputs = [
        (output["output_type"], sorted(output.get("data", {})), output.get("ename"))
        for output in answer["outputs"]
    ]
    error = answer["error"] and answer["error"][0]
    return answer | {"outputs": outputs, "error": error}


CELLS = [
    "1 + 1",
    "4;",
    "print('a'); display(1); print('b'); display('c'); 2",
    "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2])",
    "print('before')\n!echo there {1 + 1}\nprint('after')",
    "lines = !echo a\nprint(lines)",
    "!exit 3\nprint(_exit_code)",
    "!echo oops >&2",
    "%%bash\nfor n in 1 2; do echo $n; done",
    "import asyncio\nprint(await asyncio.gather(asyncio.sleep(0, 1)))",
    "%pwd",
    "%%capture out\nprint(1)",
    "1 / 0",
    "a = = 1",
    "import sys; sys.exit(3)",
    "exit()",
    "input('your name: ')",
    "import getpass; getpass.getpass()",
    "import warnings; warnings.simplefilter('error'); warnings.warn('careful')",
    "from IPython.display import clear_output, Latex\nprint('a'); clear_output(); print('b')",
    "from IPython.display import HTML\ndisplay(HTML('<b>'), Latex('$x$'))",
    "import os, sys\nos.write(1, b'raw\\n')\nprint('wrong', file=sys.stderr)",
    "import subprocess\nprint(subprocess.run(['echo', 'hi']).returncode)",
    "import os\nif os.fork() == 0:\n    print('child'); os._exit(0)\nos.wait()\nprint('parent')",
    "from pathlib import Path\nPath('own.py').write_text('n = 3')\nimport own\nprint(own.n)",
    "import os\nprint([name for name in os.listdir() if name[0] != '.'], Path.home())",
    "import numpy as np, torch\nprint(np.random.rand(), torch.rand(1), torch.get_num_threads())",
    "print('αβγ √d_k ≤ ∞ 注意', '\\U0001f642')",
    "print('é' * 2_000_000)",
    "for n in range(3000):\n    display(n)",
]


@pytest.mark.slow
@pytest.mark.parametrize("source", CELLS)
def test_a_cell_shows_the_same_in_both(both, source):
    fork, kernel = both
    assert kinds(kernel, source) == kinds(fork, source)


@dataclass
class GradedTwice:
    members: list[Member]
    by_fork: dict[str, Outcome]
    by_kernel: dict[str, Outcome]


@pytest.fixture(scope="module")
def graded_twice(released_softmax, tmp_path_factory):
    """A class with a little of everything, and every attack but those that only wait."""
    course = shutil.copytree(released_softmax, tmp_path_factory.mktemp("class") / "course")
    assignment = load_assignment(CHECKOUT / "solutions" / STEM)
    maker = Class(assignment, course)
    members = [make(f"student_{n:03}") for n, make in enumerate(maker._makers())]
    more = [attack for attack in ATTACKS if attack not in QUICK and not attack.stalls]
    members += [maker.attack(f"attacker_{n:03}", attack) for n, attack in enumerate(more)]
    unpacked = course / "package"
    package.unpack(package.pack(course, STEM), unpacked)
    let_everybody_enter(unpacked)
    graded = []
    for kernel in (False, True):
        with LocalPool(unpacked, STEM, 2, kernel=kernel) as pool:
            jobs = [Job(m.name, STEM, "key", 1, m.files) for m in members]
            started = time.perf_counter()
            graded.append({outcome.student: outcome for outcome in pool.grade(jobs)})
            each = 1000 * (time.perf_counter() - started) / len(jobs)
            print(f"{'kernel' if kernel else 'fork'}: {each:.0f} ms a submission")
    return GradedTwice(members, *graded)


def verdicts(mark: Mark) -> tuple:
    """All that counts, and not the words: they may name a file or a place in memory."""
    found = [(one.test, one.passed, one.mistake) for one in mark.findings]
    return mark.cell, mark.points, mark.state, mark.answer, found


def marks_alone(mark: Mark) -> tuple:
    return mark.cell, mark.points


@pytest.mark.slow
def test_a_class_gets_the_same_marks_and_verdicts_from_both(graded_twice):
    differ = {}
    for member in graded_twice.members:
        fork, kernel = graded_twice.by_fork[member.name], graded_twice.by_kernel[member.name]
        pairs = zip(fork.marks, kernel.marks, strict=True)
        said = marks_alone if member.kind in ON_THE_CHANNEL else verdicts
        found = [pair for pair in pairs if said(pair[0]) != said(pair[1])]
        if found or kernel.repairs != fork.repairs:
            differ[member.kind] = found, kernel.incidents
    assert not differ


@pytest.mark.slow
def test_everybody_gets_what_is_due_from_a_kernel(graded_twice):
    for member in graded_twice.members:
        marks = graded_twice.by_kernel[member.name].marks
        got = {mark.cell: mark.points for mark in marks if mark.cell in member.points}
        assert got == pytest.approx(member.points), member.kind


# What the referee meets when something goes wrong


@pytest.fixture
def kernel(sandboxes):
    with sandboxes[1].student() as student:
        student.begin(0)
        yield student


@pytest.mark.slow
@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_a_kernel_that_ends_is_gone_and_says_so(kernel, end):
    run(kernel, "import os")
    with pytest.raises(ProcessEnded, match="ended the Python process"):
        run(kernel, end)


@pytest.mark.slow
def test_a_cell_of_a_kernel_that_takes_too_long_is_interrupted(kernel, monkeypatch):
    monkeypatch.setattr(limits, "CELL_SECONDS", 0.5)
    answer = run(kernel, "while True:\n    pass")
    assert kernel.interrupted and answer["error"][0] == "KeyboardInterrupt"
    monkeypatch.undo()
    assert run(kernel, "print(1)")["stdout"] == "1\n"


@pytest.mark.slow
def test_a_call_in_a_kernel_that_takes_too_long_is_interrupted(kernel, monkeypatch):
    run(kernel, "library = 'numpy'\ndef f(x):\n    while x:\n        pass\n    return 2.0")
    kernel.prepare("f", NO_TERMS, ["cell"])
    monkeypatch.setattr(limits, "CALL_SECONDS", 0.5)
    reply = kernel.call(CallRequest(function="f", setting=Setting(), args=(True,)))
    assert "took more than" in reply.failure
    monkeypatch.undo()
    assert kernel.call(CallRequest(function="f", setting=Setting(), args=(False,))).value == 2.0


@pytest.mark.slow
def test_a_kernel_has_no_more_memory_than_a_fork(sandboxes):
    source = "import numpy as np\ntaken = [np.ones(1 << 17) for _ in range({})]"
    for sandbox in sandboxes:
        with sandbox.student(32 << 20) as student:
            student.begin(0)
            assert run(student, source.format(16))["error"] is None
            assert "MemoryError" in run(student, source.format(33))["error"][0]


@pytest.mark.slow
def test_a_function_lent_to_a_kernel_stays_with_the_referee(kernel):
    run(kernel, "library = 'numpy'\ndef f(g):\n    return g(2.0) + 1")
    kernel.prepare("f", NO_TERMS, ["cell"])
    asked = []
    reply = kernel.call(
        CallRequest(function="f", setting=Setting(), args=(lambda x: asked.append(x) or 5.0,))
    )
    assert (reply.value, asked) == (6.0, [2.0])


@pytest.mark.slow
def test_a_kernel_is_shut_in_as_a_fork_is_but_for_what_is_its_own(kernel):
    """It may make the sockets it is spoken to through, and its parent shares its small world."""
    with surroundings() as around:
        found = list(try_all(kernel, around))
    open_ = {one.attempt.what for one in found if not (one.held or one.answer == "ENOTSUP")}
    assert open_ == {"programs on this machine (unix)", "a signal to its parent"}


def test_without_namespaces_a_kernel_is_refused_in_words():
    with pytest.raises(NoSandbox, match="without --kernel"):
        Sandbox(COURSE_LIB, "trusted", kernel=True)


def test_a_kernel_is_not_promised_on_a_cluster(tmp_path):
    words = ["grade", STEM, "--course", str(tmp_path), "--kernel", "--scheduler", "tcp://[::1]:1"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2 and "leave --scheduler out" in done.output
