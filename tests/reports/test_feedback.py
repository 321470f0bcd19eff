"""The page that a student gets back: complete, harmless, readable, and nothing hidden in it.

How it reads is in tests/messages/test_feedback.py.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from docutils.nodes import make_id
from nbgrader.utils import notebook_hash

from autograder.commands.cli import main
from autograder.exercises.assignment import CodeExercise, load_course
from autograder.grading.journal import Journal
from autograder.grading.redact import WITHHELD
from autograder.paths import ROOT
from autograder.reports import feedback as feedback_module
from autograder.reports.feedback import feedback_page, submissions_of
from autograder.reports.pages import points, sentence
from autograder.reports.results import mended_since
from autograder.typeset.typesetter import Typesetter
from tests.reports.conftest import COMMENT, PRINTED, PROOF, STEM

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def written(graded, tmp_path_factory) -> Path:
    course = shutil.copytree(graded, tmp_path_factory.mktemp("written") / "course")
    done = run("feedback", STEM, "--course", str(course))
    assert done.exit_code == 0, done.output
    assert "7 pages" in done.output
    return course


def run(*words: str):
    return CliRunner().invoke(main, list(words), catch_exceptions=False)


def program(course: Path, *words: str) -> None:
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        words,
        cwd=course,
        env=os.environ | {"PATH": tools},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def page(course: Path, student: str) -> str:
    return (course / "feedback" / student / STEM / f"{STEM}.html").read_text()


def section(html: str, slug: str) -> str:
    return html.partition(f'<section id="{slug}">')[2].partition("</section>")[0]


def gist(part: str) -> str:
    """Below the heading of an exercise: points, and what became of the answer."""
    return part.partition('<p class="facts">')[2].partition(" Read ")[0].rpartition("; ")[2]


def log(course: Path, student: str) -> dict:
    return json.loads((course / "grading" / STEM / f"{student}.json").read_text())


def test_the_total_is_what_the_gradebook_counts(written):
    machine = sum(mark["points"] or 0 for mark in log(written, "ada")["marks"])
    heads = {name: page(written, name).partition("</header>")[0] for name in ("ada", "cy")}
    assert f"<strong>{points(machine + 3)}</strong> of 41" in heads["ada"]
    assert "<strong>37</strong> of 41" in heads["cy"]
    assert "3.7" in heads["cy"] and "3.7" not in heads["ada"], "what waits for a person"


def test_every_property_has_its_verdict_and_a_failed_one_its_mistake_and_question(written):
    findings = {
        mark["cell"].removesuffix("-check"): mark["findings"]
        for mark in log(written, "bo")["marks"]
    }
    assert sum(not f["passed"] for found in findings.values() for f in found) > 5
    for slug, found in findings.items():
        part = section(page(written, "bo"), slug)
        assert part.count('class="sign good"') == sum(f["passed"] for f in found)
        assert part.count('class="sign bad"') == sum(not f["passed"] for f in found)
        for finding in (f for f in found if not f["passed"]):
            block = part.partition(finding["property"].partition("'")[0])[2].partition("</li>")[0]
            assert finding["mistake"].partition("'")[0] in block
            assert sentence(finding["hint"]).partition("'")[0] in block


HIDDEN = "0.123454321"


def test_nothing_of_a_hidden_test_but_property_mistake_and_question(graded, course):
    """The journal has the whole evidence; nothing that a student gets has."""
    with closing(sqlite3.connect(course / "grading" / "journal.db")) as db, db:
        ((text,),) = db.execute("SELECT outcome FROM outcome WHERE student = 'bo'").fetchall()
        outcome = json.loads(text)
        hidden = [
            finding
            for mark in outcome["marks"]
            for finding in mark["findings"]
            if finding["hidden"] and not finding["passed"]
        ]
        assert len(hidden) > 2
        assert all("got" in finding["evidence"] for finding in hidden)
        for finding in hidden:
            finding["evidence"] = f"got {HIDDEN}"
        db.execute("UPDATE outcome SET outcome = ? WHERE student = 'bo'", [json.dumps(outcome)])
    assert run("feedback", STEM, "--course", str(course), "--student", "b*").exit_code == 0
    assert HIDDEN not in page(course, "bo")
    assert page(course, "bo").count(WITHHELD) == len(hidden)
    assert not (course / "feedback" / "ada").exists()


def test_a_proof_comes_back_with_mark_comment_and_set_formulas(written):
    part = section(page(written, "ada"), PROOF)
    assert "3 of 4 points" in part
    assert part.count("<math") == 2
    assert COMMENT not in part  # as a formula, not as TeX between dollars
    assert "<strong>never</strong>" in part
    assert "<img" not in part and "attachment:gone.png" in part, "a picture that is not there"


def test_the_students_own_figure_and_words_are_kept(written):
    part = section(page(written, "ada"), "softmax")
    assert part.count("data:image/png;base64,") == 1
    assert PRINTED in part
    assert "data:image" not in page(written, "bo")


def test_each_submission_that_is_no_answer_is_told_as_what_it_is(written):
    di, ed, gus, cy = (section(page(written, s), "softmax") for s in ("di", "ed", "gus", "cy"))
    states = {s: {m["cell"]: m["state"] for m in log(written, s)["marks"]} for s in ("di", "ed")}
    assert (states["di"]["softmax-check"], states["ed"]["softmax-check"]) == (
        "not attempted",
        "graded",
    )
    assert 'class="fault"' in ed and "SyntaxError" in ed
    assert 'class="fault"' not in di
    assert len({gist(di), gist(ed), gist(gus), gist(cy)}) == 4
    assert "my homework (2).ipynb" in page(written, "flo"), "as it was called"


def test_links_lead_to_places_that_the_book_has():
    """The section that an exercise names is a heading of its chapter; the others have boxes."""
    for assignment in load_course():
        text = (ROOT / "chapters" / f"{assignment.stem}.md").read_text()
        headings = {make_id(title) for title in re.findall(r"^#+ (.+?)\s*$", text, re.MULTILINE)}
        for exercise in assignment.exercises:
            named = isinstance(exercise, CodeExercise) and exercise.section
            assert not named or make_id(named) in headings, f"{assignment.stem}: {named}"


def test_links_begin_with_the_address_of_the_book(written, course):
    address = "https://book.example.org/chapters/03_softmax.html"
    assert f'href="{address}#overflow-underflow-and-a-softmax-that-avoids-them"' in page(
        written, "bo"
    )
    assert f'href="{address}#ex-what-softmax-forgets"' in page(written, "bo")
    (course / "local_config.py").write_text("")
    run("feedback", STEM, "--course", str(course), "--student", "bo")
    assert "“Overflow, underflow, and a softmax that avoids them”" in section(
        page(course, "bo"), "softmax"
    )
    assert "http" not in re.sub(r'"http://www.w3.org/[^"]*"', "", page(course, "bo"))


class _Tags(HTMLParser):
    def __init__(self, html: str):
        super().__init__()
        self.seen: list[tuple[str, dict]] = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "$x$<img src=x onerror=alert(1)>",
        r"$\href{javascript:alert(1)}{x}$ $\url{javascript:alert(1)}$",
        r"$\includegraphics{https://example.org/a.png}$",
        r"$\htmlStyle{background:url(https://example.org/a.png)}{x}$",
        "$</math><script>alert(1)</script>$",
        "\ue0000\ue001 $a$ \ue0007\ue001",
        r"$\def\a{\a\a}\a$",
        "$" + "{" * 3000 + "$",
        "$" + r"\frac{1}{" * 300 + "}" * 300 + "$",
    ],
)
def test_no_formula_and_no_text_acts(text):
    with Typesetter() as typesetter:
        html = typesetter.markdown(text)
    for tag, attributes in _Tags(html).seen:
        assert tag not in ("script", "a", "link", "style")
        assert not any(name.startswith("on") or name in ("href", "src") for name in attributes)
        assert "url(" not in attributes.get("style", "")


@pytest.mark.parametrize(
    ("tex", "before", "after"),
    [
        (r"2 \ln 2", True, True),
        (r"p_j \ln p_j", True, True),
        (r"\ln n", False, True),
        (r"c + \ln(x)", False, False),
        (r"\max_j x_j", False, False),
        (r"x_j", False, False),
    ],
)
def test_a_named_function_stands_apart_as_tex_sets_it(tex, before, after):
    with Typesetter() as typesetter:
        html = typesetter.formula(tex, display=False)
    space = r'<mspace width="0.17em"></mspace>'
    assert (f"{space}<mi>ln<" in html) == before
    assert (f"</mo>{space}" in html) == after


def test_without_katex_a_formula_is_shown_as_it_was_typed(monkeypatch):
    from autograder.typeset import typesetter as text
    from autograder.typeset.katex import NoKatex

    def no_katex():
        raise NoKatex("no network")

    monkeypatch.setattr(text, "katex_files", no_katex)
    with Typesetter() as typesetter:
        assert "<code>x &lt; 1</code>" in typesetter.markdown("$x < 1$")


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_asks_nobody_for_anything_and_fits_a_phone(written, browser, scheme):
    path = written / "feedback" / "ada" / STEM / f"{STEM}.html"
    phone = {"width": 390, "height": 800}
    with browser.new_context(viewport=phone, color_scheme=scheme) as context:
        tab, asked = context.new_page(), []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(path.as_uri())
        assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
        assert tab.locator("math").count() == 2
        assert tab.locator("script").count() == 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_on_paper_no_label_is_parted_from_what_it_names(written, browser):
    path = written / "feedback" / "ada" / STEM / f"{STEM}.html"
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(path.as_uri())
        tab.emulate_media(media="print")
        labels = tab.locator("summary, h2, h3, h2 + .facts")
        kept = labels.evaluate_all("all => all.map(one => getComputedStyle(one).breakAfter)")
    assert len(kept) > 8 and set(kept) == {"avoid"}


def test_nbgrader_hands_the_pages_out_and_writes_the_same_itself(course, tmp_path):
    """Also where somebody's submission never came through the exchange."""
    (course / "submitted" / "ada" / STEM / "submission_secret.txt").write_text("only ada knows")
    (course / "submitted" / "ada" / STEM / "timestamp.txt").write_text("2027-01-02 03:04:05 UTC")
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    with (course / "local_config.py").open("a") as settings:
        settings.write(f'c.Exchange.root = "{exchange}"\n')
    program(course, "course", "feedback", STEM, "--exchange")
    assert "Handed in 02 January 2027, 03:04 UTC" in page(course, "ada")
    checksum = notebook_hash(secret="only ada knows", notebook_id=STEM)
    handed_out = exchange / "mathematics_of_attention" / "feedback" / f"{checksum}.html"
    assert handed_out.read_text() == page(course, "ada")
    ours = page(course, "bo")
    program(course, "nbgrader", "generate_feedback", STEM, "--student", "bo", "--force")
    assert page(course, "bo") == ours


