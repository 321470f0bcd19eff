"""Exercises tried in the page: the notebook's own words, and every fault survived.

In chapter 3 of the book, which lies in a folder of its host.
"""

import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from itertools import product
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from autograder.book import runtime
from autograder.book.pyodide_packing import LIBRARY, OTHERS, STANDARD
from autograder.exercises.assignment import load_assignment
from autograder.release.build import make_release
from autograder.release.notebooks import answer_cell
from benchmarks.pages import start_python
from course_lib.checking import page
from course_lib.checking.findings import FailureKind
from tests.book.conftest import ROOT
from tests.book.trying import Notebook, Tried, write_book

CHAPTER = "03_softmax"
MANY_KEYS = 500
STATIC = ROOT / "autograder" / "book" / "static"
ASSIGNMENT = load_assignment(ROOT / "solutions" / CHAPTER)
SOFTMAX, LOGSUMEXP = ASSIGNMENT["softmax"], ASSIGNMENT["logsumexp"]
FORGETS = ASSIGNMENT["what_softmax_forgets"]
SHOWN = {CHAPTER: (SOFTMAX, LOGSUMEXP, FORGETS)}
WASM = f"{runtime.WASM}.packed"
PACKED = (STANDARD, OTHERS, LIBRARY, f"{CHAPTER}.packed", WASM)
HELPER = """
def largest(x):
    return x.max()
"""
ANSWERS = {
    "right": SOFTMAX.solution,
    "untouched": SOFTMAX.starter,
    "wrong": answer_cell(SOFTMAX, (SOFTMAX.folder / "wrong.py").read_text(), "naive"),
    "raises": SOFTMAX.starter + '\n    raise KeyError("temperature")\n',
    "wrong shape": SOFTMAX.starter + "\n    return x.sum(axis)\n",
    "helper": HELPER + SOFTMAX.starter + "\n    return np.exp(x - largest(x))\n",
    "no such name": SOFTMAX.starter + "\n    return nothing_of_that_name(x)\n",
    "cell that stops": f"number = 1 / 0\n{SOFTMAX.starter}\n    return number\n",
}

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def tried(browser, address):
    """One Python for all tests that leave it alive."""
    with browser.new_context() as context:
        cell = Tried(context, address, CHAPTER, "softmax")
        cell.asked_before_the_start = len(cell.asked)
        cell.open().wait_for("Python is ready.")
        cell.asked_when_ready = len(cell.asked)
        yield cell


@pytest.fixture
def context(browser):
    with browser.new_context() as context:
        yield context


@pytest.fixture(scope="module")
def in_the_notebook(tmp_path_factory):
    return Notebook(ASSIGNMENT, tmp_path_factory.mktemp("bundle"))


def test_no_python_is_loaded_before_it_is_asked_for(tried):
    before = tried.asked[: tried.asked_before_the_start]
    assert [url for url in before if "/python/" in url or "worker" in url] == []


SCROLLED_TO = re.compile(r"\.(woff2|png)$|/figures/|/keep\.js$")
"""The page itself loads these when the exercise comes into view."""


def test_a_start_loads_what_it_needs_from_its_own_host(tried, address):
    start = tried.asked[tried.asked_before_the_start : tried.asked_when_ready]
    loaded = [url.rpartition("/")[2] for url in start if not SCROLLED_TO.search(url)]
    needed = {*runtime.UNCHANGED, runtime.LOCK, *PACKED, "python_worker.js"}
    assert sorted(loaded) == sorted(needed)
    assert [url for url in tried.asked if not url.startswith((address, "data:"))] == []


COMPILED_HERE = """
import os, sys
specs = [module.__spec__ for module in sys.modules.values() if getattr(module, "__spec__", None)]
sources = [spec for spec in specs if spec.has_location and spec.origin.endswith(".py")]
[spec.origin for spec in sources if not os.path.isfile(spec.cached)]
"""


def test_what_a_start_imports_came_compiled(tried):
    assert tried.output_of("Run", COMPILED_HERE) == "[]\n"
    imported = "'numpy.linalg' in sys.modules, 'zipfile' in sys.modules"
    assert tried.output_of("Run", imported) == "(True, True)\n"


