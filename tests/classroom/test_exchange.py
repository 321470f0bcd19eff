"""nbgrader's exchange among students who may write to it: real accounts, real folders."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.classroom.exchange import Exchange, UnsafeExchange, collect_from_exchange
from autograder.commands.collect import collect
from autograder.commands.init import init
from autograder.grading.submissions import handed_in
from autograder.release.course_folder import open_gradebook
from autograder.roster.students import Student, add_students
from autograder.untrusted import printable
from tests.classroom.accounts import ADA, MALLORY, NEEDS_ROOT, TIME, as_, hand_in
from tests.classroom.collecting import NAME
from tests.classroom.conftest import answered
from tests.grading.gradebook_fixtures import STEM
from tests.lab import tools

pytestmark = NEEDS_ROOT


@pytest.fixture
def place():
    """Where every account can go."""
    folder = Path(tempfile.mkdtemp(prefix="exchange-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def exchange(course, place):
    with (course / "local_config.py").open("a") as settings:
        settings.write(f"\nc.Exchange.root = {str(place / 'exchange')!r}\n")
    course.chmod(0o700)
    add_students(course, [Student(ADA, "Lovelace", "Ada"), Student(MALLORY, "Ory", "Mal")])
    made = Exchange.of(course)
    made.make()
    return made


@pytest.fixture
def secret(course):
    """What only the teacher may read."""
    path = course / "source" / "model answers.ipynb"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b'{"secret": "the model answers"}')
    path.chmod(0o600)
    return path


def everything(course: Path) -> bytes:
    """All that is now kept as somebody's work."""
    files = (path for path in (course / "submitted").rglob("*") if path.is_file())
    return b"".join(path.read_bytes() for path in files)


def test_what_each_handed_in_is_taken_and_the_newest_stays(course, exchange, notebook):
    newer = answered(notebook, "newer")
    hand_in(ADA, exchange.inbound, STEM, {NAME: notebook, "data/own.csv": b"1"})
    assert collect_from_exchange(course, STEM).taken == [ADA]
    assert collect_from_exchange(course, STEM).unchanged == [ADA]
    hand_in(ADA, exchange.inbound, STEM, {NAME: newer}, time=TIME.replace("12:", "13:"))
    hand_in(MALLORY, exchange.inbound, STEM, {NAME: notebook})
    assert sorted(collect_from_exchange(course, STEM).taken) == sorted([ADA, MALLORY])
    folder = course / "submitted" / ADA / STEM
    assert sorted(p.name for p in folder.iterdir()) == [NAME, "timestamp.txt"]
    assert (folder / NAME).read_bytes() == newer
    assert handed_in(course, STEM, ADA).hour == 13
    (kept,) = (course / "collected" / STEM / "earlier" / ADA).iterdir()
    assert kept.read_bytes() == notebook
    assert [path.name for path in folder.parent.iterdir()] == [STEM]


def test_killed_at_any_moment_nothing_is_lost_and_nothing_there_twice(course, exchange, notebook):
    newer = answered(notebook, "newer")
    hand_in(ADA, exchange.inbound, STEM, {NAME: notebook})
    collect_from_exchange(course, STEM)
    hand_in(ADA, exchange.inbound, STEM, {NAME: newer}, time=TIME.replace("12:", "13:"))
    folder = course / "submitted" / ADA
    before = shutil.copytree(folder, course.parent / "before")
    steps, finished = 0, False
    while not finished:
        steps += 1
        shutil.rmtree(folder)
        shutil.copytree(before, folder)
        child = os.fork()
        if child == 0:
            kill_at_step(steps)
            try:
                collect_from_exchange(course, STEM)
            finally:
                os._exit(0)
        finished = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        kept = {path.read_bytes() for path in course.rglob(f"*/{ADA}/**/*.ipynb")}
        assert notebook in kept, steps
        collect_from_exchange(course, STEM)
        assert [path.name for path in folder.iterdir()] == [STEM]
        assert (folder / STEM / NAME).read_bytes() == newer
    assert steps > 3


