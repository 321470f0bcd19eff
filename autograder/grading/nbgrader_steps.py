"""The same grading for `nbgrader autograde` and the formgrader's button, as nbgrader's own steps.

Slower, one submission after another, and what nbgrader decides before its first step (a file of
another name, invalid JSON) stays decided; the verdicts are the same. What is logged at nbgrader's
ordinary level names nobody: the log in grading/ has all of it, and so has the level DEBUG.
"""

import glob
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.grading.grade_class import Pool, grade_class
from autograder.grading.journal import Journal
from autograder.grading.outcome import Outcome
from autograder.grading.rebuild import Unreadable, rebuild
from autograder.grading.referee import Job
from autograder.grading.sentences import anonymous, in_full
from autograder.grading.warm_grader import grade_here


def set_links_aside(assignment: str, student: str, notebooks: list[str]) -> None:
    """Before nbgrader copies a hand-in, links followed: what is a link there is moved away.

    nbgrader calls it in the course folder, for one student at a time, and passes over what it
    raises; a notebook that was a link then ends this one student's grading, named.
    """
    for folder in {Path(notebook).parent for notebook in notebooks}:
        aside = folder.parents[2] / "collected" / folder.name / "set_aside" / folder.parent.name
        above = [path for path in (folder.parent, folder) if path.is_symlink()]
        for path in above[:1] or _no_files_below(folder):
            aside.mkdir(parents=True, exist_ok=True)
            path.rename(aside / f"{path.name}.{secrets.token_hex(4)}")


def _no_files_below(folder: Path) -> list[Path]:
    """Links, and what else nbgrader cannot copy, such as a pipe that nobody writes to."""
    paths = (Path(top, name) for top, folders, files in os.walk(folder) for name in folders + files)
    return [p for p in paths if p.is_symlink() or not (p.is_file() or p.is_dir())]


class Rebuild(NbGraderPreprocessor):
    """Take only texts from the submission, before any other step can stumble over the rest."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        stem, course = resources["nbgrader"]["notebook"], _course(self)
        released = nbformat.read(course / "release" / stem / f"{stem}.ipynb", as_version=4)
        try:
            return rebuild(_as_files(nb, stem), released, stem).notebook, resources
        except Unreadable as reason:
            self.log.error("%s", anonymous(reason.note.fact))
            self.log.debug("%s: %s", resources["nbgrader"]["student"], in_full(reason.note))
            return released, resources


class Referee(NbGraderPreprocessor):
    """Run, judge and record one submission; the notebook comes back with its verdicts."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        stem, student = (resources["nbgrader"][name] for name in ("assignment", "student"))
        course = _course(self)
        report = grade_class(course, stem, _warm_pool(stem), only=glob.escape(student), again=True)
        for _, note in report.problems:
            self.log.warning("%s", anonymous(note.fact))
            self.log.debug("%s: %s", student, in_full(note))
        with Journal(course / "grading" / "journal.db") as journal:
            outcome = journal.last_recorded(student, stem)
        if outcome is None:
            problems = "; ".join(anonymous(note.fact) for _, note in report.problems)
            raise RuntimeError(f"no marks were recorded: {problems or 'nothing was handed in'}")
        return nbformat.reads(outcome.notebook, as_version=4), resources


def _course(step: NbGraderPreprocessor) -> Path:
    return Path(CourseDirectory(parent=step).root).resolve()


def _as_files(nb: NotebookNode, stem: str) -> dict[str, bytes]:
    return {f"{stem}.ipynb": nbformat.writes(nb).encode()}


def _warm_pool(stem: str) -> Callable[[Path, bytes], AbstractContextManager[Pool]]:
    @contextmanager
    def make(folder: Path, data: bytes) -> Iterator[Pool]:
        yield _Here(data, stem)

    return make


class _Here:
    def __init__(self, data: bytes, stem: str):
        self._data, self._stem = data, stem

    def grade(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        for job in jobs:
            yield grade_here(self._data, self._stem, job)
