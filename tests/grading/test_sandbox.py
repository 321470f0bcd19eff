"""A student's process gets at nothing, uses no more than its share, and cannot outlast its turn.

Started by root, test_sandbox_as_user.py runs this file again as an ordinary user.
"""

import contextlib
import os
import select
import sys
import time

import numpy as np
import pytest

from autograder.sandbox import limits, probes, process
from autograder.sandbox.host import Sandbox
from autograder.sandbox.process import ProcessEnded, StudentProcess, TooSlow
from course_lib.checking.findings import Cause, FailureKind
from course_lib.checking.perform import CallRequest
from course_lib.checking.setting import Setting
from course_lib.checking.terms import NO_TERMS, Limits, Terms
from tests.grading.sandbox_fixtures import (
    NOT_ROOT,
    ROOT,
    forking,
    gone,
    open_sandbox,
    printed,
    run,
    sandbox,
    student,
)

__all__ = ["forking", "sandbox", "student"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")

FIND_SOCKET = """
import os, socket, stat, struct, threading, time
fd = next(n for n in range(3, 200) if os.path.exists(f"/proc/self/fd/{n}")
          and stat.S_ISSOCK(os.fstat(n).st_mode))
"""
CALL = """
library = "numpy"
def f(x):
    return x
"""


@pytest.fixture
def hurry(monkeypatch):
    """Limits of time so short that a test may meet them."""
    monkeypatch.setattr(limits, "CELL_SECONDS", 0.4)
    monkeypatch.setattr(limits, "CALL_SECONDS", 0.2)
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.3)


def call(student: StudentProcess, *args: object) -> object:
    return student.call(CallRequest(function="f", setting=Setting(), args=args))


# Out of reach


@pytest.fixture(scope="module")
def found(sandbox) -> dict[str, probes.Found]:
    with sandbox.student() as student, probes.surroundings() as around:
        student.begin(0)
        return {one.attempt.what: one for one in probes.try_all(student, around)}


@pytest.mark.parametrize("what", [attempt.what for attempt in probes.ATTEMPTS])
def test_an_attempt_to_get_out_is_held(found, what):
    assert found[what].held, found[what].answer


SHUT_ANYWAY = {
    "a file system of its own",  # only root may, or whoever is root in a namespace
    "a file of forty megabytes",  # limits hold there too
    "the machine around this one (vsock)",  # not in every kernel
    "rings (io_uring)",
    "faults (userfaultfd)",
    "programs in the kernel (bpf)",
}


@NOT_ROOT
def test_the_same_attempts_succeed_where_submissions_are_trusted():
    """An attempt that fails anyhow would prove nothing of the sandbox."""
    held = set()
    for trusted in open_sandbox("trusted"):
        with probes.surroundings() as around:
            for attempt in probes.ATTEMPTS:
                with pytest.MonkeyPatch.context() as patch, trusted.student() as student:
                    patch.setattr(probes, "ATTEMPTS", [attempt])
                    student.begin(0)
                    held |= {
                        one.attempt.what for one in probes.try_all(student, around) if one.held
                    }
    assert held <= SHUT_ANYWAY


def test_it_is_nobody_and_sees_nobody(student):
    assert printed(student, "import os; print(os.getuid(), os.geteuid())") not in ("0 0", "0")
    status = printed(student, "print(open('/proc/self/status').read())")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["NoNewPrivs"] == "1"
    assert fields["Seccomp"] == "2"
    assert {int(fields[f"Cap{kind}"], 16) for kind in ("Eff", "Prm", "Inh", "Bnd", "Amb")} <= (
        {0} if ROOT else {0, int(fields["CapBnd"], 16)}
    )


def test_nothing_of_the_graders_environment_is_handed_on(student):
    assert "PYTEST_CURRENT_TEST" in os.environ
    names = printed(student, "import os; print(' '.join(sorted(os.environ)))").split()
    unknown = set(names) & set(os.environ) - {"PATH", "HOME", "TMPDIR", "LANG", "MPLCONFIGDIR"}
    known = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "LC_CTYPE", "PYTHONHASHSEED"}
    assert {name for name in unknown - known if not name.endswith("_NUM_THREADS")} == set()
    assert "LD_PRELOAD" not in names


def test_nothing_is_inherited_but_the_channel(student):
    source = """
import os
links = [f"/proc/self/fd/{n}" for n in range(3, 200)]
print(*[os.readlink(link) for link in links if os.path.exists(link) or os.path.islink(link)])
"""
    (only,) = printed(student, source).split()
    assert only.startswith("socket:")