def test_the_size_is_as_announced(browser, address):
    announced = int(
        re.search(r"MEGABYTES = { python: (\d+)", (STATIC / "python.js").read_text())[1]
    )
    arrived = start_python(browser, f"{address}/chapters/{CHAPTER}.html", SOFTMAX.solution).bytes
    assert announced - 0.6 < arrived / 1e6 <= announced + 0.05


@pytest.mark.parametrize("kind", ANSWERS)
def test_the_page_says_what_the_notebook_says(kind, tried, in_the_notebook):
    assert tried.output_of("Check", ANSWERS[kind]) == in_the_notebook.check(
        "softmax", ANSWERS[kind]
    )


def test_an_answer_that_does_not_hold_is_marked_so(tried):
    assert tried.output_of("Check", ANSWERS["wrong"])
    assert tried.result.get_attribute("data-verdict") == "not yet"


def test_what_is_asked_for_is_withheld(tried):
    answer = SOFTMAX.starter + "\n    import course_lib\n    return course_lib.softmax(x, axis)\n"
    assert "course_lib.softmax" in tried.output_of("Check", answer)
    assert tried.result.get_attribute("data-verdict") == "not yet"


def test_a_cell_is_run_like_a_notebooks(tried):
    assert tried.output_of("Run", "print('one')\nnp.arange(3) + 1") == "one\narray([1, 2, 3])\n"
    assert tried.output_of("Run", "np.arange(2).sum();\nx = 1") == ""
    tried.wait_for("It ran, and printed nothing.")


NO_MEMORY = page.BY_KIND[FailureKind.OUT_OF_MEMORY]
EXPLAINED = {
    "syntax": ("def softmax(x:\n    pass", "SyntaxError: "),
    "error": ("a = 1\na / 0", 'File "<cell softmax>", line 2'),
    "memory": ("np.ones((10**6, 10**6))", NO_MEMORY),
    "more memory": ("held = [1]\nwhile True: held *= 2", NO_MEMORY),
    "file": ("open('data.csv')", page.BY_EXCEPTION["FileNotFoundError"]),
    "package": ("import pandas", page.BY_EXCEPTION["ModuleNotFoundError"]),
    "much": ("for i in range(10**5): print(i)", "\n... "),
}


@pytest.mark.parametrize("fault", EXPLAINED)
def test_a_fault_is_explained(fault, tried):
    source, explanation = EXPLAINED[fault]
    output = tried.output_of("Run", source)
    assert explanation in output
    assert "course_lib" not in output, "the reader's own lines, not ours"


@pytest.mark.parametrize(
    ("answer", "explanation"),
    [
        ("def softmax(x:\n    pass", "SyntaxError: "),
        (
            SOFTMAX.solution.replace('"numpy"', '"torch"', 1),
            page.BY_KIND[FailureKind.LIBRARY_MISSING],
        ),
        (SOFTMAX.starter + "\n    return np.ones((10**6, 10**6))\n", NO_MEMORY),
    ],
    ids=["syntax", "torch", "memory"],
)
def test_a_check_explains_what_a_page_has_not(answer, explanation, tried):
    assert explanation in tried.output_of("Check", answer)


def test_hints_open_one_by_one_below_what_was_found(tried, in_the_notebook):
    first, second = in_the_notebook.hints("softmax")
    tried.output_of("Run", "1")
    assert tried.output_of("Hint") == first
    assert tried.output_of("Hint") == f"{first}\n\n{second}"
    found = tried.output_of("Check", ANSWERS["wrong"])
    assert tried.output_of("Hint").startswith(f"{found.rstrip()}\n\n{first}")
    tried.wait_for("That was the last hint.")


