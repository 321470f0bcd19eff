"""`course demo`: a made-up class of sixty, graded end to end in a minute."""

import shutil
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from autograder.commands.grade import Bar, make_pool
from autograder.demo.attacks import THEMES
from autograder.demo.made_up_class import Class, Member, hand_in
from autograder.exercises.assignment import load_assignment
from autograder.grading.grade_class import Listener, grade_class
from autograder.grading.notes import Note
from autograder.grading.outcome import Outcome
from autograder.paths import ROOT
from autograder.release.build import make_release
from autograder.reports.class_report import write_report
from autograder.reports.feedback import write_feedback

DEMO = ROOT / "_build" / "demo"
NOT_AS_DUE = 1
WIDTH = 120
"""Of a table, wherever it is printed: no line of it is broken."""


@dataclass
class Result:
    """What one of the class handed in, and what came of it."""

    member: Member
    outcome: Outcome

    @property
    def points(self) -> float:
        return sum(m.points or 0.0 for m in self.outcome.marks if m.cell in self.member.points)

    @property
    def as_due(self) -> bool:
        got = {m.cell: m.points or 0.0 for m in self.outcome.marks}
        return all(abs(got[cell] - due) < 1e-5 for cell, due in self.member.points.items())

    @property
    def seconds(self) -> float:
        return sum(self.outcome.seconds.values())


@click.command()
@click.option("--chapter", metavar="NN_topic", default="03_softmax", show_default=True)
@click.option("--students", type=click.IntRange(1, 9999), default=60, show_default=True)
@click.option("--attacks", is_flag=True, help="A class of attackers instead; takes minutes.")
def demo(chapter: str, students: int, attacks: bool) -> None:
    """Make up a class, grade it, and compare marks with what is due.

    Exit code 0: every mark is what is due; 1: some are not; 2: nothing could be graded.

    Example: course demo
    """
    console = Console(soft_wrap=True)
    folder = ROOT / "solutions" / chapter
    if not (folder / "assignment.toml").is_file():
        chapters = ", ".join(sorted(p.parent.name for p in folder.parent.glob("*/assignment.toml")))
        raise click.UsageError(f"no chapter is called {chapter!r}. There are: {chapters}")
    shutil.rmtree(DEMO, ignore_errors=True)
    with console.status("making up the class") if console.is_terminal else nullcontext():
        make_release(load_assignment(folder), DEMO)
        members = list(_members(Class(load_assignment(folder), DEMO), students, attacks))
        hand_in(DEMO, chapter, members)
    results, seconds = _grade(console, chapter, members)
    table = _by_attack(results) if attacks else _by_kind(results)
    Console(width=max(console.width, WIDTH)).print(table)
    _summary(console, chapter, results, seconds)
    _pages(console, chapter)
    raise SystemExit(0 if all(result.as_due for result in results) else NOT_AS_DUE)


def _members(maker: Class, students: int, attacks: bool) -> Iterable[Member]:
    if not attacks:
        return maker.members(students)
    chosen = [attack for theme in THEMES.values() for attack in theme]
    return [maker.attack(f"attacker_{n:03}", attack) for n, attack in enumerate(chosen, start=1)]


def _grade(console: Console, chapter: str, members: list[Member]) -> tuple[list[Result], float]:
    outcomes: dict[str, Outcome] = {}

    def done(outcome: Outcome, problems: list[Note]) -> None:
        outcomes[outcome.student] = outcome
        bar.done(outcome, [])  # they are expected, and in the logs

    with Bar(console) as bar:
        report = grade_class(DEMO, chapter, make_pool(chapter), listener=Listener(bar.begin, done))
    return [Result(m, outcomes[m.name]) for m in members], report.seconds


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for n, column in enumerate(columns):
        table.add_column(column, justify="right" if n and column != "held by" else "left")
    return table


def _by_kind(results: list[Result]) -> Table:
    table = _table("handed in", "students", "marks as due", "points", "ms each")
    kinds: dict[str, list[Result]] = {}
    for result in results:
        kinds.setdefault(result.member.kind.partition(":")[0], []).append(result)
    for kind, some in sorted(kinds.items(), key=lambda item: -max(r.points for r in item[1])):
        points = sorted({round(result.points, 2) for result in some})
        span = f"{points[0]:g}" if len(points) == 1 else f"{points[0]:g} to {points[-1]:g}"
        right = sum(result.as_due for result in some)
        each = 1000 * sum(result.seconds for result in some) / len(some)
        table.add_row(kind, f"{len(some)}", f"{right}", span, f"{each:.0f}")
    return table


def _by_attack(results: list[Result]) -> Table:
    table = _table("attack", "held by", "points", "ms")
    named = {result.member.kind.partition(": ")[2]: result for result in results}
    for theme, attacks in THEMES.items():
        table.add_row(f"[bold]{theme}[/bold]")
        for attack in attacks:
            result = named[attack.name]
            figures = f"{result.points:g}", f"{1000 * result.seconds:.0f}"
            table.add_row(f"  {attack.name}", attack.held_by, *figures)
    return table


def _summary(console: Console, chapter: str, results: list[Result], seconds: float) -> None:
    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False)

    say("")
    for result in (result for result in results if not result.as_due):
        due = sum(result.member.points.values())
        say(f"{result.member.name} ({result.member.kind}): {result.points:g} points, {due:g} due")
    wrong = sum(not result.as_due for result in results)
    verdict = "every mark is what is due" if not wrong else f"{wrong} are not what is due"
    say(f"{chapter}: {len(results)} graded in {seconds:.0f} s; {verdict}")
    here = Path(relpath(DEMO))
    say(f"marks      {here / 'gradebook.db'}")
    say(f"notebooks  {here / 'autograded'}")
    say(f"logs       {here / 'grading' / chapter}")


def _pages(console: Console, chapter: str) -> None:
    """What students and instructor would get to read."""
    with console.status("writing the pages") if console.is_terminal else nullcontext():
        written, report = write_feedback(DEMO, chapter), write_report(DEMO, chapter)
    here = Path(relpath(DEMO))
    console.print(f"feedback   {here / 'feedback'}: {len(written)} pages", highlight=False)
    if report:
        console.print(f"class      {relpath(str(report))}", highlight=False)
