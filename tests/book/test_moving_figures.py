"""Figures that move, in a real browser: their numbers, their controls, and how they stand still."""

import gzip
import json
import re
import shutil
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Page

from autograder.book import figures
from autograder.book.figures import DATA, MODULES, draw
from benchmarks.pages import SETTLED, WATCH_SHIFTS
from course_lib import attend, attention_vjp, island, plots
from tests.book.built_pages import soup
from tests.book.conftest import served
from tests.book.formulas_of_figures import EXPECTED

pytestmark = pytest.mark.browser

every_figure = pytest.mark.parametrize("name", DATA)
PAGE = """<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>x</title>
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="course.css">
<link rel="stylesheet" href="static/figures/figures.css">
<script type="module" src="static/figures/start.js"></script>
<main class="bd-article"><figure class="moving">{}</figure><p>after</p></main></html>"""
COMPUTE = """async ([name, states, data]) => {
  const { compute } = await import(`./static/figures/${name}.js`);
  return states.map(state => compute(state, data));
}"""
SCRIPTS = """performance.getEntriesByType("resource")
  .map(entry => new URL(entry.name).pathname).filter(path => path.endsWith(".js"))"""
SENTENCE_CHANGED = "was => document.querySelector('.said').textContent !== was"


@pytest.fixture(scope="module")
def figure_host(tmp_path_factory):
    """Where one page for each figure is served."""
    folder = tmp_path_factory.mktemp("figures")
    (folder / "static").symlink_to(MODULES.parent)
    styles = sorted((MODULES.parents[1] / "styles").glob("*.css"))
    (folder / "course.css").write_text("\n".join(path.read_text() for path in styles))
    for name in DATA:
        (folder / f"{name}.html").write_text(PAGE.format(draw(name)))
    with served(folder) as address:
        yield address


@pytest.fixture
def opened(browser, figure_host):
    """Open the page of a figure and wait until it moves."""
    contexts, errors = [], []

    def open_page(name, **options):
        contexts.append(browser.new_context(**options))
        tab = contexts[-1].new_page()
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(f"{figure_host}/{name}.html")
        if options.get("java_script_enabled", True):
            tab.wait_for_selector("[data-started]")
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


@dataclass(frozen=True)
class Awake:
    """A figure that has woken, and what was seen meanwhile."""

    tab: Page
    errors: list[str]
    scripts: set[str]
    shift: float
    width: int

    def at_the_beginning(self) -> Page:
        """The same for every test: no glide is left, since the reader wants no motion."""
        self.tab.locator(".back").click()
        return self.tab


@pytest.fixture(scope="module")
def awake(browser, figure_host):
    """Each figure in a wide and in a narrow window, opened once for all tests."""

    @cache
    def open_once(name, width=1280):
        viewport = {"width": width, "height": 900}
        context = stack.enter_context(
            browser.new_context(viewport=viewport, reduced_motion="reduce")
        )
        tab, errors = context.new_page(), []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.add_init_script(WATCH_SHIFTS)
        tab.goto(f"{figure_host}/{name}.html")
        tab.wait_for_selector("[data-started]")
        tab.evaluate(SETTLED)
        shift, scripts = tab.evaluate("shiftUntilNow()"), set(tab.evaluate(SCRIPTS))
        wide = tab.evaluate("document.documentElement.scrollWidth")
        return Awake(tab, errors, scripts, shift, wide)

    with ExitStack() as stack:
        yield open_once


def assert_same(got, expected, path):
    """Nested numbers, equal to 1e-6; NaN is a number here."""
    if isinstance(expected, dict):
        for key in expected:
            assert_same(got[key], expected[key], f"{path}.{key}")
    elif isinstance(expected, str | bool | None):
        assert got == expected, path
    else:
        expected = np.asarray(expected, dtype=float)
        got = np.asarray(got, dtype=float)
        assert got.shape == expected.shape, path
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6, err_msg=path)


UNTITLED = """
const drawing = {name: "dial", width: 1, height: 1, body: "", says: "A dial."};
export const controls = () => [], compute = () => ({}), panels = () => [drawing];
export const table = () => ({head: [], body: []}), say = () => "";
"""