def test_a_signal_to_its_group_reaches_only_itself(student):
    """Groups cross the border of a pid namespace."""
    assert os.getpgid(student._pid) not in {os.getpgrp(), os.getpgid(os.getppid())}
    assert all(os.getpgid(pid) == student._pid for pid in student.processes())


def test_only_scratch_can_be_written_and_the_next_finds_it_empty(sandbox):
    write = "import os; open('left', 'w').write('for the next'); os.makedirs('a/b')\n"
    write += "os.mkdir('closed', mode=0); print(os.getcwd())"
    places = set()
    for _ in range(2):
        with sandbox.student() as student:
            student.begin(0)
            assert printed(student, "import os; print(os.listdir('.'))") == "[]"
            places.add(printed(student, write))
    assert sandbox.tier == "namespaces" or len(places) == 2
    assert sandbox.tier == "namespaces" or not any(map(os.path.exists, places))


def test_an_older_way_into_the_kernel_is_shut(student):
    """32-bit calls (int 0x80) and those of x32 carry other numbers."""
    x32 = """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
if platform.machine() == "x86_64":
    print(libc.syscall(0x4000_0000 + 41, 1, 1, 0) >= 0)
else:
    print(False)
"""
    with contextlib.suppress(ProcessEnded):
        assert printed(student, x32) == "False"


def test_32_bit_calls_are_shut(student):
    source = """
import ctypes, mmap, platform
if platform.machine() != "x86_64":
    raise SystemExit
page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
page.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, getpid; int 0x80; ret
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
print(ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0)
"""
    with contextlib.suppress(ProcessEnded):
        assert run(student, source)["stdout"].strip() in ("False", "")


# Its share


def test_one_process_gets_no_more_memory_and_lives_on(student):
    answer = run(student, "import numpy as np\nkept = np.ones(1 << 28)")
    assert answer["error"][0].endswith("MemoryError")
    assert printed(student, "print(1)") == "1"


def test_many_processes_share_one_limit(forking, monkeypatch):
    monkeypatch.setattr(limits, "TOTAL_MEMORY", 400 << 20)
    source = """
import os, signal
for _ in range(4):
    if not os.fork():
        kept = bytearray(os.urandom(1 << 20)) * 100
        signal.pause()
signal.pause()
"""
    with pytest.raises(ProcessEnded, match="memory"):
        run(forking, source)


def test_little_memory_is_little_in_small_pieces_too(sandbox):
    """What the C library keeps in reserve would not be counted."""
    source = "import numpy as np\nheld = [np.ones(1 << 17) for _ in range({})]"
    with sandbox.student(32 << 20) as student:
        student.begin(0)
        assert run(student, source.format(16))["error"] is None
        assert "MemoryError" in run(student, source.format(33))["error"][0]


def test_a_quick_answer_hides_no_memory(forking, monkeypatch):
    """It answers each cell at once while a process in the background grows."""
    monkeypatch.setattr(limits, "TOTAL_MEMORY", 400 << 20)
    source = """
import os, signal
if not os.fork():
    kept = []
    for _ in range(500):
        kept.append(bytearray(os.urandom(1 << 10)) * 1024)
    signal.pause()
"""
    run(forking, source)
    with pytest.raises(ProcessEnded, match="memory"):
        ask_on(forking, 20_000, "")


def test_memory_that_forks_share_counts_once(forking):
    source = """
import os, time
import numpy as np
kept = np.ones(30 << 20)
for _ in range(8):
    if not os.fork():
        time.sleep(0.5)
        os._exit(0)
for _ in range(8):
    os.wait()
print("done")
"""
    assert printed(forking, source) == "done"


def test_forks_end_at_the_limit(sandbox, student):
    source = """
import os, signal
children = []
try:
    for _ in range(60):
        if not (child := os.fork()):
            signal.pause()
        children.append(child)
except OSError:
    pass
print(len(children))
"""
    assert int(printed(student, source)) < limits.PROCESSES
    pids = student.processes()
    student.kill()
    assert gone(pids)


def test_threads_end_at_the_limit(student):
    source = """
import threading
threading.stack_size(32768)
hold, started = threading.Event(), 0
try:
    for _ in range(3000):
        threading.Thread(target=hold.wait, daemon=True).start()
        started += 1
except RuntimeError:
    pass
hold.set()
print(started)
"""
    assert int(printed(student, source)) <= 2 * limits.PROCESSES