def test_a_test_that_was_mended_since_is_told_where_it_was(course):
    """The student's notebook is of the version before; another exercise has not changed."""
    versions = course / "versions" / f"{STEM}.json"
    ((version, tests),) = json.loads(versions.read_text()).items()
    newer = tests | {"softmax": "0" * 16}
    versions.write_text(json.dumps({version: tests, "1.0+mended": newer}))
    run("feedback", STEM, "--course", str(course), "--student", "[bg]*")
    said = 'class="said"'
    assert section(page(course, "bo"), "softmax").count(said) == page(course, "bo").count(said) == 1
    assert said not in page(course, "gus"), "who handed no notebook in"


def test_a_plain_file_that_was_handed_in_is_told_of_mended_tests_too(course):
    versions = course / "versions" / f"{STEM}.json"
    ((version, tests),) = json.loads(versions.read_text()).items()
    versions.write_text(json.dumps({version: tests, "1.0+mended": tests | {"softmax": "0" * 16}}))
    plain = (course / "release" / STEM / f"{STEM}.py").read_bytes()
    assert mended_since(course, STEM, {f"{STEM}.py": plain}) == {"softmax"}
    assert mended_since(course, STEM, {f"{STEM}.py": b"\xff# version: 9.9"}) == set()


def test_without_grades_it_says_what_to_type(graded, tmp_path):
    course = shutil.copytree(graded, tmp_path / "course")
    (course / "grading" / "journal.db").unlink()
    for verb in ("feedback", "report"):
        done = run(verb, STEM, "--course", str(course))
        assert done.exit_code == 2
        assert "course grade 03_softmax" in done.output


