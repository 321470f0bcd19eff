"""Every page in a real browser: nothing from outside, nothing broken, nothing too wide."""

import re
from functools import cache
from importlib.metadata import version
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
import yaml
from bs4 import BeautifulSoup

from autograder.exercises.assignment import load_course

ROOT = Path(__file__).parents[2]
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
CHAPTERS = [TOC["root"], *(entry["file"] for entry in TOC["chapters"])]
PAGES = [*(f"{name}.html" for name in CHAPTERS), "search.html"]
WINDOWS = {"desktop": (1280, 900), "phone": (390, 800), "narrow phone": (320, 640)}

pytestmark = pytest.mark.browser  # also what only reads: the whole book has to be built for it
every_page = pytest.mark.parametrize("page", PAGES)


@cache
def parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(), "html.parser")


def soup(site, page: str) -> BeautifulSoup:
    return parsed(site.folder / page)


def test_the_table_of_contents_lists_every_chapter_in_order():
    written = sorted(path.stem for path in (ROOT / "chapters").glob("[0-9]*.md"))
    assert [Path(name).name for name in CHAPTERS if Path(name).name[0].isdigit()] == written


@every_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_asks_nobody_else_and_breaks_nothing(page, scheme, browser, address):
    with browser.new_context(color_scheme=scheme) as context:
        tab, asked, broken = context.new_page(), [], []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda m: m.type == "error" and broken.append(m.text))
        tab.on("pageerror", lambda error: broken.append(str(error)))
        tab.on("response", lambda r: r.status >= 400 and broken.append(f"{r.status} {r.url}"))
        tab.goto(f"{address}/{page}", wait_until="networkidle")
        assert tab.evaluate("document.documentElement.dataset.theme") == scheme
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    assert broken == []


# what a box that scrolls by itself does not hold back, even where the page hides it
SPILLING = """
() => [...document.querySelectorAll(".bd-article *")].filter(element => {
  if (element.getBoundingClientRect().right <= innerWidth + 1) return false;
  for (let box = element; !box.matches(".bd-article"); box = box.parentElement) {
    const scrolls = !box.matches("section") && getComputedStyle(box).overflowX !== "visible";
    if (scrolls && box.getBoundingClientRect().right <= innerWidth + 1) return false;
  }
  return true;
}).map(element => element.outerHTML.slice(0, 120))
"""


# a full stop or a comma that begins a line, left behind by its formula
LEFT_BEHIND = """
() => [...document.querySelectorAll(".unbroken")].filter(words => {
  const sign = document.createRange();
  sign.selectNodeContents(words.lastChild);
  const [shown] = sign.getClientRects();
  const formula = [...words.querySelectorAll(".base")].at(-1)?.getBoundingClientRect();
  return shown && formula && words.lastChild.data && shown.left < formula.left;
}).map(words => words.textContent)
"""


@every_page
@pytest.mark.parametrize("window", WINDOWS)
def test_a_page_is_no_wider_than_the_window(page, window, browser, address):
    width, height = WINDOWS[window]
    with browser.new_context(viewport={"width": width, "height": height}) as context:
        tab = context.new_page()
        tab.goto(f"{address}/{page}")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate(SPILLING) == []
        assert tab.evaluate(LEFT_BEHIND) == []


LAID_OUT = "<style>section, ::details-content { content-visibility: visible !important }</style>"
"""Nothing is left out for being far away or folded: there Chromium may answer the first question
for a width with 0, and the second with the width."""


@every_page
def test_formulas_are_set_without_javascript(page, browser, address, site):
    formulas = len(soup(site, page).select(".math"))
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"{address}/{page}")
        tab.evaluate("document.fonts.ready")
        tab.evaluate("style => document.head.insertAdjacentHTML('beforeend', style)", LAID_OUT)
        sizes = tab.locator(".math .katex-html").evaluate_all(
            "all => all.map(one => [one.offsetWidth, one.offsetParent !== null])"
        )
        tab.locator("pre").evaluate_all("all => all.forEach(one => one.remove())")
        text = tab.locator("body").inner_text()
    assert len(sizes) == formulas
    assert (formulas > 0) == (Path(page).stem[0].isdigit() or Path(page).stem == "symbols")
    assert all(width > 0 for width, shown in sizes if shown)
    assert not re.search(r"\\frac|\\sum|\\ln|\\operatorname|\$[^$]+\$", text.replace("\n", " "))