def kill_at_step(step: int) -> None:
    """Kills this process before its n-th change of a name."""
    left = [step]

    def before(event: str, _: object) -> None:
        if event in ("os.rename", "os.mkdir", "shutil.rmtree"):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(before)


def links(secret: Path, notebook: bytes) -> dict[str, dict]:
    return {
        "the notebook": {NAME: secret},
        "the secret of the feedback": {NAME: notebook, "submission_secret.txt": secret},
        "another file": {NAME: notebook, "notes.py": secret},
        "a folder": {NAME: notebook, "data": secret.parent},
        "a file in a folder": {NAME: notebook, "data/x": secret},
        "the gradebook": {NAME: notebook, "x.ipynb": secret.parents[1] / "gradebook.db"},
    }


@pytest.mark.parametrize("which", list(links(Path("/a/b"), b"")))
def test_a_link_leads_nowhere(course, exchange, secret, notebook, which):
    files = links(secret, notebook)[which]
    hand_in(MALLORY, exchange.inbound, STEM, files)
    hand_in(ADA, exchange.inbound, STEM, {NAME: notebook})
    report = collect_from_exchange(course, STEM)
    assert {ADA, MALLORY} == set(report.taken)
    assert [who for who, _ in report.problems] == [MALLORY]
    assert b"the model answers" not in everything(course) and b"SQLite" not in everything(course)
    assert not [path for path in (course / "submitted").rglob("*") if path.is_symlink()]


def test_a_folder_that_is_a_link_is_nobodys_work(course, exchange, secret, notebook):
    theirs = hand_in(ADA, exchange.inbound, STEM, {NAME: notebook})
    link = exchange.inbound / f"{MALLORY}+{STEM}+{TIME}+x"
    assert as_(MALLORY, lambda: link.symlink_to(theirs))
    report = collect_from_exchange(course, STEM)
    assert report.taken == [ADA] and [who for who, _ in report.problems] == [printable(link.name)]


def test_a_pipe_stops_nobody(course, exchange, notebook):
    folder = hand_in(MALLORY, exchange.inbound, STEM, {})
    assert as_(MALLORY, lambda: os.mkfifo(folder / NAME))
    hand_in(ADA, exchange.inbound, STEM, {NAME: notebook})
    assert sorted(collect_from_exchange(course, STEM).taken) == sorted([ADA, MALLORY])


def test_nobody_hands_in_in_the_name_of_another(course, exchange, notebook):
    hand_in(ADA, exchange.inbound, STEM, {NAME: notebook})
    later = TIME.replace("2026", "2099")
    theirs = answered(notebook, "mallory")
    hand_in(MALLORY, exchange.inbound, STEM, {NAME: theirs}, name=ADA, time=later)
    report = collect_from_exchange(course, STEM)
    assert report.taken == [ADA] and [who for who, _ in report.problems] == [ADA]
    assert (course / "submitted" / ADA / STEM / NAME).read_bytes() == notebook


@pytest.mark.parametrize(
    "time", ["yesterday", "x" * 120, "2026\x1b[2J", "99999-01-01 00:00:00 UTC"]
)
def test_a_name_that_tells_no_time_stops_nobody(course, exchange, notebook, time):
    hand_in(MALLORY, exchange.inbound, STEM, {NAME: notebook}, time=time)
    hand_in(ADA, exchange.inbound, STEM, {NAME: notebook})
    done = CliRunner().invoke(collect, [STEM, "--course", str(course)])
    assert done.exit_code == 1 and "1 taken" in done.output and "\x1b" not in done.output


def test_a_thousand_false_hand_ins_are_three_lines(course, exchange, notebook):
    for number in range(10):
        hand_in(MALLORY, exchange.inbound, STEM, {}, name=f"{ADA}{number}")
    assert len(collect_from_exchange(course, STEM).problems) == 3


def test_a_time_before_the_deadline_on_later_work_is_told(course, exchange, notebook):
    hand_in(MALLORY, exchange.inbound, STEM, {NAME: notebook}, time="2020-01-01 10:00:00 UTC")
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(STEM, duedate="2020-01-02 00:00:00")
    ((who, _),) = [(w, p) for w, p in collect_from_exchange(course, STEM).problems if "2020" in p]
    assert who == MALLORY