def test_a_panel_without_a_title_is_refused_with_its_file_and_what_to_do(tmp_path, monkeypatch):
    """It was drawn, and its page said "undefined"."""
    monkeypatch.setattr(figures, "MODULES", tmp_path / "static" / "figures")
    shutil.copytree(MODULES.parent, tmp_path / "static")
    (figures.MODULES / "two_hands.js").write_text(UNTITLED)
    with pytest.raises(figures.NotDrawn) as refusal:
        draw("two_hands")
    for part in ("static/figures/two_hands.js", 'its panel "dial" has no title', "panels()"):
        assert part in str(refusal.value)
    titled = UNTITLED.replace("width", 'title: "the dial", width')
    (figures.MODULES / "two_hands.js").write_text(titled)
    assert "the dial" in draw("two_hands")


@every_figure
def test_a_figure_computes_what_course_lib_computes(name, awake):
    rng, data = np.random.default_rng(20), DATA[name]()
    states, expected = zip(*(EXPECTED[name](rng, data) for _ in range(300)), strict=True)
    got = awake(name).tab.evaluate(COMPUTE, [name, list(states), data])
    for state, ours, theirs in zip(states, got, expected, strict=True):
        assert_same(ours, theirs, f"{name} at {state}")


@every_figure
def test_every_control_is_moved_by_keyboard_and_by_typing(name, opened):
    tab = opened(name)
    sentence = tab.locator(".said")
    for slider in tab.locator("input[type=range]").all():
        label = slider.get_attribute("data-name")
        typed = tab.locator(f"input[type=number][data-name={label}]")
        first, before = typed.input_value(), sentence.inner_text()
        slider.focus()
        for _ in range(3):
            tab.keyboard.press("ArrowRight")
        if typed.input_value() == first:  # it stood at its end
            tab.keyboard.press("ArrowLeft")
        assert typed.input_value() != first, label
        spoken = slider.get_attribute("aria-valuetext")
        assert spoken.startswith(typed.input_value()), label
        tab.wait_for_function(SENTENCE_CHANGED, arg=before)
        moved = typed.input_value()
        typed.fill(typed.get_attribute("min") if moved == first else first)
        assert slider.get_attribute("aria-valuetext").startswith(typed.input_value())
        typed.fill("")
        typed.blur()
        assert typed.input_value() != "", label


@every_figure
def test_switches_and_buttons_are_moved_by_keyboard(name, awake):
    tab = awake(name).at_the_beginning()
    for control in tab.locator(
        "fieldset :is(.controls input[type=checkbox], button[data-name])"
    ).all():
        before = tab.locator(".values table").inner_html()
        control.focus()
        tab.keyboard.press("Space")
        assert (
            tab.locator(".values table").text_content() != BeautifulSoup(before, "html.parser").text
        )
    tab.locator(".back").press("Enter")
    fresh = BeautifulSoup(draw(name), "html.parser")
    assert tab.locator(".values table").text_content() == fresh.select_one(".values table").text


@every_figure
def test_a_figure_stands_without_javascript(name, opened):
    tab = opened(name, java_script_enabled=False)
    for drawn in tab.locator("svg").all():
        assert drawn.bounding_box()["height"] > 100
        assert len(drawn.get_attribute("aria-label").split()) > 3
    assert len(tab.locator(".said").inner_text()) > 20
    assert tab.locator(".values tbody tr").count() >= 2
    assert tab.locator(".controls input").first.is_disabled()
    assert tab.locator(".needs-javascript").is_visible()


@every_figure
@pytest.mark.parametrize("width", [1280, 320])
def test_nothing_shifts_when_a_figure_wakes(name, width, awake):
    assert awake(name, width).shift == 0
    assert awake(name, width).width <= width


@every_figure
def test_waking_changes_no_picture(name, awake):
    still = BeautifulSoup(draw(name), "html.parser").find_all("svg")
    tab = awake(name).at_the_beginning()
    for drawn, svg in zip(still, tab.locator("svg").all(), strict=True):
        awake = BeautifulSoup(svg.evaluate("svg => svg.outerHTML"), "html.parser").svg
        assert awake.text == drawn.text
        assert shapes(awake) == shapes(drawn)


