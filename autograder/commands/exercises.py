"""`course exercises`: prove that every exercise can tell right from wrong, and print the table."""

import json
import multiprocessing
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from autograder.exercises.assignment import Exercise, load_course
from autograder.exercises.prove import SEEDS, Proof, prove
from autograder.exercises.toml_tables import BadExercise
from autograder.paths import ROOT

WIDTH = 120
"""Of the table in a file or a pipe."""


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=SEEDS,
    show_default=True,
    help="How many drawings of the inputs to try.",
)
@click.option(
    "--messages/--no-messages",
    default=None,
    help="Print what the author of each wrong answer reads.  [default: if a NAME is given]",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, for machines.")
@click.option(
    "--course",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Prove those of your own, in this course folder's solutions/, instead.",
)
def exercises(
    names: tuple[str, ...], seeds: int, messages: bool | None, as_json: bool, course: Path | None
) -> None:
    """Prove that exercises tell right answers from wrong ones.

    Right answers pass, wrong ones are caught by the tests that they name.

    NAME is an exercise (softmax) or a chapter (03_softmax); none means all of them.

    Example: course exercises softmax

    Exit code 1 where an exercise is refused, 2 where its folder cannot be read.
    """
    try:
        chosen = _choose(names, course or ROOT)
    except BadExercise as error:
        click.echo(f"refused: {error}", err=True)
        sys.exit(2)
    proofs = list(_prove_all(chosen, seeds, quiet=as_json))
    if as_json:
        print(json.dumps([asdict(proof) | {"holds": proof.holds} for proof in proofs], indent=2))
    else:
        _print(proofs, bool(names) if messages is None else messages)
    sys.exit(0 if all(proof.holds for proof in proofs) else 1)


def _choose(names: tuple[str, ...], root: Path) -> list[Exercise]:
    course = load_course(root / "solutions")
    everything = [exercise for assignment in course for exercise in assignment.exercises]
    chosen = []
    for name in names:
        of_chapter = [
            e for assignment in course if assignment.stem == name for e in assignment.exercises
        ]
        found = of_chapter or [exercise for exercise in everything if exercise.name == name]
        if not found:
            if _lies_here(name, root):
                raise click.UsageError(
                    f"{name!r} is none of the course's own. "
                    "It is in this folder's solutions/: add  --course ."
                )
            known = ", ".join([a.stem for a in course] + [e.name for e in everything])
            raise click.UsageError(
                f"no exercise and no chapter is called {name!r}. There are: {known}"
            )
        chosen += [exercise for exercise in found if exercise not in chosen]
    if not everything:
        raise click.UsageError("there is no exercise; solutions/ holds one folder for each chapter")
    return chosen if names else everything


def _lies_here(name: str, root: Path) -> bool:
    """In the course folder in which one stands, and which was not named."""
    here = Path("solutions")
    if root != ROOT or here.resolve() == ROOT / "solutions" or not here.is_dir():
        return False
    entry = re.compile(rf'^\s*name\s*=\s*"{re.escape(name)}"', re.MULTILINE)
    chapters = list(here.glob("*/assignment.toml"))
    return any(path.parent.name == name or entry.search(path.read_text()) for path in chapters)


def _prove_all(chosen: list[Exercise], seeds: int, quiet: bool) -> Iterator[Proof]:
    console = Console(stderr=True, quiet=quiet)
    columns = (TextColumn("proving"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    workers = min(multiprocessing.cpu_count(), len(chosen))
    done = {}
    with (
        Progress(*columns, console=console, transient=True) as progress,
        ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool,
    ):
        bar = progress.add_task("", total=len(chosen))
        waiting = {pool.submit(prove, exercise, seeds): exercise for exercise in chosen}
        for future in as_completed(waiting):
            done[waiting[future].name] = future.result()
            progress.advance(bar)
    yield from (done[exercise.name] for exercise in chosen)


def _print(proofs: list[Proof], messages: bool) -> None:
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    heads = ("exercise", "kind", "tests", "right passed", "wrong caught", "edits noticed", "")
    table = Table(*(Column(head, no_wrap=True) for head in heads), box=None)
    for proof in proofs:
        noticed = proof.mutants - proof.equivalent
        table.add_row(
            proof.exercise,
            proof.kind,
            str(proof.tests),
            str(proof.right or "-"),
            f"{proof.wrong_caught} of {proof.wrong}" if proof.wrong else "-",
            f"{noticed} of {proof.mutants}"
            + (f", {proof.equivalent} equivalent" if proof.equivalent else "")
            if proof.mutants
            else "-",
            "proved" if proof.holds else f"refused: {len(proof.faults)}",
        )
    console.print(table)
    for proof in proofs:
        if messages and proof.messages:
            print(f"\n{proof.exercise}: what the author of each wrong answer reads")
            for name, message in proof.messages.items():
                print(f"\n  {name}\n    " + message.replace("\n", "\n    "))
    for proof in proofs:
        for fault in proof.faults:
            print(f"\nrefused: {fault}", file=sys.stderr)
