"""Nothing that a student writes, names, prints or raises acts in the pages that others open."""

import base64
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import numpy as np
import pytest
from jinja2 import Environment

from autograder.demo.attacks import ATTACKS
from autograder.demo.attacks.notebooks import PAGE
from autograder.demo.made_up_class import Class, hand_in
from autograder.exercises.assignment import load_assignment
from autograder.grading.grade_class import grade_class
from autograder.grading.pool import LocalPool
from autograder.paths import ROOT
from autograder.release.build import make_release
from autograder.release.course_folder import nbgrader_api, nbgrader_configuration
from autograder.typeset.sanitise import LETTERS, markdown_to_html

STEM = "03_softmax"
ASSIGNMENT = load_assignment(ROOT / "solutions" / STEM)
PROOF = r"Since $e^{x_j} < \sum_i e^{x_i}$, **each** weight is below 1. ![photo](attachment:a.png)"
FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
_ACTING = "script iframe object embed form input button base meta link svg math style video audio"
ACTING = _ACTING.split()


class _Acts(HTMLParser):
    """What in a page does something by itself, or when it is clicked."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._in_script = False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self._in_script = tag == "script"
        if tag in ACTING:
            self.found.append(f"{tag} {dict(attributes)}")
        for name, value in attributes:
            address = re.sub(r"[\s\x00-\x1f]", "", value or "").lower()
            goes = name in ("href", "src", "action", "xlink:href", "srcdoc", "data")
            safe = address.startswith(("#", "http:", "https:", "mailto:", "data:image/png;", "/"))
            if name.startswith("on") or name in ("style", "srcset") or (goes and not safe):
                self.found.append(f"{tag} {name}={value}")

    def handle_data(self, data):
        if self._in_script:
            self.found[-1] += data

    def handle_endtag(self, tag):
        self._in_script = False


def rendered(text: str, **cell) -> str:
    environment = Environment()
    environment.filters["set"] = markdown_to_html
    return environment.from_string("{{ text | set }}").render(text=text, cell=cell)


@pytest.mark.parametrize(
    "text",
    [
        *PAGE.splitlines(),
        "<scr<script>ipt>alert(1)</script>",
        "[a](JaVaScRiPt:alert(1))",
        "[a](java\tscript:alert(1)) [b](&#106;avascript:alert(1)) [c](\x01javascript:alert(1))",
        "<a href='vbscript:x'>a</a><a href=' javascript:alert(1)'>b</a>",
        '![a](x" onerror="alert(1))',
        '![a](data:image/svg+xml;base64,PHN2Zz4= "b")',
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
        '```"><script>alert(1)</script>\nx\n```',
        "```python onload=alert(1)\nx = '<script>'\n```",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "<b class='full-credit' id='statusmessage' data-link='x'>a</b>",
        "| a |\n|:-:|\n| <img src=x onerror=alert(1)> |",
        "# a <svg onload=alert(1)>",
        "$x$<script>alert(1)</script>$y$ $$</script><script>alert(1)</script>$$",
        r"\begin{align}<img src=x onerror=alert(1)>\end{align}",
        "<" * 1000 + "script>",
    ],
)
def test_nothing_in_a_text_acts(text):
    page = rendered(text)
    assert _Acts(page).found == []
    assert "full-credit" not in page or "class=" not in page


def test_what_a_proof_needs_stays():
    photo = base64.b64encode(b"\x89PNG").decode()
    page = rendered(PROOF, attachments={"a.png": {"image/png": photo}})
    assert r"$e^{x_j} &lt; \sum_i e^{x_i}$" in page
    assert "<strong>each</strong>" in page
    assert f'src="data:image/png;base64,{photo}"' in page
    table = rendered("| a | b |\n|---|---|\n| 1 | [c](https://example.org) |\n\n- x\n\n> y\n\n`z`")
    for tag in ("<table>", "<td>", "<li>", "<blockquote>", "<code>", 'href="https://example.org"'):
        assert tag in table
    assert '<span class="n">x</span>' in rendered("```python\nx = 1\n```")


def test_a_text_without_end_is_cut_and_says_so():
    page = rendered("a " * LETTERS)
    assert len(page) < 2 * LETTERS
    assert f"{LETTERS} letters more" in page


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """An honest student and a hostile one, graded, with feedback for both."""
    course = tmp_path_factory.mktemp("course")
    make_release(ASSIGNMENT, course)
    maker = Class(ASSIGNMENT, course)
    hostile = next(attack for attack in ATTACKS if attack.name == "scripts in every text")
    members = [maker.model("honest"), maker.attack("hostile", hostile)]
    members[0].files[f"{STEM}.ipynb"] = _with_figure_and_photo(members[0].files[f"{STEM}.ipynb"])
    hand_in(course, STEM, members)
    for folder in (course, *course.parents[:2]):
        folder.chmod(0o755)
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
    assert set(_Acts(hostile).found) <= set(_Acts(honest).found)
    assert "\x1b" not in hostile


@pytest.mark.whole
@pytest.mark.parametrize("page", [feedback, for_marking])
def test_figures_formulas_and_photos_are_in_the_page(course, page):
    found = page(course, "honest")
    assert found.count("data:image/png;base64,") == 2
    assert r"e^{x_j} &lt; \sum_i e^{x_i}" in found
