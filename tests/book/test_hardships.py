"""Pages on a bad day: no script, no storage, no fonts, little room, a slow line."""

import re

import pytest
from playwright.sync_api import expect

from tests.book.visits import SPILLING

CHAPTER = "chapters/03_softmax.html"

pytestmark = pytest.mark.browser


@pytest.fixture
def open_page(browser, address):
    opened = []

    def go(page=CHAPTER, prepare=None, until="load", **settings):
        context = browser.new_context(**settings)
        opened.append(context)
        tab = context.new_page()
        tab.broken = []
        tab.on("pageerror", lambda error: tab.broken.append(str(error)))
        if prepare:
            prepare(tab)
        tab.goto(f"{address}/{page}", wait_until=until)
        return tab

    yield go
    for context in opened:
        context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_without_javascript_the_menus_lead_on(width, open_page):
    tab = open_page(java_script_enabled=False, viewport={"width": width, "height": 800})
    chapters = tab.locator("nav#chapters")
    if width == 390:
        assert not chapters.is_visible()
        tab.locator("[popovertarget=chapters]").click()
    chapters.get_by_text("Scaling").click()
    tab.wait_for_url("**/04_scaling.html")


def refuse_storage(tab):
    tab.add_init_script("""
        Object.defineProperty(window, "localStorage", {
          configurable: true, get() { throw new DOMException("refused", "SecurityError"); },
        });
    """)


@pytest.mark.parametrize("page", [CHAPTER, "search.html?q=entropy"])
def test_refused_storage_breaks_nothing(page, open_page):
    tab = open_page(page, refuse_storage)
    tab.locator(".colours").click()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    if "q=" in page:
        tab.locator("#search-results li a").first.wait_for()
    assert tab.broken == []


def test_where_fonts_are_refused_formulas_are_still_read(open_page):
    tab = open_page(prepare=lambda tab: tab.route("**/*.woff2", lambda route: route.abort()))
    formula = tab.locator(".katex-display:not(details *) .katex-html").first
    formula.evaluate("one => one.scrollIntoView()")
    expect(formula).to_contain_text("softmax", use_inner_text=True)  # laid out once it is near
    assert formula.bounding_box()["width"] > 100
    assert tab.broken == []


def test_at_four_hundred_per_cent_nothing_is_cut_off(open_page):
    """A window of 1280 by 1024 zoomed four times has room for 320 by 256."""
    tab = open_page(viewport={"width": 320, "height": 256}, device_scale_factor=4)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 320
    assert tab.evaluate(SPILLING) == []
    tab.locator("[popovertarget=chapters]").click()
    last = tab.locator("nav#chapters a").last
    last.scroll_into_view_if_needed()
    assert last.is_visible()


def test_on_a_slow_line_text_is_there_before_fonts_and_pictures(open_page):
    def slow(tab):
        network = tab.context.new_cdp_session(tab)
        network.send("Network.enable")
        speed = {"downloadThroughput": 50_000, "uploadThroughput": 50_000}
        network.send("Network.emulateNetworkConditions", speed | {"offline": False, "latency": 400})
        tab.route(re.compile(r"\.(woff2|png)"), lambda route: None)  # they never come

    tab = open_page(prepare=slow, until="domcontentloaded")
    assert tab.locator("h1").is_visible()
    assert tab.locator(".katex-display:not(details *)").first.bounding_box()["height"] > 20
