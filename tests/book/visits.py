"""Each page opened once with JavaScript and once without; what was seen is kept as data.

A page costs seconds to load, a question about it milliseconds. So a page is loaded by a phone, in
the dark, from a folder of its host, all that it asks for is noted, it is read to its end; then the
same tab becomes a sheet of paper, a light desktop, a narrow phone. Tests compare what was noted, in
any order, and none can spoil the page for another.
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from playwright.sync_api import Browser, Page
from playwright.sync_api import Error as PlaywrightError

from benchmarks.pages import PHONE, SETTLED, Weight, weigh

Seen = TypeVar("Seen")

WINDOWS = {"desktop": (1280, 900), "phone": (390, 800), "narrow phone": (320, 640)}
PAPER = {"width": 672, "height": 980}  # A4 less its margins, in the pixels of a style sheet

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

CUT_OFF = """() => [...document.querySelectorAll(".bd-article :is(pre, figure, img, table, .math)")]
  .filter(one => one.checkVisibility())
  .filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline"
                 || one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => one.outerHTML.slice(0, 120))"""

LAID_OUT = "section, ::details-content { content-visibility: visible !important }"
"""Nothing is left out for being far away or folded: there Chromium may answer the first question
for a width with 0, and the second with the width."""

PRESSED = "nav, header.bar, .headerlink, .prev-next-area, .bd-article button, input[type=range]"
FOLDED = "details.proof-text > div, .question > .answer:not(details)"

PICTURES = """() => [...document.querySelectorAll("figure img")].map(one => ({
  shown: one.width / one.height,
  drawn: one.naturalWidth / one.naturalHeight,
  ground: getComputedStyle(one).backgroundColor,
}))"""
FONTS = "() => [...document.fonts].map(({family, status}) => [family, status])"
LINKS = "() => [...document.querySelectorAll('a[href]')].map(one => one.href)"
SEEN = """([selector, seen]) => [...document.querySelectorAll(selector)]
  .filter(one => one.checkVisibility() === seen).map(one => one.outerHTML.slice(0, 120))"""
COLOURS = """selector => [...document.querySelectorAll(selector)]
  .map(one => getComputedStyle(one).color)"""
THEME = "document.documentElement.dataset.theme"


@dataclass(frozen=True)
class Window:
    """How a page stands in a window; the elements are named by how their HTML begins."""

    width: int  # of all that can be scrolled to
    spilling: list[str]
    left_behind: list[str]


@dataclass(frozen=True)
class Paper:
    """What a page looks like in print."""

    ground: str
    inks: list[str]
    pressed: list[str]
    hidden: list[str]
    cut_off: list[str]
    heights: list[int]  # of the figures with their captions


@dataclass(frozen=True)
class Visit:
    """What a page did with JavaScript."""

    requests: list[str]
    errors: list[str]
    weight: Weight
    themes: dict[str, str]  # asked for: shown
    fonts: list[tuple[str, str]]
    links: list[str]
    pictures: list[dict]  # in the dark, on a phone
    folds_open: list[str]
    paper: Paper
    windows: dict[str, Window]


@dataclass(frozen=True)
class PlainVisit:
    """What a page showed without JavaScript."""

    formulas: list[tuple[int, bool]]  # width, and whether it is in no closed fold
    text: str


class Visits:
    """Opens a page when it is first asked for."""

    def __init__(self, browser: Browser, address: str):
        self.browser, self.address = browser, address
        self.of = once(self._visit)
        self.without_javascript = once(self._plain_visit)

    def _visit(self, page: str) -> Visit:
        with self.browser.new_context(color_scheme="dark", viewport=PHONE) as context:
            tab = context.new_page()
            requests, errors = noted(tab)
            weight = weigh(tab, f"{self.address}/{page}")
            in_the_dark = {
                "fonts": tab.evaluate(FONTS),
                "links": tab.evaluate(LINKS),
                "pictures": tab.evaluate(PICTURES),
                "folds_open": tab.evaluate(SEEN, [FOLDED, True]),
            }
            themes = {"dark": tab.evaluate(THEME)}
            paper = in_print(tab)
            tab.emulate_media(media="screen", color_scheme="light")
            tab.evaluate(SETTLED)
            themes["light"] = tab.evaluate(THEME)
            tab.add_style_tag(content=LAID_OUT)
            windows = {name: in_a_window(tab, *size) for name, size in WINDOWS.items()}
        return Visit(requests, errors, weight, themes, paper=paper, windows=windows, **in_the_dark)

    def _plain_visit(self, page: str) -> PlainVisit:
        with self.browser.new_context(java_script_enabled=False) as context:
            tab = context.new_page()
            tab.goto(f"{self.address}/{page}")
            tab.evaluate("document.fonts.ready")
            style = f"<style>{LAID_OUT}</style>"
            tab.evaluate("style => document.head.insertAdjacentHTML('beforeend', style)", style)
            formulas = tab.locator(".math .katex-html").evaluate_all(
                "all => all.map(one => [one.offsetWidth, one.offsetParent !== null])"
            )
            tab.locator("pre").evaluate_all("all => all.forEach(one => one.remove())")
            return PlainVisit(formulas, tab.locator("body").inner_text())


def once(open_page: Callable[[str], Seen]) -> Callable[[str], Seen]:
    """The same, but no page is opened twice; not even one that fails, which takes longest."""
    results: dict[str, Future[Seen]] = {}

    def result(page: str) -> Seen:
        if page not in results:
            results[page] = Future()
            try:
                results[page].set_result(open_page(page))
            except PlaywrightError as error:
                results[page].set_exception(error)
        return results[page].result()

    return result


def noted(tab: Page) -> tuple[list[str], list[str]]:
    """All that the tab asks for, and all that goes wrong in it, from now on."""
    requests: list[str] = []
    errors: list[str] = []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("console", lambda m: m.type == "error" and errors.append(m.text))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("response", lambda r: r.status >= 400 and errors.append(f"{r.status} {r.url}"))
    return requests, errors


def in_print(tab: Page) -> Paper:
    tab.set_viewport_size(PAPER)
    tab.emulate_media(media="print", color_scheme="dark")
    tab.evaluate(SETTLED)
    return Paper(
        ground=tab.evaluate("getComputedStyle(document.body).backgroundColor"),
        inks=tab.evaluate(COLOURS, "main p, .highlight span.kn"),
        pressed=tab.evaluate(SEEN, [PRESSED, True]),
        hidden=tab.evaluate(SEEN, [FOLDED, False]),
        cut_off=tab.evaluate(CUT_OFF),
        heights=tab.locator("figure").evaluate_all("all => all.map(one => one.offsetHeight)"),
    )


def in_a_window(tab: Page, width: int, height: int) -> Window:
    tab.set_viewport_size({"width": width, "height": height})
    tab.evaluate(SETTLED)
    return Window(
        tab.evaluate("document.documentElement.scrollWidth"),
        tab.evaluate(SPILLING),
        tab.evaluate(LEFT_BEHIND),
    )
