"""The student's notebook in a real JupyterLab, in a real browser."""

import os
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest

from tests.lab import jupyterlab, open_notebook, output_of, run_all, run_cell, shot, write_and_check

pytestmark = [pytest.mark.browser]

STEM = "03_softmax"
NAIVE = """def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)"""
STABLE = NAIVE.replace("np.exp(x)", "np.exp(x - x.max(axis=axis, keepdims=True))")


@pytest.fixture(scope="module")
def bundle(released_softmax, tmp_path_factory):
    """The student's zip, unpacked where nothing else of the course is."""
    folder = tmp_path_factory.mktemp("student")
    with zipfile.ZipFile(released_softmax / "bundles" / f"{STEM}.zip") as archive:
        archive.extractall(folder)
    return folder / STEM


@pytest.fixture(scope="module")
def lab(bundle):
    with jupyterlab(bundle, bundle.parent / "home", "course.py", "lab") as address:
        yield address


@dataclass
class Sitting:
    """What stood in the browser while a student worked, step by step."""

    requests: list[str] = field(default_factory=list)
    kernel_was_asked_for: bool = False
    news_was_offered: bool = False
    errors_of_run_all: int = 0
    last_check: str = ""
    naive: str = ""
    stable: str = ""
    left: str = ""
    starter: str = ""
    others_before_reset: str = ""
    others_after_reset: str = ""


@pytest.fixture(scope="module")
def sitting(lab, browser):
    """One visit: all cells run, a wrong answer, a right one, what is left, one answer reset."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    seen = Sitting()
    page.on("request", lambda request: seen.requests.append(request.url))
    open_notebook(page, lab, STEM)
    seen.kernel_was_asked_for = page.locator(".jp-Dialog", has_text="Select Kernel").count() > 0

    run_all(page)
    seen.last_check = output_of(page, 'check("entropy_of_scores")')
    seen.errors_of_run_all = page.locator(".jp-RenderedText[data-mime-type*='error']").count()

    write_and_check(page, "def softmax(", NAIVE)
    seen.naive = output_of(page, 'check("softmax")')
    write_and_check(page, "def softmax(", STABLE)
    seen.stable = output_of(page, 'check("softmax")')
    shot(page, "jupyterlab")

    page.keyboard.press("Control+s")
    last = page.locator(".jp-CodeCell").filter(has_text="what_is_left()").last
    run_cell(page, last)
    seen.left = last.locator(".jp-OutputArea").inner_text()
    shot(page, "what_is_left")

    elsewhere = page.locator(".jp-CodeCell").filter(has_text="def logsumexp(").first
    seen.others_before_reset = elsewhere.locator(".cm-content").inner_text()
    cell = page.locator(".jp-CodeCell").filter(has_text="def softmax(").first
    cell.scroll_into_view_if_needed()
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text('reset("softmax")')
    page.keyboard.press("Control+Enter")
    starter = page.locator(".jp-CodeCell").filter(has_text="Turn scores into weights").first
    starter.wait_for(timeout=60_000)
    seen.starter = starter.locator(".cm-content").inner_text()
    seen.others_after_reset = elsewhere.locator(".cm-content").inner_text()
    shot(page, "reset")

    notices = page.locator(".jp-toastContainer, .Toastify__toast")
    seen.news_was_offered = notices.filter(has_text="news").count() > 0
    yield seen
    page.close()


def test_the_notebook_opens_without_a_question_about_kernel_or_news(sitting):
    assert not sitting.kernel_was_asked_for
    assert not sitting.news_was_offered


def test_nothing_is_loaded_from_anywhere_else(sitting):
    addresses = (address for address in sitting.requests if address.startswith("http"))
    assert {urlsplit(address).hostname for address in addresses} == {"127.0.0.1"}


def test_run_all_cells_reaches_the_last_check(sitting):
    assert "entropy_of_scores: not written yet" in sitting.last_check
    assert sitting.errors_of_run_all == 0


def test_a_wrong_answer_reads_what_is_wrong_and_a_right_one_that_it_holds(sitting):
    assert "Adding c to every score leaves the weights as they were" in sitting.naive
    assert "For which scores does exp overflow" in " ".join(sitting.naive.split())
    assert max(map(len, sitting.naive.splitlines())) <= 104  # else JupyterLab breaks it in a word
    assert "all 5 properties looked at here hold" in sitting.stable


def test_the_last_cell_says_what_is_left(sitting):
    said = sitting.left
    assert re.search(r"3\.1 .* 7 of 7 +5 of 5 properties hold; 2 more when you hand in", said)
    assert re.search(r"3\.7 .* – of 4 +not attempted \(a person reads it\)", said)
    assert (
        "7 of 37 points here, 2 of them only if the rest holds when you hand in; 4 more are" in said
    )
    assert "Not attempted: 3.2, 3.3" in said


def test_reset_puts_the_starter_into_the_open_cell_and_keeps_what_was_there(sitting, bundle):
    assert sitting.starter.rstrip().endswith("...")
    assert "np.exp(" not in sitting.starter
    (kept,) = (bundle / "kept").glob("softmax-*.py")
    assert "np.exp(x - x.max(" in kept.read_text()
    assert sitting.others_after_reset == sitting.others_before_reset


def test_the_command_leaves_a_notebook_alone_that_is_open(sitting, bundle):
    before = (bundle / f"{STEM}.ipynb").read_bytes()
    words = [sys.executable, "course.py", "reset", "softmax"]
    environment = os.environ | {"HOME": str(bundle.parent / "home")}
    done = subprocess.run(words, cwd=bundle, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert f"{STEM}.ipynb is open in JupyterLab" in done.stderr
    assert (bundle / f"{STEM}.ipynb").read_bytes() == before
