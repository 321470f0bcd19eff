"""Every page in a real browser: nothing from outside, nothing broken, nothing too wide."""

import re
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from autograder.exercises.assignment import load_course
from benchmarks.pages import MOST_BYTES
from tests.book.built_pages import CHAPTERS, every_page, names_on, soup
from tests.book.visits import PAPER, WINDOWS

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.browser  # also what only reads: the whole book has to be built for it


def test_the_table_of_contents_lists_every_chapter_in_order():
    written = sorted(path.stem for path in (ROOT / "chapters").glob("[0-9]*.md"))
    assert [Path(name).name for name in CHAPTERS if Path(name).name[0].isdigit()] == written


@every_page
def test_a_page_asks_nobody_else(page, visits, address):
    """Nor its own host for anything outside the folder in which the book stands."""
    visit = visits.of(page)
    assert [url for url in visit.requests if not url.startswith((f"{address}/", "data:"))] == []
    host = address.removesuffix("/courses/attention")
    assert [url for url in visit.links if url.startswith(host) and address not in url] == []


@every_page
def test_a_page_breaks_nothing(page, visits):
    assert visits.of(page).errors == []


@every_page
def test_a_page_is_light_or_dark_as_the_system_is(page, visits):
    assert visits.of(page).themes == {"dark": "dark", "light": "light"}


@every_page
@pytest.mark.parametrize("window", WINDOWS)
def test_a_page_is_no_wider_than_the_window(page, window, visits):
    seen = visits.of(page).windows[window]
    assert seen.width <= WINDOWS[window][0]
    assert seen.spilling == []


@every_page
@pytest.mark.parametrize("window", WINDOWS)
def test_no_line_begins_with_the_sign_that_follows_a_formula(page, window, visits):
    assert visits.of(page).windows[window].left_behind == []


@every_page
def test_a_page_is_light_in_bytes_and_requests(page, visits):
    weight = visits.of(page).weight
    assert weight.bytes <= MOST_BYTES
    assert weight.requests <= 40


@every_page
def test_no_text_jumps_while_a_page_comes_in(page, visits):
    assert visits.of(page).weight.shift <= 0.05


@every_page
def test_formulas_are_set_without_javascript(page, visits, site):
    formulas = len(soup(site, page).select(".math"))
    visit = visits.without_javascript(page)
    assert len(visit.formulas) == formulas
    assert (formulas > 0) == has_formulas(page)
    assert all(width > 0 for width, shown in visit.formulas if shown)
    text = visit.text.replace("\n", " ")
    assert not re.search(r"\\frac|\\sum|\\ln|\\operatorname|\$[^$]+\$", text)


def has_formulas(page: str) -> bool:
    return Path(page).stem[0].isdigit() or Path(page).stem in ("symbols", "kernels_further")


@every_page
def test_the_fonts_of_the_formulas_are_there(page, visits):
    fonts = visits.of(page).fonts
    assert [family for family, status in fonts if status == "error"] == []
    loaded = {family for family, status in fonts if status == "loaded"}
    assert not has_formulas(page) or {"KaTeX_Main", "KaTeX_Math"} <= loaded


@every_page
def test_a_picture_keeps_its_shape_on_a_phone(page, visits):
    for picture in visits.of(page).pictures:
        assert picture["shown"] == pytest.approx(picture["drawn"], rel=0.02)


@every_page
def test_a_picture_stands_on_paper_in_the_dark(page, visits):
    assert {picture["ground"] for picture in visits.of(page).pictures} <= {"rgb(255, 255, 255)"}


@every_page
def test_a_proof_and_an_answer_are_folded_on_the_screen_and_open_in_print(page, visits):
    visit = visits.of(page)
    assert visit.folds_open == []
    assert visit.paper.hidden == []


@every_page
def test_a_page_prints_dark_on_light(page, visits):
    paper = visits.of(page).paper
    assert paper.ground == "rgb(255, 255, 255)"
    for colour in set(paper.inks):
        assert sum(map(int, re.findall(r"\d+", colour)[:3])) < 3 * 128, colour


@every_page
def test_nothing_that_is_pressed_is_printed(page, visits):
    assert visits.of(page).paper.pressed == []


@every_page
def test_nothing_is_cut_off_on_paper(page, visits):
    assert visits.of(page).paper.cut_off == []


@every_page
def test_every_figure_fits_a_sheet_with_its_caption(page, visits):
    assert max(visits.of(page).paper.heights, default=0) < PAPER["height"]


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
        assert not anchor or anchor in names_on(there), link


@every_page
def test_no_two_things_on_a_page_have_one_name(page, site):
    times = Counter(names_on(site.folder / page))
    assert [name for name, many in times.items() if many > 1] == []


@pytest.mark.parametrize("chapter", [name for name in CHAPTERS if Path(name).name[0].isdigit()])
def test_a_chapter_says_by_which_versions_it_was_executed(chapter, site):
    versions = soup(site, f"{chapter}.html").find(class_="executed-with").text
    for package in ("numpy", "torch", "matplotlib"):
        assert version(package) in versions


def test_search_finds_a_word_and_reads_each_formula_once(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/search.html?q=entropy")
        tab.locator("#search-results li a").first.wait_for()
        tab.locator("#search-results p.context").first.wait_for()
        links = tab.locator("#search-results li a").evaluate_all("all => all.map(a => a.pathname)")
        results = tab.locator("#search-results").inner_text()
    assert "/courses/attention/chapters/03_softmax.html" in links
    assert "\\ln" not in results


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


EXERCISES = [(a, exercise) for a in load_course() for exercise in a.exercises]


@pytest.mark.parametrize(
    ("assignment", "exercise"), EXERCISES, ids=[exercise.name for _, exercise in EXERCISES]
)
def test_an_exercise_stands_in_its_chapter_with_its_answer_folded(
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
        fold = public.select_one("details.model-answer")
        assert body in fold.text
        assert not fold.has_attr("open")
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
