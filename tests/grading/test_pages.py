"""Nothing that a student writes, names, prints or raises acts in the pages that others open."""

import base64
import io
import re
import shutil
from pathlib import Path

import nbformat
import numpy as np
import pytest

from autograder.demo.attacks import ATTACKS
from autograder.demo.made_up_class import Class, Member, hand_in
from autograder.exercises.assignment import load_assignment
from autograder.grading.grade_class import grade_class
from autograder.grading.pool import LocalPool
from autograder.paths import ROOT
from autograder.release.course_folder import nbgrader_api, nbgrader_configuration
from tests.shared import let_everybody_enter
from tests.typeset.acting import Acts
from tests.typeset.test_sanitise import PROOF, Shown

STEM = "03_softmax"
ASSIGNMENT = load_assignment(ROOT / "solutions" / STEM)
ODD = "x<y and z>w, a<b>c, List<int>, <3, if n<m: ..."
FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"


@pytest.fixture(scope="module")
def course(released_softmax, tmp_path_factory):
    """An honest student, a hostile one, and one who writes < and >: graded, with feedback."""
    course = shutil.copytree(released_softmax, tmp_path_factory.mktemp("class") / "course")
    maker = Class(ASSIGNMENT, course)
    hostile = next(attack for attack in ATTACKS if attack.name == "scripts in every text")
    members = [maker.model("honest"), maker.attack("hostile", hostile)]
    members[0].files[f"{STEM}.ipynb"] = _with_figure_and_photo(members[0].files[f"{STEM}.ipynb"])
    members.append(_with_signs(maker.model("odd")))
    hand_in(course, STEM, members)
    let_everybody_enter(course)
    grade_class(course, STEM, lambda folder, data: LocalPool(folder, STEM, 1))
    result = nbgrader_api(course).generate_feedback(STEM)
    assert result["success"], result["log"]
    return course


def _with_figure_and_photo(data: bytes) -> bytes:
    from PIL import Image

    notebook = nbformat.reads(data.decode(), as_version=4)
    words = next(c for c in notebook.cells if c.cell_type == "markdown" and _is_graded(c))
    words.source = PROOF
    photo = io.BytesIO()
    Image.fromarray(np.full((8, 8, 3), 200, np.uint8)).save(photo, "PNG")
    words.attachments = {"a.png": {"image/png": base64.b64encode(photo.getvalue()).decode()}}
    notebook.cells.append(nbformat.v4.new_code_cell(FIGURE))
    return nbformat.writes(notebook).encode()


def _with_signs(member: Member) -> Member:
    """In a proof, in an exception, in what a cell prints and in the name of the file."""
    notebook = nbformat.reads(member.files.pop(f"{STEM}.ipynb").decode(), as_version=4)
    words = next(c for c in notebook.cells if c.cell_type == "markdown" and _is_graded(c))
    words.source = ODD
    answer = next(c for c in notebook.cells if c.source.startswith("library"))
    answer.source += f"\nprint({ODD!r})\nraise ValueError({ODD!r})\n"
    member.files[f"{ODD}.ipynb"] = nbformat.writes(notebook).encode()
    return member


def _is_graded(cell) -> bool:
    return cell.metadata.get("nbgrader", {}).get("grade", False)


def feedback(course: Path, student: str) -> str:
    return (course / "feedback" / student / STEM / f"{STEM}.html").read_text()


def for_marking(course: Path, student: str) -> str:
    """The page of nbgrader's formgrader, made as its server extension makes it."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.server_extensions.formgrader import handlers

    config = nbgrader_configuration(course)
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    known = ("assignment_id", "notebook_id", "submission_id", "base_url", "student")
    resources = dict.fromkeys((*known, "last_name", "first_name", "notebook_path"), "x")
    notebook = course / "autograded" / student / STEM / f"{STEM}.ipynb"
    more = {"index": 0, "total": 2}
    return HTMLExporter(config=config).from_filename(str(notebook), resources | more)[0]


@pytest.mark.whole
@pytest.mark.parametrize("page", [feedback, for_marking])
def test_a_hostile_page_does_nothing_that_an_honest_one_does_not(course, page):
    """Each script and each form in it is the template's own."""
    honest, hostile = page(course, "honest"), page(course, "hostile")
    assert "alert(" in hostile  # it is shown
    assert set(Acts(hostile).found) <= set(Acts(honest).found)
    assert "\x1b" not in hostile


@pytest.mark.whole
@pytest.mark.parametrize("page", [feedback, for_marking])
def test_figures_formulas_and_photos_are_in_the_page(course, page):
    found = page(course, "honest")
    assert found.count("data:image/png;base64,") == 2
    assert r"e^{x_j} &lt; \sum_i e^{x_i}" in found


@pytest.mark.whole
@pytest.mark.parametrize(
    "page, times",
    [(feedback, 5), (for_marking, 3)],
    ids=["feedback", "formgrader"],
)
def test_what_looks_like_a_tag_is_shown_wherever_it_was_written(course, page, times):
    """In the proof, in the exception, in what was printed, in the file's name."""
    shown = Shown(page(course, "odd")).text
    assert shown.count(ODD) >= times


@pytest.mark.whole
def test_the_formgrader_asks_for_nothing_outside(course):
    page = for_marking(course, "honest")
    assert "cdnjs" not in page and "init_mathjax" not in page
    assert not re.findall(
        r"""<(?:script|img|link|iframe)[^>]*(?:src|href)=["']?(?:https?:)?//""", page
    )
