"""The same class on a real Dask cluster: equal marks, and a killed worker loses nothing."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder.demo.attacks import ATTACKS
from autograder.demo.made_up_class import Class, hand_in
from autograder.exercises.assignment import load_assignment
from autograder.grading import package, submissions
from autograder.grading.cluster import ClusterPool, WrongWorker
from autograder.grading.referee import Job
from autograder.paths import ROOT
from autograder.sandbox.host import NoSandbox
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::Warning:distributed")]

STEM = "03_softmax"
ASSIGNMENT = load_assignment(ROOT / "solutions" / STEM)


@pytest.fixture(scope="module")
def course(released_softmax, tmp_path_factory):
    return shutil.copytree(released_softmax, tmp_path_factory.mktemp("class") / "course")


@pytest.fixture
def cluster(tmp_path):
    with cluster_of(tmp_path, [[], []]) as running:
        yield running


@contextmanager
def cluster_of(folder, options: list[list[str]]):
    """A scheduler and a worker for each list of options, as an instructor starts them."""
    running: list[subprocess.Popen] = []

    def start(*words: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name("dask")), *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        running.append(process)
        return process

    usual = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60")
    address_file = folder / "scheduler.json"
    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
              "--scheduler-file", str(address_file))  # fmt: skip
        # Dask opens the file before it writes into it.
        wait_until(lambda: address_file.is_file() and address_file.read_bytes().endswith(b"}"))
        address = json.loads(address_file.read_text())["address"]
        workers = [start("worker", address, *usual, *own) for own in options]
        from distributed import Client

        with Client(address, timeout=30) as client:
            client.wait_for_workers(len(options), timeout=60)
        yield address, workers
    finally:
        for process in reversed(running):
            process.kill()
            process.wait()


def jobs(course, members):
    hand_in(course, STEM, members)
    return [
        Job(m.name, STEM, "key", 1, submissions.read(course, STEM, m.name).files) for m in members
    ]


def marks(outcome) -> dict[str, float]:
    return {mark.cell: mark.points for mark in outcome.marks if mark.points is not None}


def test_a_worker_killed_half_way_loses_nothing(course, cluster):
    address, workers = cluster
    members = list(Class(ASSIGNMENT, course).members(16))
    found = {}
    with ClusterPool(address, package.pack(course, STEM), STEM) as pool:
        for outcome in pool.grade(jobs(course, members)):
            assert outcome.student not in found
            found[outcome.student] = marks(outcome)
            if len(found) == 4:
                os.kill(workers[0].pid, signal.SIGKILL)
    assert set(found) == {member.name for member in members}
    for member in members:
        got = {cell: found[member.name][cell] for cell in member.points}
        assert got == pytest.approx(member.points), member.kind


def test_a_cluster_that_loses_all_workers_says_so(course, cluster):
    address, workers = cluster
    members = list(Class(ASSIGNMENT, course).members(16))
    with ClusterPool(address, package.pack(course, STEM), STEM) as pool:
        outcomes = pool.grade(jobs(course, members))
        assert next(outcomes).marks
        for worker in workers:
            worker.kill()
        with pytest.raises(NoSandbox, match="has lost its workers.*same command again"):
            list(outcomes)


def test_a_cluster_that_hangs_says_so(course, cluster, monkeypatch):
    monkeypatch.setattr("autograder.grading.cluster.SILENCE_SECONDS", 3.0)
    address, _ = cluster
    asleep = next(attack for attack in ATTACKS if attack.name == "a sleep without end")
    sleeper = Class(ASSIGNMENT, course).attack("sleeper", asleep)
    with (
        ClusterPool(address, package.pack(course, STEM), STEM) as pool,
        pytest.raises(NoSandbox, match="nothing back for 3 seconds"),
    ):
        list(pool.grade(jobs(course, [sleeper])))


def test_a_worker_of_another_version_is_refused(course, cluster, monkeypatch):
    address, _ = cluster
    other = "python 3.11.7, numpy 0.1, torch 2.13.0"
    monkeypatch.setattr("autograder.grading.cluster.environment_fingerprint", lambda _: other)
    with (
        pytest.raises(WrongWorker, match="another version.*here numpy 0.1"),
        ClusterPool(address, package.pack(course, STEM), STEM),
    ):
        pass


def test_a_scheduler_that_does_not_answer_is_named():
    with (
        pytest.raises(NoSandbox, match="tcp://127.0.0.1:9"),
        ClusterPool("tcp://127.0.0.1:9", b"", STEM),
    ):
        pass
