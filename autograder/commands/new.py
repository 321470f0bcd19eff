"""`course new exercise NN_topic/name`: the files of an exercise, and what is to write."""

from pathlib import Path

import click

from autograder.exercises.new import MARK, make_exercise
from autograder.paths import ROOT

KINDS = {"code": "code", "blocks": "proof blocks", "proof": "proof"}


@click.group()
def new() -> None:
    """Begin something new: course new exercise NN_topic/name."""


@new.command()
@click.argument("where", metavar="NN_topic/name")
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="code",
    show_default=True,
    help="A function to write, lines of a proof to order, or a proof in words.",
)
@click.option(
    "--course",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A private one, in this course folder's solutions/.  [default: the course's own]",
)
def exercise(where: str, kind: str, course: Path | None) -> None:
    """Make the files of an exercise; what is to be written is marked FILL.

    A chapter that is not there yet is begun, too. Nothing that is there is changed, but for the
    entry below the others in assignment.toml.
    Exit code 0: made; 2: nothing was made.

    Example: course new exercise 03_softmax/argmax_limit
    """
    root = course or ROOT
    for path, line in make_exercise(root / "solutions", where, KINDS[kind]):
        click.echo(f"  {path.relative_to(root)}:{line}")
    of = f" --course {course}" if course else ""
    click.echo(f"write what is marked {MARK} there; then  course exercises {Path(where).name}{of}")
