"""`course grade NN_topic`: grade what was handed in, with a bar, and a line for each problem."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType

import click
from rich.console import Console

from autograder.commands.options import course_option
from autograder.grading.changes import before_and_after, tests_changed, write_changes
from autograder.grading.devices import NO_CUDA, NO_GPU_IN_THE_SANDBOX, TRUSTED, cuda_here
from autograder.grading.grade_class import Listener, Pool, Report, grade_class
from autograder.grading.notes import Kind, Note
from autograder.grading.outcome import Outcome
from autograder.grading.pool import LocalPool
from autograder.grading.sentences import in_full
from autograder.progress import progress_bar
from autograder.release.outline import read_outline
from autograder.roster.students import known_students, labels
from autograder.sandbox.tiers import choose
from autograder.untrusted import printable

NOT_GRADED, PROBLEMS = 2, 1
A_LINE = 2_000
ALIKE = 3
"""Notes of one kind on one submission that are said in full."""
SAME = "the same command goes on from there"


@click.command()
@click.argument("chapter", metavar="NN_topic")
@course_option
@click.option("--student", default="*", help="Only these; a pattern such as a* will do.")
@click.option("--workers", type=click.IntRange(1), help="Processes at once.  [default: one a core]")
@click.option("--scheduler", metavar="ADDRESS", help="Grade on a Dask cluster instead.")
@click.option(
    "--trust-submissions",
    is_flag=True,
    help="Grade without a sandbox where this machine gives none. See course sandbox.",
)
@click.option(
    "--kernel",
    is_flag=True,
    help="Settle a doubt: each notebook in a real Jupyter kernel; much slower, the same marks. "
    "Implies --again.",
)
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="Where torch answers are called; cuda demands it, and --trust-submissions with it.",
)
@click.option("--again", is_flag=True, help="Grade what has not changed, too.")
@click.option("--json", "as_json", is_flag=True, help="The summary, for machines.")
def grade(
    chapter: str,
    course: Path,
    student: str,
    workers: int | None,
    scheduler: str | None,
    trust_submissions: bool,
    kernel: bool,
    device: str,
    again: bool,
    as_json: bool,
) -> None:
    """Grade what was handed in for one chapter and is new or changed.

    Ctrl-C loses nothing: the same command, without --again, goes on where it stopped.
    Exit code 0: all graded; 1: a person should look at some; 2: nothing could be graded.

    Example: course grade 03_softmax
    """
    if kernel and scheduler:
        raise click.UsageError("--kernel works on this machine: leave --scheduler out")
    if device == "cuda":
        demand_cuda(scheduler, trust_submissions)
    console = Console(stderr=as_json, soft_wrap=True)
    label, exercises = labels(known_students(course)), read_outline(course, chapter).labels
    try:
        with Bar(console, label, exercises) as bar:
            report = grade_class(
                course,
                chapter,
                make_pool(chapter, workers, scheduler, trust_submissions, kernel, device),
                only=student,
                again=again or kernel,
                device=device,
                listener=Listener(bar.begin, bar.done, bar.left_out),
            )
    except KeyboardInterrupt:
        words = " and ".join(["--again"] * again + ["--kernel"] * kernel)
        go_on = f"it goes on from there without {words}"
        click.echo(f"stopped; what was graded is kept, and {go_on if words else SAME}")
        raise SystemExit(130) from None
    if as_json:
        problems = [(student, in_full(note, exercises)) for student, note in report.problems]
        print(json.dumps(asdict(report) | {"problems": problems}, indent=1))
    else:
        _summary(console, report, course, label, student)
    if not report.handed_in:
        raise SystemExit(NOT_GRADED)
    raise SystemExit(PROBLEMS if report.problems else 0)


def demand_cuda(scheduler: str | None, trust: bool) -> None:
    """Refuse, and say why, where a GPU was demanded and answers could not be called on one."""
    if not scheduler and not cuda_here():
        click.echo(f"Error: {NO_CUDA}", err=True)
        raise SystemExit(NOT_GRADED)
    if not trust:
        click.echo(f"Error: {NO_GPU_IN_THE_SANDBOX}", err=True)
        raise SystemExit(NOT_GRADED)


def make_pool(
    stem: str,
    workers: int | None = None,
    scheduler: str | None = None,
    trust: bool = False,
    kernel: bool = False,
    device: str = "cpu",
) -> Callable[[Path, bytes], AbstractContextManager[Pool]]:
    def make(folder: Path, data: bytes) -> AbstractContextManager[Pool]:
        if scheduler:
            from autograder.grading.cluster import ClusterPool

            return ClusterPool(scheduler, data, stem, {"GPU": 1} if device == "cuda" else {})
        tier = TRUSTED if device == "cuda" else choose(trust)
        return LocalPool(folder, stem, workers or os.cpu_count() or 1, tier, kernel)

    return make


class Bar:
    """A bar with rate and time left where there is a terminal; above it each problem at once."""

    def __init__(
        self,
        console: Console,
        label: Callable[[str], str] = str,
        exercises: Mapping[str, str] = MappingProxyType({}),
    ):
        """`label` and `exercises` say what a student and an exercise are called."""
        self.console, self._label, self._exercises = console, label, exercises
        self._progress = progress_bar(console, "{task.fields[rate]}")

    def begin(self, total: int) -> None:
        self._progress.add_task("grading", total=total, rate="")

    def done(self, outcome: Outcome, problems: list[Note]) -> None:
        mended = [repair for repair in outcome.repairs if repair not in problems]
        alike: dict[Kind, list[Note]] = {}
        for note in [*problems, *mended]:
            alike.setdefault(note.kind, []).append(note)
        for notes in alike.values():
            for note in notes[:ALIKE]:
                self.left_out(outcome.student, note)
            if more := notes[ALIKE:]:
                self._say(outcome.student, f"and {len(more)} more of this kind")
        for task in self._progress.tasks:
            rate = f"{task.speed:.1f} a second" if task.speed else ""
            self._progress.update(task.id, advance=1, rate=rate)

    def left_out(self, student: str, problem: Note) -> None:
        self._say(student, in_full(problem, self._exercises))

    def _say(self, student: str, sentence: str) -> None:
        # a student's process may have said part of it
        line = printable(f"{self._label(student)}: {sentence}", A_LINE)
        self.console.print(line, markup=False, highlight=False)

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


def _summary(
    console: Console, report: Report, course: Path, label: Callable[[str], str], only: str
) -> None:
    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False)

    if not report.handed_in and only != "*":
        say(f"no submission of {report.assignment} fits {only}")
        return
    if not report.handed_in:
        say(f"nobody has handed in {report.assignment} under {course / 'submitted'}")
        return
    each = f", {1000 * report.seconds / report.graded:.0f} ms each" if report.graded else ""
    say(
        f"{report.assignment}: {report.graded} graded, {report.unchanged} unchanged "
        f"({report.seconds:.1f} s{each})"
    )
    if report.problems:
        say(f"{len({student for student, _ in report.problems})} with something to look at, above")
    if report.changes:
        for line in before_and_after(report.changes, label):
            say(line)
        say(f"all of them: {write_changes(course, report)}")
    if report.needs_person:
        many = report.needs_person != 1
        say(
            f"{report.needs_person} answer{'s wait' if many else ' waits'} for a person: type  "
            "jupyter lab  in the course folder, then Nbgrader > Formgrader > Manual Grading"
        )
    if tests_changed(course, report.assignment):
        name = report.assignment
        say(f"the tests of {name} have changed since the release:  course release {name}")
    say(f"gradebook {course / 'gradebook.db'}, one log a student in {course / 'grading'}")
