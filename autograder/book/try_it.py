"""What "Try it here" needs beside the pages: Python, and for each chapter its checks.

For a chapter that is what its bundle holds: tests, recorded numbers, course_lib without the
answers, and the notebook in which a reader can go on in JupyterLab. Where answers are open, that
means all tests, for whoever learns alone has nobody to hand in to. A class draws its own numbers.
"""

import json
import shutil
import tempfile
from pathlib import Path

import nbformat
from sphinx.application import Sphinx

from autograder.book import pyodide_packing, runtime
from autograder.book.build_state import state_of
from autograder.book.bundles import made_once
from autograder.exercises.assignment import Assignment, CodeExercise, load_assignment
from autograder.paths import ROOT
from autograder.release.bundle import version_of, write_checks, write_course_lib
from autograder.release.notebooks import student_notebook


def can_be_tried(exercise: CodeExercise) -> bool:
    """The answer may be in NumPy; what its tests ask of PyTorch is recorded."""
    return "numpy" in exercise.libraries and runtime.fetched() is not None


def write_files(app: Sphinx, exception: Exception | None) -> None:
    state = state_of(app)
    stems = sorted(state.tried)
    if exception or app.builder.name != "html" or not (stems or state.with_cells):
        return
    target = Path(app.outdir) / "_static" / "python"
    target.mkdir(parents=True)
    runtime.copy_to(target)
    for archive in pyodide_packing.packed_once().glob("*.packed"):
        shutil.copy(archive, target)
    if not stems:
        return
    made = made_once(
        app,
        "tried",
        lambda folder: _write(app, stems, folder),
        *(pyodide_packing.digest(), app.config.answers, *stems),
    )
    shutil.copytree(made, target, dirs_exist_ok=True)


def _write(app: Sphinx, stems: list[str], target: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        trees = {}
        for stem in stems:
            assignment = load_assignment(Path(app.srcdir) / "solutions" / stem)
            folder = Path(temporary, stem)
            all_tests = app.config.answers == "open"
            _write_chapter(assignment, folder, target / f"{stem}.ipynb", all_tests)
            trees[target / f"{stem}.packed"] = pyodide_packing.Tree(folder)
        pyodide_packing.pack(trees)


def _write_chapter(
    assignment: Assignment, folder: Path, notebook_file: Path, all_tests: bool
) -> None:
    if all_tests:
        write_open_checks(assignment, folder)
    else:
        write_checks(assignment, folder, hidden=False)
    write_course_lib(assignment, folder)
    for module in (folder / "course_lib").rglob("*.py"):  # all pages share what is whole
        if module.read_bytes() == (ROOT / module.relative_to(folder)).read_bytes():
            module.unlink()
    notebook = student_notebook(assignment)
    version = version_of(folder, notebook)
    notebook.metadata["course"] = {"assignment": assignment.stem, "version": version}
    nbformat.write(notebook, notebook_file)


def write_open_checks(assignment: Assignment, folder: Path) -> None:
    """All tests, with their evidence: what a class sees after handing in is kept from nobody."""
    write_checks(assignment, folder, hidden=True)
    for record in (folder / "checks").glob("*/record.json"):
        content = json.loads(record.read_text()) | {"hidden": 0}
        record.write_text(json.dumps(content))
        tests = record.with_name("tests.py")
        tests.write_text(tests.read_text().replace("@hidden\n", ""))


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write_files)
