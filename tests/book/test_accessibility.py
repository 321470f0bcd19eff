"""Every page for those who cannot see it, cannot use a mouse, or see little."""

import re
from pathlib import Path

import pytest

from benchmarks.pages import axe_violations
from course_lib import plots
from tests.book.built_pages import CHAPTERS, every_page, soup

ROOT = Path(__file__).parents[2]
MOVING = (ROOT / "autograder/book/static/figures/figures.css").read_text()

pytestmark = pytest.mark.browser


@pytest.fixture
def tab(browser):
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        yield context.new_page()


IN_USE = """
() => {
  const all = (where, selector) => [...where.querySelectorAll(selector)];
  all(document, ".choices").forEach(one => one.querySelector("input").click());
  all(document, ".proof-blocks").forEach(
    proof => all(proof, ".offered .move-in").slice(0, 3).forEach(one => one.click()));
  all(document, ".try-open").forEach(one => one.click());
}"""


def put_to_use(tab):
    """Answers chosen, proofs begun, figures awake, every cell open, an answer checked in one."""
    tab.wait_for_load_state("networkidle")
    for figure in tab.locator("[data-figure]").all():
        figure.evaluate("one => one.scrollIntoView()")
        figure.locator("fieldset:enabled").wait_for()
    tab.evaluate(IN_USE)
    cells = tab.locator(".try")
    if cells.count():
        cells.first.get_by_role("button", name="Check", exact=True).click()
        cells.first.locator("[data-verdict]").wait_for(timeout=120_000)


@pytest.mark.slow
@every_page
def test_axe_finds_nothing_in_light_dark_and_on_a_phone(page, tab, address):
    tab.goto(f"{address}/{page}")
    put_to_use(tab)
    assert axe_violations(tab) == []
    tab.emulate_media(color_scheme="dark")
    tab.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert axe_violations(tab, "color-contrast", "link-in-text-block") == []
    tab.set_viewport_size({"width": 390, "height": 800})
    for menu in ("chapters", "sections"):
        if tab.locator(f"[popovertarget={menu}]").count():
            tab.locator(f"[popovertarget={menu}]").click()
            assert axe_violations(tab) == []
            tab.keyboard.press("Escape")


@pytest.mark.parametrize("page", ["search.html", "chapters/references.html"])
def test_axe_finds_nothing_on_a_short_page(page, tab, address):
    tab.goto(f"{address}/{page}")
    assert axe_violations(tab) == []


def test_a_fault_is_found(tab):
    tab.set_content("<main><h1>Bad</h1><img src='x.png'><p style='color: #ccc'>pale</p></main>")
    violations = " ".join(axe_violations(tab))
    assert all(rule in violations for rule in ("image-alt", "color-contrast", "html-has-lang"))


FOCUS = """
() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return {tag: one.tagName, text: one.textContent.trim().slice(0, 40), ring};
}"""


def test_the_keyboard_reaches_everything_and_leaves_again(tab, address):
    tab.goto(f"{address}/chapters/03_softmax.html")
    tab.keyboard.press("Tab")
    assert tab.evaluate(FOCUS)["text"] == "Skip to the text"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main-content"
    stops = []
    for _ in range(500):
        tab.keyboard.press("Tab")
        stops.append(tab.evaluate(FOCUS))
        if stops[-1]["tag"] == "BODY":
            break
    assert stops[-1]["tag"] == "BODY", "the keyboard is trapped"
    assert [stop for stop in stops[:-1] if not stop["ring"]] == []
    tags = {stop["tag"] for stop in stops}
    assert {"A", "SUMMARY", "INPUT"} <= tags


def test_a_menu_opens_and_closes_by_keyboard_and_gives_the_focus_back(tab, address):
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.goto(f"{address}/chapters/03_softmax.html")
    opener, menu = tab.locator("[popovertarget=chapters]"), tab.locator("nav#chapters")
    opener.focus()
    tab.keyboard.press("Enter")
    assert menu.is_visible()
    tab.keyboard.press("Tab")
    assert menu.locator("a").first.evaluate("one => one === document.activeElement")
    tab.keyboard.press("Escape")
    assert not menu.is_visible()
    assert opener.evaluate("one => one === document.activeElement")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_formula_is_there_as_mathml(chapter, site):
    for formula in soup(site, f"{chapter}.html").select(".katex"):
        assert formula.select_one(".katex-mathml math semantics"), formula
        assert formula.select_one(".katex-html")["aria-hidden"] == "true"


def contrast(colour: str, ground: str) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21."""

    def luminance(name: str) -> float:
        channels = [int(name[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted(map(luminance, (colour, ground)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_words_and_lines_of_plots_stand_out_from_their_paper():
    assert min(contrast(colour, "#ffffff") for colour in (plots.INK, plots.MUTED)) >= 4.5
    assert min(contrast(colour, "#ffffff") for colour in plots.COLOURS) >= 4.5


@pytest.mark.parametrize("block", re.findall(r"\.moving-figure \{\n(.*?)\n\}", MOVING, re.DOTALL))
def test_words_and_lines_of_moving_figures_stand_out_from_their_paper(block):
    colours = dict(re.findall(r"--(\w+): (#\w+)", block))
    paper = colours.pop("paper").ljust(7, "f")
    for name in ("ink", "muted", "who0", "who1", "who2", "who3"):
        assert contrast(colours[name], paper) >= 4.5, name