def test_exercises_of_a_page_share_one_python(tried):
    before = len(tried.asked)
    other = LOGSUMEXP.solution.replace("logsumexp", "ours")
    try:
        tried.at("logsumexp").open()
        answer = f"{other}\n\ndef logsumexp(x):\n    return ours(x)\n"
        assert tried.output_of("Check", answer).startswith("logsumexp: all")
        alone = tried.output_of("Check", f"{LOGSUMEXP.starter}\n    return ours(x)\n")
        assert "uses ours, which no cell defines" in alone
    finally:
        tried.at("softmax")
    assert [url for url in tried.asked[before:] if not SCROLLED_TO.search(url)] == []


def test_an_endless_loop_is_stopped_and_the_text_kept(context, address):
    cell = Tried(context, address, CHAPTER, "softmax")
    cell.box.locator(".try").evaluate("box => box.dataset.seconds = 3")
    cell.open().wait_for("Python is ready.")
    endless = "print('before')\nwhile True:\n    pass"
    said = cell.output_of("Run", endless)
    assert said.startswith("before\n") and " 3 s" in said
    assert cell.text.input_value() == endless
    cell.press("Run")
    cell.press("Stop")
    cell.wait_for("Stopped. Your text is kept")
    cell.box.locator(".try").evaluate("box => box.dataset.seconds = 60")
    assert cell.output_of("Run", "import os\nos.abort()")
    assert cell.output_of("Run", "6 * 7").endswith("42\n"), "a new Python has come"


def test_work_is_kept_across_a_reload_and_can_be_put_back(context, address):
    cell = Tried(context, address, CHAPTER, "softmax").open()
    cell.text.fill("softmax = 1")
    cell.tab.reload()
    cell.open()
    assert cell.text.input_value() == "softmax = 1"
    cell.press("Reset")
    assert cell.text.input_value() == SOFTMAX.starter + "\n"
    cell.press("Undo reset")
    assert cell.text.input_value() == "softmax = 1"
    stored = cell.tab.evaluate("localStorage['attention:exercise:03_softmax/softmax']")
    value = {"state": "tried", "answer": "softmax = 1"}
    assert json.loads(stored) == {"version": 1, "value": value}


def test_a_solved_exercise_stays_solved(tried):
    assert tried.output_of("Check", SOFTMAX.solution)
    tried.wait_for("all 7 properties")
    assert tried.result.get_attribute("data-verdict") == "holds"
    tried.text.fill("something else")
    stored = tried.tab.evaluate("localStorage['attention:exercise:03_softmax/softmax']")
    assert json.loads(stored)["value"]["state"] == "solved"


def test_work_is_taken_along_as_the_chapters_notebook(context, address, tmp_path):
    cell = Tried(context, address, CHAPTER, "softmax").open()
    cell.text.fill(SOFTMAX.solution)
    for line in "ba":
        cell.tab.get_by_role("button", name=f"Add line {line} to the proof").click()
    with cell.tab.expect_download() as download:
        cell.press("Take it along")
    assert download.value.suggested_filename == f"{CHAPTER}.ipynb"
    download.value.save_as(tmp_path / "taken.ipynb")
    taken = nbformat.read(tmp_path / "taken.ipynb", as_version=4)
    nbformat.validate(taken)
    cells = {taken_cell.id: taken_cell for taken_cell in taken.cells}
    assert cells["softmax"].source == SOFTMAX.solution.rstrip()
    assert cells["softmax"].metadata.nbgrader.solution
    assert cells["what-softmax-forgets"].source.endswith('= [\n    "b","a"\n]')
    assert cells["logsumexp"].source == f"{LOGSUMEXP.starter}\n    ..."
    assert LOGSUMEXP.solution.strip().splitlines()[-1] not in cells["logsumexp"].source


NO_STORAGE = """
for (const name of ["getItem", "setItem"])
  Storage.prototype[name] = () => { throw new DOMException("refused", "SecurityError"); };
"""


def test_refused_storage_is_said_and_the_cell_works(context, address):
    context.add_init_script(NO_STORAGE)
    cell = Tried(context, address, CHAPTER, "softmax").open()
    assert cell.output_of("Run", "2 * 3") == "6\n"
    cell.wait_for("This browser keeps nothing for this page")
    with cell.tab.expect_download() as download:
        cell.press("Take it along")
    assert "2 * 3" in Path(download.value.path()).read_text()