def test_the_fonts_of_the_formulas_are_there(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html", wait_until="networkidle")
        used = tab.evaluate(
            "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"
        )
        failed = tab.evaluate(
            "[...document.fonts].filter(f => f.status === 'error').map(f => f.family)"
        )
    assert {"KaTeX_Main", "KaTeX_Math"} <= set(used)
    assert failed == []


@every_page
def test_every_picture_is_there_and_has_words(page, site):
    for picture in soup(site, page).find_all("img"):
        assert ((site.folder / page).parent / picture["src"]).is_file()
        assert len(picture["alt"].split()) >= 4, picture


@every_page
def test_no_formula_has_failed(page, site):
    assert "katex-error" not in (site.folder / page).read_text()


@every_page
def test_every_inner_link_leads_somewhere(page, site):
    here = (site.folder / page).resolve()
    for link in soup(site, page).find_all("a", href=True):
        if re.match(r"\w+:", link["href"]):
            continue
        path, anchor = urldefrag(unquote(link["href"]))
        there = (here.parent / path).resolve() if path else here
        assert there.is_file(), link
        assert not anchor or parsed(there).find(id=anchor), link


@every_page
def test_no_two_things_on_a_page_have_one_name(page, site):
    ids = [element["id"] for element in soup(site, page).find_all(id=True)]
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize("chapter", [name for name in CHAPTERS if Path(name).name[0].isdigit()])
def test_a_chapter_says_by_which_versions_it_was_executed(chapter, site):
    said = soup(site, f"{chapter}.html").find(class_="executed-with").text
    for package in ("numpy", "torch", "matplotlib"):
        assert version(package) in said


def test_search_finds_a_word_and_reads_each_formula_once(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/search.html?q=entropy")
        tab.locator("#search-results li a").first.wait_for()
        tab.locator("#search-results p.context").first.wait_for()
        links = tab.locator("#search-results li a").evaluate_all("all => all.map(a => a.pathname)")
        found = tab.locator("#search-results").inner_text()
    assert "/chapters/03_softmax.html" in links
    assert "\\ln" not in found


@pytest.mark.parametrize("javascript", [True, False])
def test_an_answer_opens_when_something_has_been_chosen(javascript, browser, address):
    with browser.new_context(java_script_enabled=javascript) as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html")
        question = tab.locator(".question", has=tab.locator(".choices")).first
        answer = question.locator("> .answer")
        assert not answer.is_visible()
        question.locator("label").first.click()
        assert answer.is_visible()


def test_a_proof_is_folded_on_the_screen_and_open_in_print(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html")
        idea = tab.locator("details.proof-text > summary").first
        steps = tab.locator("details.proof-text > div").first
        answer = tab.locator(".question > .answer").first
        assert idea.is_visible()
        assert not steps.is_visible()
        tab.emulate_media(media="print")
        assert steps.is_visible()
        assert answer.is_visible()


def test_a_figure_keeps_its_shape_on_a_phone(browser, address):
    with browser.new_context(viewport={"width": 390, "height": 800}) as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html")
        shapes = tab.locator("figure img").evaluate_all(
            "all => all.map(one => [one.width / one.height, one.naturalWidth / one.naturalHeight])"
        )
    assert shapes
    for shown, drawn in shapes:
        assert shown == pytest.approx(drawn, rel=0.02)


def test_a_figure_stands_on_paper_in_the_dark(browser, address):
    with browser.new_context(color_scheme="dark") as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html")
        grounds = tab.locator("figure img").evaluate_all(
            "all => all.map(one => getComputedStyle(one).backgroundColor)"
        )
    assert set(grounds) == {"rgb(255, 255, 255)"}


EXERCISES = [(a, exercise) for a in load_course() for exercise in a.exercises]


@pytest.mark.parametrize(
    ("assignment", "exercise"), EXERCISES, ids=[exercise.name for _, exercise in EXERCISES]
)
def test_an_exercise_stands_in_its_chapter_without_its_answer(
    assignment, exercise, site, solutions_site
):
    page = f"chapters/{assignment.stem}.html"
    public = soup(site, page).find(id=f"ex-{exercise.slug}")
    assert f"Exercise {exercise.number}" in public.find(class_="admonition-title").text
    assert f"level {exercise.level} of 4" in public.text
    assert public.find(class_="solution") is None
    answer = soup(solutions_site, page).find(id=f"ex-{exercise.slug}").find(class_="solution")
    if exercise.kind == "code":
        body = exercise.solution[len(exercise.starter) :].strip().splitlines()[-1].strip()
        assert body in answer.text
        assert body not in soup(site, page).text
        for item, test in zip(public.select(".properties > li"), exercise.tests, strict=True):
            marks = [mark.text for mark in item.select(".mark")]
            assert marks == ["core"] * test.core + ["hidden numbers"] * test.hidden
    elif exercise.kind == "proof":
        assert len(answer.find_all("li")) >= len(exercise.rubric)
    else:
        shown = [strong.text for strong in public.select(".lettered strong")]
        assert shown == [letter for letter, _ in exercise.shown]
        assert ", ".join(exercise.solution) in answer.text


def test_the_contents_say_where_one_reads(browser, address):
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html")
        here = tab.locator("#sections a[data-here]")
        title = tab.locator("#sections a").first.inner_text()
        here.filter(has_text=title).wait_for()
        tab.evaluate("scrollTo(0, document.body.scrollHeight)")
        here.filter(has_not_text=title).wait_for()
        assert here.count() == 1
        tab.evaluate("scrollTo(0, 0)")
        here.filter(has_text=title).wait_for()