def shapes(svg):
    """What is drawn, but for the ghost of an earlier answer, to as many digits as matter."""
    drawn = [shape for shape in svg.find_all(True) if shape.get("class") != ["ghost"]]
    lines = "\n".join([svg["aria-label"], *(f"{shape.name} {shape.attrs}" for shape in drawn)])
    return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.6f}", lines)


@every_figure
def test_nothing_goes_wrong_in_a_figure(name, awake):
    for width in (1280, 320):
        figure = awake(name, width)
        figure.at_the_beginning()
        assert figure.errors == []


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_figure_jumps_for_those_who_want_no_motion(motion, opened):
    tab = opened("softmax_temperature", reduced_motion=motion)
    tab.locator("input[type=number][data-name=angle]").fill("200")
    at_once = tab.evaluate("""() => {
      document.querySelector(".back").click();
      return document.querySelector("[type=number][data-name=angle]").value;
    }""")
    assert at_once == {"reduce": "0", "no-preference": "200"}[motion]
    tab.wait_for_function("document.querySelector('[type=number][data-name=angle]').value === '0'")


def middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_hand_is_dragged_by_mouse(opened):
    tab = opened("softmax_temperature")
    box = tab.locator("[data-panel=dial] .ring").bounding_box()
    x, y = middle(box)
    tab.mouse.move(*middle(tab.locator(".grip").bounding_box()))
    tab.mouse.down()
    for part in (1, 2, 3):
        tab.mouse.move(x + (3 - part) * box["width"] / 8, y - part * box["height"] / 8)
    tab.mouse.up()
    assert tab.locator("input[type=number][data-name=angle]").input_value() == "90"
    tab.mouse.move(x, y + box["height"] / 3)
    assert tab.locator("input[type=number][data-name=angle]").input_value() == "90"


def test_a_finger_drags_the_hand_and_scrolls_beside_it(opened):
    tab = opened("softmax_temperature", has_touch=True, viewport={"width": 390, "height": 500})
    angle = tab.locator("input[type=number][data-name=angle]")
    wire = tab.context.new_cdp_session(tab)

    def swipe(x, y, to_x, to_y):
        steps = [(x + (to_x - x) * i / 8, y + (to_y - y) * i / 8) for i in range(9)]
        for kind, points in [
            ("touchStart", steps[:1]), *(("touchMove", [s]) for s in steps[1:]), ("touchEnd", []),
        ]:  # fmt: skip
            at = [{"x": x, "y": y} for x, y in points]
            wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    box = tab.locator("[data-panel=dial] .ring").bounding_box()
    x, y = middle(box)
    swipe(*middle(tab.locator(".grip").bounding_box()), x, y - box["height"] / 3)
    assert (angle.input_value(), tab.evaluate("scrollY")) == ("90", 0)
    swipe(x - 60, y + 40, x - 60, y - 100)
    tab.wait_for_function("scrollY > 50")
    assert angle.input_value() == "90"


@every_figure
def test_a_figure_weighs_less_than_twelve_kilobytes(name, awake):
    scripts = awake(name).scripts
    assert f"/static/figures/{name}.js" in scripts
    assert not {f"/static/figures/{other}.js" for other in DATA if other != name} & scripts
    sizes = [len(gzip.compress((MODULES.parents[1] / path[1:]).read_bytes())) for path in scripts]
    assert sum(sizes) < 12_000


def test_cells_are_painted_by_arrow_keys_and_space_bar(opened):
    tab = opened("painted_mask")
    tab.locator("[data-cell='0']").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowRight", "Space"):
        tab.keyboard.press(key)
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')") == "2 may see 3"
    tab.wait_for_function(SENTENCE_CHANGED, arg="No leak: no position reads a later one.")
    assert "A leak: position 2 reads position 3." in tab.locator(".said").inner_text()
    assert tab.locator("table.grid [tabindex='0']").count() == 1


def test_where_softmax_fails_the_star_is_lost_and_comes_back(opened):
    tab = opened("softmax_temperature")
    tab.locator("select").select_option("float16")
    assert tab.locator(".star").count() == 1
    tab.locator("input[type=number][data-name=shift]").fill("1000")
    assert tab.locator(".star").count() == 0
    tab.locator(".said", has_text="Every weight is nan").wait_for()
    tab.locator("select").select_option("stable")
    assert tab.locator(".star").count() == 1