FORGED = "&#xE000;9&#xE001; $a$ \ue0009\ue001 kept-0-9-"


def test_no_students_words_stop_a_page(tmp_path, graded):
    """Marks that stood for formulas could be forged, and one proof ended it for everybody."""
    course = copy_of(graded, tmp_path)
    with Journal(course / "grading" / "journal.db") as journal:
        outcome = journal.last_recorded("ada", STEM)
    notebook = nbformat.reads(outcome.notebook, as_version=4)
    next(cell for cell in notebook.cells if cell.id == PROOF).source = FORGED
    outcome = replace(outcome, notebook=nbformat.writes(notebook))
    (submission,) = submissions_of(course, STEM, [outcome])
    with Typesetter() as typesetter:
        html = feedback_page(course, STEM, submission, typesetter)
    assert html.count("kept-0-9-") >= 1


def test_a_page_that_cannot_be_set_is_plain_text_and_is_told(tmp_path, graded, monkeypatch):
    course, told = copy_of(graded, tmp_path), []

    def page(*given, real=feedback_module.feedback_page):
        if given[2].outcome.student == "bo":
            raise IndexError("in what bo wrote")
        return real(*given)

    monkeypatch.setattr(feedback_module, "feedback_page", page)
    written = feedback_module.write_feedback(
        course, STEM, plain=lambda student, reason: told.append(student)
    )
    assert told == ["bo"] and len(written) > 2
    shown = (course / "feedback" / "bo" / STEM / f"{STEM}.html").read_text()
    assert "softmax-check" in shown and "<script" not in shown


def test_a_folder_that_is_gone_stops_nobodys_page(tmp_path, graded):
    course = copy_of(graded, tmp_path)
    shutil.rmtree(course / "submitted" / "bo")
    students = {one.outcome.student for one in feedback_module.write_feedback(course, STEM)}
    assert {"ada", "bo"} <= students


def copy_of(graded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(graded, tmp_path / "course")
