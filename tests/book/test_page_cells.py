"""The code of a page, run where it stands: in chapter 3 of the book, in a real browser."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from autograder.book.page_cells import cells_for_script
from autograder.exercises.assignment import load_assignment
from tests.book.built_pages import CHAPTERS
from tests.book.conftest import ROOT
from tests.book.trying import TWO_MINUTES

SOFTMAX = load_assignment(ROOT / "solutions" / "03_softmax")["softmax"]
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
RUN_ALL = """async () => {
  const { python } = await import("../_static/python.js");
  const boxes = [...document.querySelectorAll("div.cell")];
  const seen = [];
  for (const [k, told] of JSON.parse(document.querySelector(".page-cells").textContent).entries()) {
    const box = "unseen" in told ? null : boxes.shift();
    const source = told.unseen ?? told.torch ?? box.querySelector(".cell_input pre").textContent;
    if (!source) continue;
    let printed = "";
    const question = { ask: "run", cells: [[String(k), source]], columns: 80 };
    const { held, drawn } = await python.ask(question, 300, (words) => (printed += words));
    const texts = box?.querySelectorAll(".cell_output pre") ?? [];
    seen.push({
      printed, held, drawn: drawn.length,
      whole: Boolean(box) && !("torch" in told), shown: Boolean(box),
      inThePage: [...texts].map((one) => one.textContent).join(""),
      pictures: box?.querySelectorAll(".cell_output img").length ?? 0,
    });
  }
  return seen;
}"""


def notebook(*sources: str) -> nbformat.NotebookNode:
    return new_notebook(cells=[new_code_cell(source) for source in sources])


def test_what_does_without_torch_is_told_from_what_needs_it():
    cells = cells_for_script(
        notebook(
            "import numpy as np\nimport torch\nx = torch.ones(2)\ny = np.ones(2)",
            "y + 1",
            "found = {}\nfound['here'] = x.numpy()",
            "found['here']",
            "x = y\nx",
        )
    )
    assert cells == [
        {"torch": "import numpy as np\ny = np.ones(2)"},
        {},
        {"torch": "found = {}"},
        {"torch": ""},
        {},
    ]


class Cells:
    """The cells of an open page; those that PyTorch runs have no buttons."""

    def __init__(self, tab):
        self.tab = tab

    def that(self, words: str):
        return self.tab.locator("div.cell", has=self.tab.locator("pre", has_text=words)).first

    def run(self, cell, source: str | None = None) -> str:
        if source is not None:
            if not cell.locator("textarea").count():
                cell.get_by_role("button", name="Change").click()
            cell.locator("textarea").fill(source)
            cell.locator("textarea").press("Shift+Enter")
        else:
            cell.get_by_role("button", name="Run").click()
        expect(cell.get_by_role("button", name="Stop")).to_be_hidden(timeout=TWO_MINUTES)
        return cell.locator(".cell_output").inner_text()


@pytest.fixture(scope="module")
def cells(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.asked = []
        tab.on("request", lambda request: tab.asked.append(request.url))
        tab.goto(f"{address}/chapters/03_softmax.html", wait_until="networkidle")
        yield Cells(tab)


TIMES_TEN = "naive_softmax(x + 1000)"


@pytest.mark.browser
def test_a_cell_runs_after_those_above_it_and_prints_what_the_page_printed(cells):
    cell = cells.that(TIMES_TEN)
    assert [url for url in cells.tab.asked if "/python/" in url or "worker" in url] == []
    assert re.search(r"\d+ MB", cell.locator(".cell-tools button").first.text_content())
    printed = cell.locator(".cell_output").text_content()
    assert cells.run(cell).split() == printed.split()
    assert cell.locator(".cell-tools button").first.text_content() == "Run"
    assert [url for url in cells.tab.asked if "pictures" in url] == []


@pytest.mark.browser
def test_a_changed_cell_runs_and_reset_brings_the_page_back(cells):
    cell = cells.that(TIMES_TEN)
    before = cell.locator(".cell_input pre").inner_text()
    assert cells.run(cell, "mine = 6 * 7\nmine").strip() == "42"
    cell.locator("textarea").press("Escape")
    assert cell.get_by_role("button", name="Run").evaluate("b => b === document.activeElement")
    cell.get_by_role("button", name="Reset").click()
    assert cell.locator(".cell_input pre").inner_text() == before
    assert cell.locator(".cell_output").inner_text().startswith("plus 1000: [nan")
    assert cell.locator(".cell_output[data-fresh]").count() == 0


@pytest.mark.browser
def test_the_last_line_of_an_error_stands_first(cells):
    cell = cells.that(TIMES_TEN)
    lines = cells.run(cell, "a = 1\na / 0").splitlines()
    assert lines[0].partition(":")[0] == "ZeroDivisionError"
    assert any("line 2" in line for line in lines)
    cell.get_by_role("button", name="Reset").click()


@pytest.mark.browser
def test_a_figure_is_drawn_where_it_stood(cells):
    cell = cells.that("CORNERS = ")
    caption = cell.locator("figcaption").inner_text()
    alt = cell.locator("img").get_attribute("alt")
    cell.locator("summary").click()
    cells.run(cell)
    picture = cell.locator("img")
    assert picture.get_attribute("src").startswith("blob:")
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") > 200
    assert picture.get_attribute("alt") == alt
    assert cell.locator("figcaption").inner_text().split() == caption.rstrip("#").split()


@pytest.mark.browser
def test_a_torch_cell_says_where_it_runs(cells):
    cell = cells.that("import torch")
    assert cell.locator(".cell-elsewhere a").get_attribute("href") == "#take-along"
    assert cell.get_by_role("button", name="Run").count() == 0


@pytest.mark.browser
def test_cells_and_exercises_share_one_memory(cells):
    box = cells.tab.locator("#ex-softmax")
    box.get_by_role("button", name="Try it here").click()
    box.get_by_text("Python is ready.").wait_for(timeout=TWO_MINUTES)
    answer = SOFTMAX.solution.replace("return ", "print('mine')\n    return ")
    box.locator("textarea").fill(answer)
    box.get_by_role("button", name="Check", exact=True).click()
    box.locator("[data-verdict=holds]").wait_for(timeout=TWO_MINUTES)
    cell = cells.that(TIMES_TEN)
    assert "mine" in cells.run(cell, "softmax(np.zeros(2))")
    library = "from course_lib import softmax\nsoftmax(np.zeros(2))"
    assert cells.run(cell, library).strip() == "array([0.5, 0.5])"


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("chapter", [name for name in CHAPTERS if re.search(r"/\d", name)])
def test_every_cell_prints_in_the_page_what_the_build_printed(chapter, browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/{chapter}.html")
        ran = tab.evaluate(RUN_ALL)
    assert ran
    for cell in ran:
        assert cell["held"] or not cell["shown"], cell["printed"]
        if cell["whole"]:
            assert (
                NUMBER.sub("#", cell["printed"]).split()
                == NUMBER.sub("#", cell["inThePage"]).split()
            )
            expected = [float(number) for number in NUMBER.findall(cell["inThePage"])]
            got = [float(number) for number in NUMBER.findall(cell["printed"])]
            assert got == pytest.approx(expected, rel=1e-6, abs=1e-9)
            assert cell["drawn"] == cell["pictures"]