def test_what_a_student_can_do_to_a_safe_exchange(course, exchange, notebook):
    """Hand in, and nothing else."""
    theirs = hand_in(ADA, exchange.inbound, STEM, {NAME: notebook})
    released = exchange.root / exchange.course_id / "outbound" / STEM
    released.mkdir()
    (released / NAME).write_bytes(notebook)
    parts = (exchange.root / exchange.course_id, exchange.inbound, released)
    for path in (*parts, theirs):
        assert not as_(MALLORY, lambda path=path: path.rename(f"{path}.moved")), path
    assert not as_(MALLORY, lambda: os.listdir(exchange.inbound))
    assert not as_(MALLORY, lambda: theirs.rmdir())
    assert not as_(MALLORY, lambda: (released / NAME).write_bytes(b""))
    assert not as_(MALLORY, lambda: (released / "more.py").write_bytes(b""))
    assert not as_(MALLORY, lambda: (exchange.root / "another").mkdir())
    assert as_(MALLORY, lambda: (released / NAME).read_bytes())


def unsafe_root(exchange: Exchange) -> None:
    os.chown(exchange.root, 2, 2)


def somebody_elses_course(exchange: Exchange) -> None:
    shutil.rmtree(exchange.root / exchange.course_id)
    exchange.root.chmod(0o1777)
    assert as_(MALLORY, lambda: (exchange.root / exchange.course_id).mkdir())


UNSAFE = {
    "a root that anybody renames in": lambda e: e.root.chmod(0o777),
    "a root of somebody else's": unsafe_root,
    "a folder above it": lambda e: e.root.parent.chmod(0o777),
    "a course of somebody else's": somebody_elses_course,
    "an inbound where names are taken away": lambda e: e.inbound.chmod(0o2733),
    "an inbound that is listed": lambda e: e.inbound.chmod(0o3777),
    "an outbound that all write to": lambda e: e.inbound.with_name("outbound").chmod(0o777),
    "a course that all write to": lambda e: e.inbound.parent.chmod(0o777),
}


@pytest.mark.parametrize("spoil", UNSAFE.values(), ids=UNSAFE)
def test_an_unsafe_exchange_is_refused_with_the_command_that_mends_it(exchange, course, spoil):
    spoil(exchange)
    done = CliRunner().invoke(collect, [STEM, "--course", str(course)])
    assert done.exit_code == 2, done.output
    with pytest.raises(UnsafeExchange) as refused:
        exchange.demand_safe()
    command = str(refused.value).partition("Type\n")[2].splitlines()[0].strip()
    subprocess.run(command.replace("sudo ", ""), shell=True, check=True)
    exchange.make()
    exchange.demand_safe()


def test_init_makes_the_exchange(place):
    root, course = place / "exchange", place / "attention"
    done = CliRunner().invoke(init, [str(course), "--exchange", str(root)])
    assert done.exit_code == 0, done.output
    modes = {path.name: path.stat().st_mode & 0o7777 for path in (root / "attention").iterdir()}
    assert modes == {"inbound": 0o3733, "outbound": 0o755, "feedback": 0o711}
    assert root.stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("verb", ["collect", "autograde"])
def test_what_nbgrader_itself_copies_is_no_link(course, exchange, secret, notebook, verb):
    """Its own commands, typed in the course folder."""
    hand_in(MALLORY, exchange.inbound, STEM, {NAME: notebook, "notes.txt": secret})
    if verb == "autograde":
        folder = course / "submitted" / MALLORY / STEM
        folder.mkdir(parents=True)
        (folder / NAME).write_bytes(notebook)
        (folder / "notes.txt").symlink_to(secret)
    command = ["nbgrader", verb, STEM, *(["--create"] if verb == "autograde" else [])]
    environment = os.environ | {"PATH": tools()}
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    where = course / ("submitted" if verb == "collect" else "autograded") / MALLORY / STEM
    assert (where / NAME).is_file() and not (where / "notes.txt").exists()
