"""A small class, graded once: every kind of submission, one proof marked by hand."""

import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.demo.made_up_class import Class, Member, hand_in
from autograder.exercises.assignment import load_assignment
from autograder.grading.grade_class import grade_class
from autograder.grading.pool import LocalPool
from autograder.paths import ROOT
from tests.shared import let_everybody_enter

STEM = "03_softmax"
PROOF = "variance-in-the-jacobian"
PRINTED = "my own words"
FIGURE = f"import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nprint('{PRINTED}')"
ARGUMENT = (
    r"Since $z^\top J z = \mathrm{Var}_p(z)$, **never** below 0. ![photo](attachment:gone.png)"
)
COMMENT = r"Why is $\mathrm{Var}_p(z) \ge 0$?"


@pytest.fixture(scope="session")
def graded(shared, released_softmax) -> Path:
    """The course folder, which no test may change; `course` is a copy."""
    return shared.get("graded", lambda course: grade_them(released_softmax, course))


def grade_them(released: Path, course: Path) -> None:
    shutil.copytree(released, course, dirs_exist_ok=True)
    let_everybody_enter(course)
    assignment = load_assignment(ROOT / "solutions" / STEM)
    (course / "local_config.py").write_text('c.Book.address = "https://book.example.org/"\n')
    hand_in(course, STEM, list(members(Class(assignment, course))))
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.add_student("absent")
    grade_class(course, STEM, lambda folder, data: LocalPool(folder, STEM, 1))
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Lovelace")
        grade = gradebook.find_grade(PROOF, STEM, STEM, "ada")
        grade.manual_score, grade.needs_manual_grade = 3.0, False
        gradebook.find_comment(PROOF, STEM, STEM, "ada").manual_comment = COMMENT
        gradebook.db.commit()


def members(maker: Class) -> list[Member]:
    ada = maker.kth_mistakes("ada", 0)
    notebook = nbformat.reads(ada.files[f"{STEM}.ipynb"].decode(), as_version=4)
    maker.cell(notebook, PROOF).source = ARGUMENT
    place = notebook.cells.index(maker.cell(notebook, "softmax-check"))
    notebook.cells.insert(place, nbformat.v4.new_code_cell(FIGURE))
    ada.files[f"{STEM}.ipynb"] = nbformat.writes(notebook).encode()
    return [
        ada,
        maker.kth_mistakes("bo", 0),
        maker.model("cy"),
        maker.untouched("di"),
        maker.syntax_error("ed"),
        maker.renamed("flo"),
        maker.no_notebook("gus"),
    ]


@pytest.fixture
def course(graded, tmp_path) -> Path:
    return shutil.copytree(graded, tmp_path / "course")
