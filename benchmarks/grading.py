"""How fast a class is graded, beside stock nbgrader on the same submissions in the same run.

python -m benchmarks.grading              the table
python -m benchmarks.grading --linear     20, 200 and 2,000 submissions
python -m benchmarks.grading --cluster    one Dask worker and two
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from autograder.demo.made_up_class import Class, Member, hand_in
from autograder.exercises.assignment import load_assignment
from autograder.grading.cluster import ClusterPool
from autograder.grading.grade_class import Listener, Report, grade_class
from autograder.grading.gradebook import Recorder
from autograder.grading.journal import Journal
from autograder.grading.pool import LocalPool
from autograder.paths import ROOT
from autograder.release.build import make_release
from autograder.release.bundle import write_checks

STEM = "03_softmax"
STOCK = 8
"""Submissions that stock nbgrader is given: it takes seconds for each."""
OURS = 300
FIGURE = """import matplotlib.pyplot as plt
%matplotlib inline
plt.plot(np.random.randn(50)); plt.title('a'); plt.show()"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--linear", action="store_true", help="how cost grows with the class")
    parser.add_argument("--cluster", action="store_true", help="what a second Dask worker brings")
    arguments = parser.parse_args()
    assignment = load_assignment(ROOT / "solutions" / STEM)
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder) / "course"
        make_release(assignment, course)
        if arguments.linear:
            linear(assignment, course)
        elif arguments.cluster:
            cluster(assignment, course)
        else:
            table(assignment, course)


