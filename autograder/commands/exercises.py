"""`course exercises`: prove that every exercise can tell right from wrong, and print the table."""

import gc
import importlib
import json
import multiprocessing
import re
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Column, Table

from autograder.exercises.assignment import Exercise, load_course
from autograder.exercises.chapter_page import not_shown
from autograder.exercises.proof import Proof
from autograder.exercises.proof_cache import ProofCache
from autograder.exercises.prove import SEEDS
from autograder.paths import ROOT
from autograder.progress import progress_bar

PROOFS = ROOT / "_build" / "proofs"
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
@click.option("--afresh", is_flag=True, help="Prove what has not changed since it was proved, too.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, for machines.")
@click.option(
    "--course",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Prove those of your own, in this course folder's solutions/, instead.",
)
def exercises(
    names: tuple[str, ...],
    seeds: int,
    messages: bool | None,
    afresh: bool,
    as_json: bool,
    course: Path | None,
) -> None:
    """Prove that exercises tell right answers from wrong ones.

    Right answers pass, wrong ones are caught by the tests that they name.

    NAME is an exercise (softmax) or a chapter (03_softmax); none means all of them.

    Example: course exercises softmax

    Exit code 1 where an exercise is refused, 2 where its folder cannot be read.
    """
    root = course or ROOT
    chosen = _choose(names, root)
    proofs = _prove_all(chosen, seeds, afresh)
    for name, fault in not_shown(chosen, root / "chapters").items():
        proofs[name].faults.append(fault)
    if as_json:
        as_dicts = [asdict(proof) | {"holds": proof.holds} for proof in proofs.values()]
        print(json.dumps(as_dicts, indent=2))
    else:
        _print(list(proofs.values()), bool(names) if messages is None else messages)
    sys.exit(0 if all(proof.holds for proof in proofs.values()) else 1)


def _choose(names: tuple[str, ...], root: Path) -> list[Exercise]:
    course = load_course(root / "solutions")
    everything = [exercise for assignment in course for exercise in assignment.exercises]
    chosen = []
    for name in names:
        of_chapter = [
            e for assignment in course if assignment.stem == name for e in assignment.exercises
        ]
        of_this_name = of_chapter or [e for e in everything if e.name == name]
        if not of_this_name:
            if _lies_here(name, root):
                raise click.UsageError(
                    f"{name!r} is none of the course's own. "
                    "It is in this folder's solutions/: add  --course ."
                )
            names_here = ", ".join([a.stem for a in course] + [e.name for e in everything])
            raise click.UsageError(
                f"no exercise and no chapter is called {name!r}. There are: {names_here}"
            )
        chosen += [exercise for exercise in of_this_name if exercise not in chosen]
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


def _prove_all(chosen: list[Exercise], seeds: int, afresh: bool) -> dict[str, Proof]:
    """By name, in the order in which they were chosen; what is unchanged is not proved again."""
    cache = ProofCache(PROOFS)
    kept = {} if afresh else {e.name: cache.find(e, seeds) for e in chosen}
    proofs = {name: proof for name, proof in kept.items() if proof}
    waiting = [exercise for exercise in chosen if exercise.name not in proofs]
    if waiting:
        with _pool(len(waiting)) as pool, progress_bar(Console(stderr=True)) as bar:
            futures = _submit(pool, waiting, seeds, afresh)
            for done in bar.track(as_completed(futures), len(futures), description="proving"):
                proofs[futures[done]] = done.result()
    return {exercise.name: proofs[exercise.name] for exercise in chosen}


def _pool(tasks: int) -> Executor:
    workers = min(multiprocessing.cpu_count(), tasks)
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _warm_up)


def _warm_up() -> None:
    """Import what every proof needs, and keep the collector of garbage away from it."""
    importlib.import_module("torch")
    gc.collect()
    gc.freeze()


def _submit(
    pool: Executor, exercises: list[Exercise], seeds: int, afresh: bool
) -> dict[Future[Proof], str]:
    """Those with the most to try first, so that none of them is waited for alone at the end."""
    ordered = sorted(exercises, key=_effort, reverse=True)
    prove = ProofCache(PROOFS).prove
    return {pool.submit(prove, exercise, seeds, afresh): exercise.name for exercise in ordered}


def _effort(exercise: Exercise) -> int:
    files = ("tests.py", "wrong.py", "right.py")
    paths = (exercise.folder / name for name in files)
    return sum(path.stat().st_size for path in paths if path.is_file())


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
