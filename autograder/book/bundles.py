"""The zips in which a reader does the exercises in JupyterLab, beside the page that offers them."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx

from autograder.exercises.assignment import Assignment
from autograder.release.build import WHOLE, bundle_of_all, make_release

MADE_OF = (
    "solutions/**/*",
    "course_lib/**/*.py",
    "autograder/exercises/**/*",
    "autograder/release/**/*",
)


def offer(app: Sphinx, assignments: list[Assignment]) -> list[str]:
    """Have the zips made when the pages are, and name them: each chapter's, then that of all."""
    app.offered = assignments
    return [f"{name}.zip" for name in [*(a.stem for a in assignments), WHOLE]]


def write_offered(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html" or not app.offered:
        return
    made = made_once(app, "bundles", lambda folder: _make(app.offered, folder))
    shutil.copytree(made, Path(app.outdir) / "bundles")


def made_once(app: Sphinx, kind: str, make: Callable[[Path], None], *besides: str) -> Path:
    """A folder made from the exercises, which a change of a page alone leaves as they were."""
    source = Path(app.srcdir)
    made = source / "_build" / kind / _state(source, besides)
    if not made.is_dir():
        shutil.rmtree(made.parent, ignore_errors=True)
        unfinished = made.with_suffix(".unfinished")
        unfinished.mkdir(parents=True)
        make(unfinished)
        unfinished.rename(made)
    return made


def _state(source: Path, besides: tuple[str, ...]) -> str:
    state = hashlib.sha256("\0".join(besides).encode())
    for path in sorted(path for pattern in MADE_OF for path in source.glob(pattern)):
        if path.is_file() and "__pycache__" not in path.parts:
            state.update(path.as_posix().encode() + path.read_bytes())
    return state.hexdigest()[:16]


def _make(assignments: list[Assignment], target: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        course = Path(place)
        for assignment in assignments:
            make_release(assignment, course)
        bundle_of_all(course, [assignment.stem for assignment in assignments])
        shutil.copytree(course / "bundles", target, dirs_exist_ok=True)


def setup(app: Sphinx) -> None:
    app.offered = []
    app.connect("build-finished", write_offered, priority=400)  # before links are looked at