def table(assignment, course: Path) -> None:
    print(f"{STEM}: milliseconds a submission, start-up included; {os.cpu_count()} cores\n")
    print("| submissions | stock, serial | stock, two at once | ours, 1 worker | ours, 2 workers |"
          " serial / ours | two / ours |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for words, figure in (("no figure", False), ("one figure", True)):
        members = honest(assignment, course, OURS, figure)
        stock = _fresh(course, members[:STOCK])
        write_checks(assignment, stock / "source" / STEM, hidden=True)  # as stock needs it
        (stock / "nbgrader_config.py").write_text(_stock_config(stock))
        copies = [shutil.copytree(stock, stock.with_name(f"half_{n}")) for n in (1, 2)]
        serial = timed_stock({stock: "*"}) / STOCK
        # each with a gradebook of its own: on one SQLite file stock stops with "database is locked"
        halves = dict(zip(copies, ["student_00[1-4]", "student_00[5-8]"], strict=True))
        two = timed_stock(halves) / STOCK
        found = [ours(_fresh(course, members), workers) for workers in (1, 2)]
        one_worker, two_workers = (report.seconds / OURS for report in found)
        figures = [serial, two, one_worker, two_workers]
        cells = " | ".join(f"{1000 * figure:.0f}" for figure in figures)
        print(f"| {words} | {cells} | {serial / two_workers:.0f} | {two / two_workers:.0f} |")
        steps = ", ".join(f"{k} {1000 * v / OURS:.1f}" for k, v in found[0].by_step.items())
        print(f"|   of which, one worker: {steps} | | | | | | |")
        agree(stock, course, members[:STOCK])


def linear(assignment, course: Path) -> None:
    print("| submissions | s | ms each | recorder in the run, ms each | recorder alone, ms each |"
          " largest memory of the run, MB |")  # fmt: skip
    print("|---|---|---|---|---|---|")
    for number in (20, 200, 2000):
        members = honest(assignment, course, min(number, 200), figure=False)
        many = [
            Member(f"student_{k:04}", m.kind, m.files, m.points)
            for k, m in zip(range(number), members * (number // len(members) + 1), strict=False)
        ]
        here = _fresh(course, many)
        ungraded = shutil.copy(here / "gradebook.db", here / "ungraded.db")
        report = ours(here, 2)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        record = 1000 * report.by_step["record"] / number
        alone = 1000 * recording(here, ungraded) / number
        print(f"| {number} | {report.seconds:.1f} | {1000 * report.seconds / number:.0f}"
              f" | {record:.1f} | {alone:.1f} | {peak:.0f} |", flush=True)  # fmt: skip
        shutil.rmtree(here)


def cluster(assignment, course: Path) -> None:
    from distributed import LocalCluster

    members = honest(assignment, course, OURS, figure=False)
    whole, running = [], []
    for workers in (1, 2):
        here, done = _fresh(course, members), []
        listener = Listener(done=lambda *_, done=done: done.append(time.perf_counter()))
        with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as dask:
            address = dask.scheduler_address
            report = grade_class(
                here,
                STEM,
                lambda _, data, at=address: ClusterPool(at, data, STEM),
                listener=listener,
            )
        assert report.graded == OURS, report.problems
        whole.append(report.seconds)
        running.append(done[-1] - done[0])
        print(f"{workers} Dask: {1000 * report.seconds / OURS:.0f} ms a submission", flush=True)
    print(
        f"two workers are {whole[0] / whole[1]:.2f} times as fast as one,"
        f" {running[0] / running[1]:.2f} times once they have started"
    )


def recording(course: Path, gradebook: Path) -> float:
    """Seconds for what this class got into another gradebook, while nothing is graded."""
    seconds = 0.0
    journal = Journal(course / "grading" / "journal.db")
    with journal, Recorder(f"sqlite:///{gradebook}") as recorder:
        for outcome in journal.recorded(STEM):
            started = time.perf_counter()
            recorder.record(outcome)
            seconds += time.perf_counter() - started
    return seconds


def honest(assignment, course: Path, number: int, figure: bool) -> list[Member]:
    """Four of five right, in torch, one with a known mistake."""
    maker = Class(assignment, course)
    members = []
    for k in range(number):
        name = f"student_{k + 1:03}"
        mistaken = k % 5 == 4
        member = maker.one_mistake(name, maker.code[0]) if mistaken else maker.in_torch(name)
        if figure:
            (file, data), *_ = member.files.items()
            notebook = nbformat.reads(data.decode(), as_version=4)
            notebook.cells.append(nbformat.v4.new_code_cell(FIGURE))
            member.files[file] = json.dumps(notebook).encode()
        members.append(member)
    return members


def ours(course: Path, workers: int) -> Report:
    report = grade_class(course, STEM, lambda folder, data: LocalPool(folder, STEM, workers))
    assert report.graded == report.handed_in, report.problems
    return report


def timed_stock(patterns: dict[Path, str]) -> float:
    """One process for each course folder and its pattern of students, all at once."""
    program = str(Path(sys.executable).with_name("nbgrader"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    started = time.perf_counter()
    running = [
        subprocess.Popen(
            [program, "autograde", STEM, "--student", pattern],
            cwd=course,
            env=os.environ | {"PATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for course, pattern in patterns.items()
    ]
    assert not any(process.wait() for process in running)
    return time.perf_counter() - started


def agree(stock: Path, course: Path, members: list[Member]) -> None:
    """The two graders give these students equal marks, or the comparison means nothing."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{stock / 'gradebook.db'}") as gradebook:
        for member in members:
            notebook = gradebook.find_submission_notebook(STEM, STEM, member.name)
            got = {grade.name: grade.auto_score for grade in notebook.grades}
            assert {cell: got[cell] for cell in member.points} == member.points, member.name


def _fresh(course: Path, members: list[Member]) -> Path:
    """The released course with this class, not yet graded."""
    copy = Path(tempfile.mkdtemp(dir=course.parent)) / "course"
    shutil.copytree(course, copy)
    hand_in(copy, STEM, members)
    return copy


def _stock_config(course: Path) -> str:
    """Ours without our steps."""
    text = (course / "nbgrader_config.py").read_text()
    start, end = text.index("# `nbgrader autograde`"), text.index("c.OverwriteCells")
    return text[:start] + text[end:]


if __name__ == "__main__":
    main()