def breaks_off(route):
    body = route.fetch().body()
    route.fulfill(body=body[: len(body) // 2])


REFUSING = {
    "cut off": lambda route: route.abort(),
    "missing": lambda route: route.fulfill(status=404),
    "breaks off": breaks_off,
}


@pytest.mark.parametrize(
    ("how", "file"),
    [
        *product(("cut off", "missing"), ("pyodide.mjs", *PACKED)),
        *product(("breaks off",), PACKED),
    ],
)
def test_what_does_not_arrive_is_named_and_can_be_tried_again(file, how, context, address):
    """The runtime blocked half-way, or a file that is not on the host."""
    cell = Tried(context, address, CHAPTER, "softmax")
    cell.tab.context.route(f"**/{file}", REFUSING[how])
    cell.open().wait_for("Python could not start, because something did not arrive")
    assert file.replace(".wasm.packed", ".wasm") in cell.result.text_content()
    cell.text.fill("1 + 1")
    if how == "cut off" and file == OTHERS:
        cell.tab.context.unroute(f"**/{file}")
        assert cell.output_of("Run") == "2\n"


def test_a_slow_line_is_waited_for_and_one_that_stalls_is_not(context, address):
    """What comes winds up the clock again; a minute in which nothing comes ends the wait."""
    cell, held = Tried(context, address, CHAPTER, "softmax"), {}

    def hold(route):
        held[Path(route.request.url).name] = route

    for file in (OTHERS, f"{CHAPTER}.packed"):
        context.route(f"**/{file}", hold)
    cell.tab.clock.install()
    cell.open()
    assert cell.box.get_by_role("progressbar", name="How much of Python has come").is_visible()
    comes = "share => document.querySelector('#ex-softmax progress').value > share"
    cell.tab.wait_for_function(comes, arg=0.6)
    cell.tab.clock.run_for(50_000)
    held[OTHERS].continue_()
    cell.tab.wait_for_function(comes, arg=0.95)
    cell.tab.clock.run_for(50_000)
    cell.wait_for("Python is on its way")
    cell.tab.clock.run_for(15_000)
    cell.wait_for("for a minute nothing has come. Your text is kept.")
    context.unroute_all()
    assert cell.output_of("Run", "1 + 1").endswith("2\n")
    assert not cell.box.get_by_role("progressbar").is_visible()


def test_without_javascript_the_task_stands_and_the_notebook_is_named(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/{CHAPTER}.html")
        box = tab.locator("#ex-softmax")
        assert not box.get_by_role("button", name="Try it here").is_visible()
        assert box.get_by_text("To try it in this page, JavaScript has to be on.").is_visible()
        assert box.get_by_text(f"Answer it in the notebook {CHAPTER}.ipynb").is_visible()
        box.scroll_into_view_if_needed()
        expect(box).to_contain_text("def softmax", use_inner_text=True)


class Keyboard:
    """Somebody who has no pointer, and listens to what is announced."""

    def __init__(self, tab):
        self.tab = tab
        self.press, self.type = tab.keyboard.press, tab.keyboard.type

    def go_to(self, name: str, key: str = "Tab") -> None:
        focus = "[document.activeElement.textContent, document.activeElement.id]"
        for _ in range(MANY_KEYS):
            if name in self.tab.evaluate(focus):
                outline = "getComputedStyle(document.activeElement).outlineStyle"
                assert self.tab.evaluate(outline) != "none", f"{name} has the focus, unseen"
                return
            self.press(key)
        pytest.fail(f"{name} is not reached by {key}")


def test_a_whole_exercise_is_done_by_keyboard_alone(context, address):
    cell = Tried(context, address, CHAPTER, "softmax")
    reader = Keyboard(cell.tab)
    reader.go_to("Try it here")  # from the top of the page
    reader.press("Enter")
    reader.press("Control+End")
    reader.type("    return x\n")  # the next line is indented, too
    reader.press("Shift+Tab")
    reader.type("softmax(6 * 7)")
    reader.press("Shift+Enter")
    cell.wait_for("42")
    reader.press("Shift+Home")
    reader.press("Backspace")
    reader.press("Control+Enter")
    cell.wait_for("hint: what is divided by what")
    assert cell.result.get_attribute("data-verdict") == "not yet"
    written = cell.text.input_value()

    reader.press("Escape")
    reader.go_to("Hint")
    reader.press("Enter")
    cell.wait_for("further: read")
    reader.go_to("Reset")
    reader.press("Space")
    cell.wait_for("The starter is back. Undo reset brings your text back.")
    assert cell.text.input_value() == SOFTMAX.starter + "\n"
    reader.press("Space")
    cell.wait_for("Your text is back.")
    assert cell.text.input_value() == written

    reader.go_to(f"try-{SOFTMAX.name}", "Shift+Tab")
    reader.press("Control+End")
    for key in ("ArrowUp", "End", "Backspace"):  # where it says "return x"
        reader.press(key)
    for _ in "return ":
        reader.press("Backspace")
    reader.type("shifted = np.exp(x - x.max(axis=axis, keepdims=True))\n")
    reader.type("return shifted / shifted.sum(axis=axis, keepdims=True)")
    reader.press("Control+Enter")
    cell.wait_for("all 7 properties looked at here hold")
    reader.press("Escape")
    with cell.tab.expect_download() as download:
        reader.go_to("Take it along")
        reader.press("Enter")
    assert download.value.suggested_filename == f"{CHAPTER}.ipynb"
    reader.press("Tab")
    assert not cell.tab.evaluate("document.activeElement.closest('.try')"), "the way on is free"


def test_what_comes_out_is_announced(tried):
    """Chromium's own accessibility tree: what changes in these parts is read out."""
    chromium = tried.tab.context.new_cdp_session(tried.tab)
    nodes = chromium.send("Accessibility.getFullAXTree")["nodes"]
    live = [
        node["role"]["value"]
        for node in nodes
        for given in node.get("properties", [])
        if given["name"] == "live" and given["value"]["value"] == "polite"
    ]
    assert {"log", "status"} <= set(live)


def test_the_link_of_an_exercise_leads_into_it(context, address):
    tab = context.new_page()
    tab.goto(f"{address}/chapters/{CHAPTER}.html#ex-logsumexp")
    tab.keyboard.press("Tab")
    box = "document.activeElement.closest('#ex-logsumexp')"
    assert tab.evaluate(f"{box} !== null")


def test_the_keyboard_alone_is_enough_and_is_never_trapped(tried):
    keys, focused = tried.tab.keyboard, "document.activeElement.textContent"
    tried.text.fill("")
    tried.text.focus()
    keys.type("def softmax(x):\n")
    keys.type("return 6 * 7\n")
    keys.press("Shift+Tab")
    keys.type("softmax(1)")
    assert tried.text.input_value() == "def softmax(x):\n    return 6 * 7\nsoftmax(1)"
    keys.press("Shift+Enter")
    tried.wait_for("42")
    keys.press("Home")
    keys.press("Tab")
    assert tried.text.input_value().endswith("\n    softmax(1)")
    keys.press("Control+z")
    assert tried.text.input_value().endswith("\nsoftmax(1)")
    keys.press("Escape")
    keys.press("Tab")
    assert tried.tab.evaluate(focused) == "Check"


def test_every_part_of_a_cell_has_a_name(tried):
    assert tried.box.get_by_label("Your answer to exercise 3.1").count() == 1
    assert tried.box.get_by_role("log", name="What came out of exercise 3.1").count() == 1
    names = tried.box.locator(".try button:visible").all_inner_texts()
    assert names[:4] == ["Check", "Run", "Hint", "Reset"] and len(names) == 5


HEIGHT = "e => e.offsetHeight"
WITHOUT_WRAPPING = """e => {
  e.style.whiteSpace = "pre";
  const height = e.offsetHeight;
  e.style.whiteSpace = "";
  return height;
}"""


@pytest.fixture(scope="module")
def small(browser, address):
    """One Python for all small windows."""
    with browser.new_context(viewport={"width": 390, "height": 800}) as context:
        yield Tried(context, address, CHAPTER, "softmax").open()


@pytest.mark.parametrize(("width", "height"), [(320, 256), (320, 800), (390, 800)])
def test_a_cell_fits_a_phone_and_a_page_zoomed_four_times(width, height, small):
    cell = small
    cell.tab.set_viewport_size({"width": width, "height": height})
    cell.output_of("Run", "for i in range(200): print('word ' * 30)")
    assert cell.tab.evaluate("document.documentElement.scrollWidth") <= width
    edges = cell.box.locator(".try *").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().right)"
    )
    assert max(edges) <= width
    scrolls = height > 256
    assert (cell.result.evaluate(HEIGHT) < height) is scrolls
    assert (cell.result.evaluate("e => e.tabIndex") == 0) is scrolls
    cell.output_of("Run", "np.arange(25).reshape(5, 5) / 7")
    wrapped = cell.result.evaluate(HEIGHT)
    assert wrapped == cell.result.evaluate(WITHOUT_WRAPPING), "no row is broken by the page"


WITHOUT_PYTHON = """
import sys
from pathlib import Path
from autograder.book import build, runtime
runtime.FOLDER = Path(sys.argv[1], "_build", "python")
site = build.Site(Path(sys.argv[1]))
print("built" if site.build() else site.complaints)
"""


def test_where_python_cannot_be_had_the_site_says_so_once_and_has_no_cells(tmp_path):
    unreachable = {
        "npm_config_registry": "http://127.0.0.1:9/",
        "npm_config_cache": str(tmp_path / "cache"),
    }
    root = tmp_path / "book"
    root.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYTHON, str(write_book(root, SHOWN))],
        capture_output=True,
        text=True,
        env={**os.environ, **unreachable},
    )
    assert "built" in done.stdout.splitlines(), done.stderr
    told = " ".join(done.stdout.split())
    assert told.count("pyodide@") == 1 and told.count("_build/python") == 1, "what to do, once"
    html = (root / "_build" / "html" / "chapters" / f"{CHAPTER}.html").read_text()
    assert "def softmax" in BeautifulSoup(html, "html.parser").find(id="ex-softmax").text
    assert "exercise.js" not in html
    assert not (root / "_build" / "html" / "_static" / "python").exists()


