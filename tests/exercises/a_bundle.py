"""What a student got, and what they type there."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat

from autograder.commands.lab import unpack
from course_lib.checking import percent
from course_lib.checking.work import Assignment, Standing, Work, standings

STEM = "01_rows"
SOLUTIONS = Path(__file__).with_name("good_solutions")
RIGHT = "def row_means(x):\n    return x.mean(-1)"
WRONG = "def row_means(x):\n    return x.sum(-1)"
NO_PYTHON = "def row_means(X:\n    return X"


def bundle_of(course: Path, place: Path) -> Path:
    unpack(STEM, place, course)
    return place / STEM


def run(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """As a student types it, where nothing else of the course is on the path."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [sys.executable, "course.py", *words]
    done = subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def write(file: Path, **answers: str) -> None:
    """Put answers into cells, by the names of the exercises."""
    answers = {name.replace("_", "-"): source for name, source in answers.items()}
    if file.suffix == ".py":
        text = file.read_text()
        for name, source in answers.items():
            text = percent.with_cell(text, name, source)
        file.write_text(text)
        return
    notebook = nbformat.read(file, as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, cell.source)
    nbformat.write(notebook, file)


def standing(monkeypatch, file: Path) -> list[Standing]:
    """How far each exercise of this file is, as data."""
    monkeypatch.chdir(file.parent)
    work = Work.read(file)
    return standings(Assignment.here(), work.code(), work)
