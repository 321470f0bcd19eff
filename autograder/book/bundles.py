"""The zips in which a reader does the exercises in JupyterLab, beside the page that offers them."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx

from autograder.book.build import matching
from autograder.book.build_state import state_of
from autograder.exercises.assignment import Assignment
from autograder.files import digest_of
from autograder.release.build import WHOLE, bundle_of_all, make_release

MADE_OF = (
    "solutions/**/*",
    "course_lib/**/*.py",
    "autograder/exercises/**/*",
    "autograder/release/**/*",
)


def offer(app: Sphinx, assignments: list[Assignment]) -> list[str]:
    """Have the zips made when the pages are, and name them: each chapter's, then that of all."""
    state_of(app).offered = assignments
    return [f"{name}.zip" for name in [*(a.stem for a in assignments), WHOLE]]


def write_offered(app: Sphinx, exception: Exception | None) -> None:
    offered = state_of(app).offered
    if exception or app.builder.name != "html" or not offered:
        return
    made = made_once(app, "bundles", lambda folder: _make(offered, folder))
    shutil.copytree(made, Path(app.outdir) / "bundles")


def made_once(app: Sphinx, kind: str, make: Callable[[Path], None], *besides: str) -> Path:
    """A folder made from the exercises, and made again only when these or `besides` change."""
    source = Path(app.srcdir)
    digest = digest_of(matching(source, MADE_OF), source, *besides)
    made = source / "_build" / kind / digest[:16]
    if not made.is_dir():
        shutil.rmtree(made.parent, ignore_errors=True)
        unfinished = made.with_suffix(".unfinished")
        unfinished.mkdir(parents=True)
        make(unfinished)
        unfinished.rename(made)
    return made


def _make(assignments: list[Assignment], target: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        course = Path(temporary)
        for assignment in assignments:
            make_release(assignment, course)
        bundle_of_all(course, [assignment.stem for assignment in assignments])
        shutil.copytree(course / "bundles", target, dirs_exist_ok=True)


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write_offered, priority=400)  # before links are looked at