FILES = {
    "large ones": "for n in range(10):\n    open(str(n), 'wb').write(bytes(20 << 20))",
    "many small ones": "for n in range(40_000):\n    open(str(n), 'w').close()",
    "deep folders": "import os\nfor n in range(40_000):\n    os.mkdir('a'); os.chdir('a')",
    "without a name": "import os, tempfile\nkept = []\nfor _ in range(10):\n"
    "    kept.append(tempfile.TemporaryFile()); kept[-1].write(bytes(20 << 20)); kept[-1].flush()",
}


@pytest.mark.parametrize("kind", FILES)
def test_files_end_at_the_limit(sandbox, student, kind):
    """The kernel stops it, or the watch outside."""
    try:
        answer = run(student, FILES[kind] + "\nimport time; time.sleep(1)")
    except ProcessEnded as reason:
        assert sandbox.tier == "landlock"
        assert "MiB of files" in str(reason) or "folders within folders" in str(reason)
    else:
        assert sandbox.tier == "namespaces"
        assert "No space left" in answer["error"][1]


OUTPUTS = {
    "in one line": "print('x' * 20_000_000)",
    "in many lines": "for _ in range(300_000): print('x' * 100)",
    "in strange letters": "print('\\x00\\u2603' * 3_000_000)",
    "past Python": "import os\nfor _ in range(20): os.write(1, b'x' * 1_000_000)",
    "as errors": "import sys; sys.stderr.write('x' * 20_000_000)",
    "as a value": "'x' * 20_000_000",
    "as many values": "for _ in range(3000): display('x' * 5000)",
    "as an error's words": "raise ValueError('x' * 20_000_000)",
    "beyond the largest file": "for _ in range(50): print('x' * 1_000_000)",
}


@pytest.mark.parametrize("how", OUTPUTS)
def test_output_is_cut_by_bytes_and_the_process_lives_on(student, how):
    answer = run(student, OUTPUTS[how])
    assert len(answer["stdout"].encode()) <= 3 * limits.CELL_OUTPUT
    assert len(answer["stdout"]) <= limits.CELL_OUTPUT
    assert len(answer["stderr"]) <= limits.CELL_OUTPUT
    assert len(str(answer["outputs"])) <= 2 * limits.CELL_OUTPUT
    assert printed(student, "print(1)") == "1"


# Its turn

DEATHS = {
    "by _exit": "import os; os._exit(0)",
    "by a bad address": "import ctypes; ctypes.string_at(0)",
    "by abort": "import os; os.abort()",
    "by a full stack": "import sys\nsys.setrecursionlimit(10**6)\n"
    "def f(): return list(map(lambda _: f(), [0]))\nf()",
    "by closing the channel": FIND_SOCKET + "os.close(fd)",
    "by closing everything": "import os; os.closerange(0, 200)",
    "by becoming another program": "import os; os.execv('/bin/true', ['true'])",
}


@pytest.mark.parametrize("how", DEATHS)
def test_a_process_that_dies_is_noticed_at_once(sandbox, how):
    with sandbox.student() as student:
        student.begin(0)
        with pytest.raises(ProcessEnded) as reason:
            run(student, DEATHS[how])
        assert not isinstance(reason.value, TooSlow)
        assert not student.alive
        with pytest.raises(ProcessEnded):
            run(student, "1")
    with sandbox.student() as another:
        another.begin(0)
        assert printed(another, "print(2)") == "2"


def test_a_loop_is_interrupted_and_the_next_cell_runs(student, hurry):
    answer = run(student, "while True: pass")
    assert student.interrupted
    assert answer["error"][0] == "KeyboardInterrupt"
    assert printed(student, "print(1)") == "1"
    assert not student.interrupted


def test_a_sleep_is_interrupted_too(student, hurry):
    run(student, "import time; time.sleep(100)")
    assert student.interrupted


FOR_EVER = """
while True:
    try:
        time.sleep(100)
    except BaseException:
        pass
"""
STUBBORN = {
    "catches it": "import time" + FOR_EVER,
    "ignores it": "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
    "blocks it": "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
    "while True: pass",
    "is busy in C": "import itertools; sum(itertools.repeat(1))",
}


@pytest.mark.parametrize("how", STUBBORN)
def test_a_loop_that_will_not_be_interrupted_is_killed(student, hurry, how):
    with pytest.raises(TooSlow):
        run(student, STUBBORN[how])
    assert gone([student._pid])


def test_a_call_that_does_not_return_is_too_slow(student, hurry):
    run(student, CALL.replace("return x", "while True: pass"))
    student.prepare("f", NO_TERMS, ["cell"])
    reply = call(student, np.ones(2))
    assert student.interrupted
    assert "more than" in reply.failure
    assert reply.cause == Cause(FailureKind.TOO_SLOW)
    assert printed(student, "print(1)") == "1"


