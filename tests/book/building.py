"""What a build of pages imports takes longer than a small book: it is imported once for all builds.

Each build has a process of its own, since Sphinx changes the one it runs in: forked from a server
that has imported this module and done nothing else.
"""

import contextlib
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from autograder.book.build import Site


def build(root: Path, solutions: bool = False) -> str:
    """What a build complains about; raises what it raises."""
    return _processes().submit(_build, root, solutions).result()


@cache
def _processes() -> ProcessPoolExecutor:
    server = get_context("forkserver")
    server.set_forkserver_preload(
        [__name__, "sphinx.application", "jupyter_book.config", "autograder.book.extension"]
    )
    return ProcessPoolExecutor(max_workers=1, mp_context=server, max_tasks_per_child=1)


def _build(root: Path, solutions: bool) -> str:
    site = Site(root, solutions)
    with contextlib.redirect_stdout(sys.stderr):  # what is fetched once is no complaint
        site.make_current()
    return "\n".join(site.complaints)
