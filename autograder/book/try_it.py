"""What "Try it here" needs beside the pages: Python, and for each chapter its checks.

For a chapter that is what its bundle holds: visible tests, recorded numbers, course_lib without the
answers, and the notebook in which a reader can go on in JupyterLab.
"""

import ast
import shutil
import tempfile
import zipfile
from importlib.metadata import files
from pathlib import Path

import nbformat
from sphinx.application import Sphinx

from autograder.book import runtime
from autograder.bundle import version_of, write_checks, write_course_lib
from autograder.exercises import Assignment, CodeExercise, load_assignment
from autograder.notebooks import student_notebook

LIBRARIES = ("array-api-compat", "jaxtyping", "wadler-lindig")
"""What course_lib imports beside NumPy."""


def can_be_tried(exercise: CodeExercise) -> bool:
    return in_numpy_alone(exercise) and runtime.fetched() is not None


def in_numpy_alone(exercise: CodeExercise) -> bool:
    """The answer may be in NumPy, and no visible test asks PyTorch what it thinks."""
    visible = {test.name for test in exercise.tests if not test.hidden}
    steps = [
        step
        for node in ast.parse((exercise.folder / "tests.py").read_text()).body
        if not isinstance(node, ast.FunctionDef) or node.name in visible
        for step in ast.walk(node)
    ]
    imported = {
        alias.name for step in steps if isinstance(step, ast.Import) for alias in step.names
    }
    return "numpy" in exercise.libraries and "torch" not in imported


def write_files(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html" or not app.tried:
        return
    target = Path(app.outdir) / "_static" / "python"
    target.mkdir(parents=True)
    runtime.copy_to(target)
    _pack_libraries(target / "libraries.zip")
    for stem in sorted(app.tried):
        assignment = load_assignment(Path(app.srcdir) / "solutions" / stem)
        _pack_chapter(assignment, target)


def _pack_libraries(target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for library in LIBRARIES:
            for file in files(library):
                if file.suffix == ".py" or ".dist-info" in file.parts[0] and file.suffix != ".pyc":
                    archive.write(file.locate(), file.as_posix())


def _pack_chapter(assignment: Assignment, target: Path) -> None:
    stem, notebook = assignment.stem, student_notebook(assignment)
    with tempfile.TemporaryDirectory() as temporary:
        write_checks(assignment, Path(temporary), hidden=False)
        write_course_lib(assignment, Path(temporary))
        version = version_of(Path(temporary), notebook)
        shutil.make_archive(str(target / stem), "zip", temporary)
    notebook.metadata["course"] = {"assignment": stem, "version": version}
    nbformat.write(notebook, target / f"{stem}.ipynb")


def setup(app: Sphinx) -> None:
    app.tried = set()
    app.connect("build-finished", write_files)
