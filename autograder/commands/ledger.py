"""`course ledger`: which claims the chapters still miss."""

import os
import sys
from multiprocessing.pool import ThreadPool

import click
from rich.console import Console

from autograder.paths import ROOT
from autograder.progress import progress_bar
from autograder.tools.ledger import check_page, read_claims, read_page, run_page, table_of


@click.command(epilog="Example:  course ledger --no-run")
@click.option("--run/--no-run", default=True, help="Run the pages, not only read them.")
@click.option(
    "--missing", is_flag=True, help="Also list the claims of chapters that do not exist yet."
)
def ledger(run: bool, missing: bool) -> None:
    """Compare the chapters with the claims that they must make.

    Exit code 1 where a chapter that exists lacks a claim or a computation.
    """
    claims = read_claims()
    pages = [read_page(path) for path in sorted((ROOT / "chapters").glob("[0-9][0-9]_*.md"))]
    pages = [page for page in pages if page.chapter]
    for page in pages:
        check_page(page, claims)
    if run:
        from autograder.book.execution import use_plain_kernels

        use_plain_kernels(ROOT)
        with progress_bar(Console(stderr=True)) as bar, ThreadPool(os.cpu_count()) as pool:
            done = pool.imap_unordered(run_page, pages)
            list(bar.track(done, total=len(pages), description="running"))
    Console(soft_wrap=True).print(table_of(claims, pages))
    if missing:
        written = {page.chapter for page in pages}
        for claim in claims.values():
            if claim.chapter not in written:
                print(f"chapter {claim.chapter:2}  {claim.id}  {claim.says}")
    faults = [fault for page in pages for fault in page.faults]
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)