def test_an_exercise_may_give_a_call_more_time_or_less(student, hurry):
    run(
        student,
        CALL.replace("return x", "time.sleep(x); return x").replace("lib", "import time\nlib"),
    )
    student.prepare("f", NO_TERMS, ["cell"])

    def seconds_of(terms: Terms) -> object:
        return student.call(CallRequest(function="f", setting=Setting(), args=(1.0,), terms=terms))

    assert seconds_of(NO_TERMS).cause == Cause(FailureKind.TOO_SLOW)
    assert seconds_of(Terms(limits=Limits(call_seconds=5))).value == 1.0


def test_an_exercise_may_let_more_be_returned_or_less(student):
    run(student, CALL.replace("return x", "import numpy; return numpy.ones(int(x) << 17)"))
    student.prepare("f", NO_TERMS, ["cell"])

    def returned(mebibytes: float, terms: Terms = NO_TERMS) -> object:
        return student.call(
            CallRequest(function="f", setting=Setting(), args=(mebibytes,), terms=terms)
        )

    assert returned(65.0).cause == Cause(FailureKind.TOO_LARGE)
    assert returned(65.0, Terms(limits=Limits(returned_mib=80))).value.nbytes == 65 << 20
    assert returned(3.0, Terms(limits=Limits(returned_mib=2))).cause == Cause(FailureKind.TOO_LARGE)
    assert returned(3.0).value.nbytes == 3 << 20


def test_more_than_an_exercise_lets_be_returned_ends_the_conversation(student):
    """However the process sees it."""
    patch = "from autograder.sandbox import messages\nmessages.payload_of = lambda terms: 1 << 40"
    run(student, f"{CALL.replace('return x', 'import numpy; return numpy.ones(1 << 18)')}\n{patch}")
    student.prepare("f", NO_TERMS, ["cell"])
    terms = Terms(limits=Limits(returned_mib=1))
    with pytest.raises(ProcessEnded, match="broke off"):
        student.call(CallRequest(function="f", setting=Setting(), args=(1.0,), terms=terms))


def test_an_endless_generator_is_no_answer(student):
    run(student, CALL.replace("return x", "while True: yield x"))
    student.prepare("f", NO_TERMS, ["cell"])
    assert "generator" in call(student, np.ones(2)).failure


def test_time_of_other_processes_counts(forking, monkeypatch):
    """Only the processor's clock can stop this one in time, and the cell itself just waits."""
    monkeypatch.setattr(limits, "CELL_SECONDS", 0.4)
    monkeypatch.setattr(limits, "WALL", 1000)
    monkeypatch.setattr(forking, "deadline", time.monotonic() + 20)
    source = """
import os
while True:
    if not os.fork():
        for _ in range(10**7): pass
        os._exit(0)
    os.wait()
"""
    run(forking, source)
    assert forking.interrupted


def test_all_cells_together_have_a_limit(student, monkeypatch):
    student.deadline = 0
    with pytest.raises(TooSlow, match="together"):
        run(student, "import time; time.sleep(5)")


CHANNEL = {
    "a header that is too long": "os.write(fd, b'\\xff' * 8)",
    "no JSON": "os.write(fd, struct.pack('<I', 4) + b'....')",
    "an answer before its own": "os.write(fd, struct.pack('<I', 9) + b'[null,[]]')",
    "two answers at once": "os.write(fd, (struct.pack('<I', 9) + b'[null,[]]') * 2)",
}
NEVER_ENDING = {
    "half an answer": "os.write(fd, struct.pack('<I', 1000) + b'[')" + FOR_EVER,
    "an answer that trickles": "os.write(fd, struct.pack('<I', 1 << 20) + b'[')"
    + FOR_EVER.replace("time.sleep(100)", "os.write(fd, b' '); time.sleep(0.01)"),
    "a payload that never comes": "os.write(fd, struct.pack('<I', 17) + b'[null,[60000000]]')"
    + FOR_EVER,
}


def ask_on(student: StudentProcess, times: int, source: str = "1") -> None:
    for _ in range(times):
        run(student, source)


@pytest.mark.parametrize("what", CHANNEL)
def test_a_lie_on_the_channel_ends_the_conversation(student, hurry, what):
    run_into = FIND_SOCKET + CHANNEL[what]
    with pytest.raises(ProcessEnded):
        ask_on(student, 2, run_into)
    assert not student.alive


@pytest.mark.parametrize("what", NEVER_ENDING)
def test_an_answer_that_never_ends_is_too_slow(student, hurry, what):
    with pytest.raises(TooSlow):
        run(student, FIND_SOCKET + NEVER_ENDING[what])


