"""A chapter on paper: the text alone, light, all of it there, nothing cut off."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

CHAPTERS = sorted(path.stem for path in Path(__file__).parents[2].glob("chapters/[0-9]*.md"))
PAPER = {"width": 672, "height": 980}  # A4 less its margins, in the pixels of a style sheet
CUT_OFF = """() => [...document.querySelectorAll(".bd-article :is(pre, figure, img, table, .math)")]
  .filter(one => one.checkVisibility())
  .filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline"
                 || one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => one.outerHTML.slice(0, 120))"""

PRESSED = "nav, header.bar, .headerlink, .prev-next-area, .bd-article button, input[type=range]"


@pytest.mark.parametrize("page", ["03_softmax", "exercises"])
def test_a_page_prints_light_and_without_navigation(page, browser, address):
    with browser.new_context(color_scheme="dark") as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/{page}.html", wait_until="networkidle")
        paper = tab.pdf(format="A4")
        tab.emulate_media(media="print", color_scheme="dark")
        seen = tab.locator(PRESSED).evaluate_all(
            "all => all.filter(one => one.checkVisibility()).map(one => one.outerHTML)"
        )
        ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        ink = tab.evaluate("getComputedStyle(document.querySelector('main p')).color")
        code = tab.locator(".highlight span.kn").evaluate_all(
            "all => all.map(one => getComputedStyle(one).color)"
        )
    assert paper.startswith(b"%PDF")
    assert seen == []
    assert ground == "rgb(255, 255, 255)"
    for colour in {ink, *code}:
        assert sum(map(int, re.findall(r"\d+", colour)[:3])) < 3 * 128, colour


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_nothing_is_cut_off_and_every_figure_fits_a_page_with_its_caption(
    chapter, browser, address
):
    with browser.new_context(viewport=PAPER) as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/{chapter}.html")
        tab.emulate_media(media="print")
        assert tab.evaluate(CUT_OFF) == []
        heights = tab.locator("figure").evaluate_all("all => all.map(one => one.offsetHeight)")
    assert max(heights) < PAPER["height"], heights


def test_an_exercise_prints_with_its_starter_or_with_what_was_written(browser, address):
    with browser.new_context(viewport=PAPER) as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html", wait_until="networkidle")
        first, other = (tab.locator(f"#ex-{name} .try") for name in ("softmax", "logsumexp"))
        first.locator(".try-open").click()
        text = first.locator("textarea")
        text.fill("x = 1\n" * 80)
        tab.emulate_media(media="print")
        assert text.evaluate("one => one.clientHeight >= one.scrollHeight")
        assert other.locator("pre").is_visible()
        for kind in ("button", ".try-keys", ".try-not", ".try-status"):
            assert not any(one.is_visible() for one in tab.locator(f".try {kind}").all()), kind


def test_the_answer_to_a_question_is_named_as_such(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html")
        tab.emulate_media(media="print")
        answer = tab.locator(".question > .answer:not(details)").first
        assert answer.is_visible()
        assert answer.evaluate("one => getComputedStyle(one, '::before').content") == '"Answer"'