def test_sixty_steps_lead_the_hand_where_the_page_says(opened):
    """The chapter descends in Python: past Ada, then back a little as the hand grows."""
    hand = island.hand(0)
    for _ in range(60):
        answer, _ = attend(hand[None], island.KEYS, island.VALUES)
        off = answer - island.VALUES[0]
        hand = hand - 0.1 * attention_vjp(hand[None], island.KEYS, island.VALUES, off)[0][0]
    tab = opened("who_pulls", reduced_motion="reduce")
    for _ in range(6):
        tab.get_by_role("button", name="Ten steps").click()
    got = [
        float(tab.locator(f"input[type=number][data-name={name}]").input_value())
        for name in ("angle", "sharpness")
    ]
    angle = np.degrees(np.arctan2(hand[1], hand[0])) % 360
    assert got == [round(angle, 1), round(np.linalg.norm(hand) / np.sqrt(2), 3)]


CHAPTER_OF = {
    "dial_and_map": "01_weighted_average",
    "who_looks_at_whom": "02_queries_keys_values",
    "softmax_temperature": "03_softmax",
    "names_of_any_length": "04_scaling",
    "painted_mask": "05_masking",
    "two_hands": "06_multi_head",
    "cut_into_heads": "06_multi_head",
    "moving_crossover": "08_complexity",
    "how_wide_to_listen": "10_kernel_view",
    "who_pulls": "11_gradients",
    "sentence_heads": "welcome",
}


def test_every_chapter_has_a_figure_that_moves(site):
    chapters = {path.stem for path in (site.folder / "chapters").glob("[0-9]*.html")}
    assert chapters - {"00_start"} == set(CHAPTER_OF.values()) - {"welcome"}


@pytest.mark.parametrize("name", [name for name in DATA if CHAPTER_OF[name] != "welcome"])
def test_each_figure_stands_in_its_chapter_with_a_prediction(name, site):
    page = soup(site, f"chapters/{CHAPTER_OF[name]}.html")
    (figure,) = (one for one in page.select("figure.moving") if one.select(f"[data-figure={name}]"))
    assert figure.find("figcaption").find(class_="caption-number").text.startswith("Figure ")
    assert page.select_one(f"a[href='#{figure['id']}']:not(.headerlink)"), "nobody refers to it"
    state = json.loads(figure.select_one(".answer [data-show]")["data-show"])
    fields = {field["data-name"] for field in figure.select("[data-name]")} | {"added"}
    assert set(state) <= fields


def test_a_prediction_is_kept_and_its_answer_can_be_shown(browser, address):
    with browser.new_context(reduced_motion="reduce") as context:
        tab = context.new_page()
        url = f"{address}/chapters/03_softmax.html"
        asked = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(url, wait_until="networkidle")
        assert not [url for url in asked if "softmax_temperature.js" in url]
        figure = tab.locator("#fig-move-temperature")
        tab.evaluate("location.hash = 'fig-move-temperature'")
        figure.locator("[data-started]").wait_for()
        assert not figure.locator(".answer").is_visible()
        figure.locator(".choices label").nth(1).click()
        figure.locator("[data-show]").click()
        angle = figure.locator("input[type=number][data-name=angle]")
        assert angle.input_value() == "29"
        tab.goto("about:blank")
        tab.goto(f"{url}#fig-move-temperature")
        figure.locator("[data-started]").wait_for()
        assert figure.locator(".choices input").nth(1).is_checked()
        assert figure.locator(".answer").is_visible()


def test_a_page_without_a_moving_figure_loads_nothing_for_one(site):
    assert "figures/" not in (site.folder / "chapters" / "00_start.html").read_text()


def test_the_people_have_the_colours_of_the_other_figures():
    style = (MODULES / "figures.css").read_text()
    assert all(f"--who{number}: {colour};" in style for number, colour in enumerate(plots.COLOURS))


def test_every_module_is_a_figure_or_shared():
    shared = {"base", "formulas", "island", "start"}
    assert {path.stem for path in MODULES.glob("*.js")} == shared | set(DATA)
    assert set(EXPECTED) == set(DATA)