def test_a_thread_that_answers_before_it_is_asked_ends_the_conversation(student):
    """Even with words that would have been a good answer."""
    late = """
hold = threading.Event()
def late():
    hold.wait(0.2)
    os.write(fd, struct.pack('<I', 22) + b'[{"outputs":[]},[0,0]]')
threading.Thread(target=late).start()
"""
    run(student, FIND_SOCKET + late)
    while not student._wait(select.POLLIN):
        pass
    with pytest.raises(ProcessEnded, match="broke off"):
        run(student, "1")


def test_a_process_that_does_not_listen_is_ended(student, hurry):
    source = CALL + "import time\nfrom autograder.sandbox import codec\n"
    run(student, source + "codec.receive = lambda connection: time.sleep(100)")
    with pytest.raises(ProcessEnded):
        call(student, np.ones(2_000_000))
    assert not student.alive


def test_an_answer_to_half_a_question_ends_the_conversation(student):
    hasty = """
from autograder.sandbox import codec
def receive(connection):
    connection.recv(1)
    answer = {"value": None, "failure": "", "cause": None, "changed": [], "printed": 0}
    os.write(fd, codec.pack(answer))
    time.sleep(100)
codec.receive = receive
"""
    run(student, CALL + FIND_SOCKET + hasty)
    with pytest.raises(ProcessEnded, match="broke off"):
        call(student, np.ones(2_000_000))


ANSWERS = {
    "no value": '{"failure": "", "cause": None, "changed": [], "printed": 0}',
    "a list": "[]",
    "words that are a number": (
        '{"value": None, "failure": 1, "cause": None, "changed": [], "printed": 0}'
    ),
    "endless printing": '{"value": None, "failure": "", "cause": None, "changed": [], '
    '"printed": float("inf")}',
    "changes that are an object": '{"value": None, "failure": "", "cause": None, '
    '"changed": {"a": 1}, "printed": 0}',
    "a cause that is a word": '{"value": None, "failure": "no", "cause": "raised", '
    '"changed": [], "printed": 0}',
    "a cause of no known kind": '{"value": None, "failure": "no", "changed": [], "printed": 0, '
    '"cause": {"kind": "bored", "detail": "", "line": None}}',
    "a line that is a word": '{"value": None, "failure": "no", "changed": [], "printed": 0, '
    '"cause": {"kind": "raised", "detail": "", "line": "the last"}}',
    "a value that is none": '{"value": {"pickle": ""}, "failure": "", "cause": None, '
    '"changed": [], "printed": 0}',
}


@pytest.mark.parametrize("what", ANSWERS)
def test_an_answer_that_no_honest_process_gives_ends_the_conversation(student, what):
    patch = "from autograder.sandbox import child as s\n"
    run(student, CALL + patch + f"s._call = lambda *_: ({ANSWERS[what]}, [])")
    student.prepare("f", NO_TERMS, ["cell"])
    with pytest.raises(ProcessEnded, match="broke off"):
        call(student, np.ones(2))


def test_words_from_inside_carry_no_commands(student):
    run(student, CALL.replace("return x", r"raise ValueError('\x1b[31m\u202e' + 'x' * 10**6)"))
    student.prepare("f", NO_TERMS, ["cell"])
    reply = call(student, np.ones(2))
    assert reply.failure.isprintable()
    assert len(reply.failure) <= 400
    line = reply.cause.line
    assert reply.cause == Cause(FailureKind.RAISED, "ValueError", line) and line


# Nothing is left


def test_what_it_left_running_dies_with_it(forking):
    source = """
import os, signal
if not os.fork():
    os.setsid()
    if not os.fork():
        for number in range(1, 32):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        while True: signal.pause()
    os._exit(0)
"""
    run(forking, source)
    pids = forking.processes()
    assert len(pids) > 1
    forking.kill()
    assert gone(pids)


def test_it_dies_with_the_warm_parent(sandbox):
    with Sandbox(sandbox.course_lib, sandbox.tier) as short, short.student() as student:
        student.begin(0)
        pids = student.processes()
        short._process.kill()
        short._control.close()
        assert gone(pids)


def test_many_students_leave_no_descriptor_and_no_process_behind(sandbox):
    counts = []
    for _ in range(3):
        for _ in range(10):
            with sandbox.student() as student:
                student.begin(0)
                pids = student.processes()
        assert gone(pids)
        counts.append(len(os.listdir("/proc/self/fd")))
    assert counts[0] == counts[2]
    assert os.listdir(sandbox._folder) in ([], ["runtime", "warm"], ["warm", "runtime"])
