"""`course site`: build the book, refuse what no reader may meet, show it."""

import sys
import time
from os.path import relpath

import click

from autograder.book.build import Site, console
from autograder.paths import ROOT

EXAMPLE = """\b
Example:
  course site --serve        build if anything has changed, then show the pages
"""


@click.command(name="site", epilog=EXAMPLE)
@click.option("--solutions", is_flag=True, help="The instructor's edition, with model answers.")
@click.option("--serve", is_flag=True, help="Then show the pages, on this machine only.")
@click.option("--port", default=8000, show_default=True, help="Where to serve, if it is free.")
def site(solutions: bool, serve: bool, port: int) -> None:
    """Build the website of the course into _build/html.

    Whatever no reader may meet (a failing cell, a dead reference, a picture without alternative
    text, anything loaded from elsewhere) is named with page and line, and the exit code is 1.
    """
    pages, started = Site(ROOT, solutions), time.monotonic()
    folder = pages.folder.relative_to(pages.root)
    with pages.alone():
        if not (serve and pages.is_current) and not pages.build():
            console.print("\n".join(pages.complaints), markup=False)
            console.print(
                f"\nThe site is not fit for readers: {_count(pages.complaints)}, above.\n"
                f"The pages, as far as they could be written, are in {folder}.\n"
                "Mend them and type the same again; what has not changed is not run again."
            )
            sys.exit(1)
    seconds = time.monotonic() - started
    count, size = len(pages.pages), pages.bytes / 1e6
    console.print(f"The site stands: {count} pages, {size:.1f} MB, after {seconds:.0f} s.")
    console.print(f"  pages    {folder}/index.html")
    if serve:
        from autograder.book.serve import serve_until_interrupted

        serve_until_interrupted(pages.folder, port, console.print)
    else:
        program = relpath(sys.argv[0])  # as started, since `make` needs no activated .venv
        console.print(f"  look     {program} site{' --solutions' * solutions} --serve")


def _count(complaints: list[str]) -> str:
    return f"{len(complaints)} complaint{'s' * (len(complaints) > 1)}"