def test_a_file_with_another_digest_is_refused(tmp_path):
    for name in runtime.SHA256:
        shutil.copy(ROOT / "_build" / "python" / name, tmp_path)
    runtime._refuse_others(tmp_path)
    (tmp_path / runtime.NUMPY).write_bytes(b"another NumPy")
    with pytest.raises(runtime.NotHad, match=runtime.NUMPY):
        runtime._refuse_others(tmp_path)


def test_no_answer_is_among_the_files_of_python(site):
    files = site.folder / "_static" / "python"
    unzipped = gzip.decompress((files / f"{CHAPTER}.packed").read_bytes())
    with zipfile.ZipFile(io.BytesIO(unzipped)) as archive:
        read = {name: archive.read(name) for name in archive.namelist()}
    answers = [e.solution.strip().splitlines()[-1].strip() for e in (SOFTMAX, LOGSUMEXP)]
    for name, text in read.items():
        assert not [secret for secret in answers if secret.encode() in text], name
    assert "checks/softmax/tests.py" in read


@pytest.mark.slow
def test_what_is_taken_along_is_what_is_released(site, tmp_path):
    make_release(ASSIGNMENT, tmp_path / "course")
    released = tmp_path / "course" / "release" / CHAPTER / f"{CHAPTER}.ipynb"
    in_the_page = site.folder / "_static" / "python" / f"{CHAPTER}.ipynb"
    both = [nbformat.read(path, as_version=4) for path in (released, in_the_page)]
    assert both[0].cells == both[1].cells
    assert both[0].metadata.course.assignment == both[1].metadata.course.assignment
