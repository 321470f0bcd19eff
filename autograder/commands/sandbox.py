"""`course sandbox`: what holds a submission on this machine, proved by trying to get out."""

import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Column, Table

from autograder.sandbox.host import NoSandbox, Sandbox
from autograder.sandbox.probes import GROUPS, Found, surroundings, try_all
from autograder.sandbox.promises import PROMISES
from autograder.sandbox.tiers import FLAG, TIERS, Machine, best_tier

COURSE_LIB = Path(__file__).resolve().parents[2] / "course_lib"
HELD, OPEN, NONE = 0, 1, 2
WORDS = {
    "namespaces": "each submission runs in a world of its own (namespaces and seccomp)",
    "landlock": "files, signals and programs are out of reach (Landlock and seccomp)",
}


@click.command()
@click.option(
    "--tier", type=click.Choice(TIERS), help="Try this one.  [default: the best there is]"
)
@click.option("--all", "every", is_flag=True, help="Show each attempt in a line of its own.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, for machines.")
def sandbox(tier: str | None, every: bool, as_json: bool) -> None:
    """Say what holds a submission on this machine, and try it.

    Each attempt to get out is made inside a real student's process, in which nothing of yours runs.

    Example: course sandbox --all

    Exit code 0 where everything held, 1 where something is open, 2 where there is no sandbox.
    """
    machine = best_tier()
    tier, found, reason = tier or machine.tier, [], ""
    if tier:
        try:
            found = _prove(tier)
        except NoSandbox as error:
            tier, reason = None, str(error)
    if as_json:
        print(json.dumps(_as_data(tier, reason, found, machine), indent=2))
    else:
        _print(Console(highlight=False), tier, reason, found, machine, every)
    sys.exit(NONE if not tier else HELD if all(one.held for one in found) else OPEN)


def _prove(tier: str) -> list[Found]:
    with Sandbox(COURSE_LIB, tier) as box, surroundings() as around, box.student() as student:
        student.begin(0)
        return list(try_all(student, around))


def _as_data(tier: str | None, reason: str, found: list[Found], machine: Machine) -> dict[str, Any]:
    attempts = [
        {
            "group": one.attempt.group,
            "attempt": one.attempt.what,
            "held": one.held,
            "by": one.attempt.held_by[tier] if tier else "",
            "answer": one.answer,
        }
        for one in found
    ]
    missing = [vars(refusal) for refusal in machine.refusals]
    promises = [{"promise": one.words, "holds": one.holds(tier, found)} for one in PROMISES]
    return {
        "tier": tier,
        "reason": reason,
        "attempts": attempts,
        "missing": missing,
        "promises": promises,
    }


def _print(
    to: Console,
    tier: str | None,
    reason: str,
    found: list[Found],
    machine: Machine,
    every: bool,
) -> None:
    if tier:
        to.print(f"[bold]{tier}[/]: {WORDS[tier]}\n")
        to.print(_table(tier, found, every))
        failed = [one for one in found if not one.held]
        held = len(found) - len(failed)
        to.print(f"\n{held} of {len(found)} attempts to get out were held.", end=" ")
        to.print("[bold red]Do not grade here.[/]" if failed else "Nothing is open.")
    else:
        to.print("[bold red]No sandbox on this machine.[/]", reason)
    hold = [promise for promise in PROMISES if promise.holds(tier, found)]
    to.print(f"{len(hold)} of the {len(PROMISES)} promises in SECURITY.md hold on this machine.")
    for promise in PROMISES:
        if every or promise not in hold:
            verdict = "[green]holds[/]   " if promise in hold else "[bold red]does not[/]"
            to.print(f"  {verdict}  {promise.words}", soft_wrap=True)
    for refusal in machine.refusals:
        what = f"{refusal.tier}, the better one," if tier == "landlock" else refusal.tier
        to.print(f"\n[bold]{what} cannot be had:[/] {refusal.reason}")
        for line in refusal.remedy.splitlines():
            to.print("  " + line, markup=False, soft_wrap=True)
    if not tier:
        to.print(f"\nGrading refuses here, unless you trust every submission: {FLAG}")


def _table(tier: str, found: list[Found], every: bool) -> Table:
    """A line for each way of holding in a group, or for each attempt; what is open always shows."""
    table = Table(Column(""), Column("tried from inside"), Column("held by"), "", box=None)
    for group in GROUPS:
        rows: dict[str, list[Found]] = {}
        for number, one in enumerate(one for one in found if one.attempt.group == group):
            key = one.attempt.held_by[tier]
            rows.setdefault(f"{key}#{number}" if every or not one.held else key, []).append(one)
        for number, (key, ones) in enumerate(rows.items()):
            verdict = "[green]held[/]" if ones[0].held else f"[bold red]OPEN[/] ({ones[0].answer})"
            what = ", ".join(one.attempt.what for one in ones)
            table.add_row("" if number else group, what, key.partition("#")[0], verdict)
    return table
