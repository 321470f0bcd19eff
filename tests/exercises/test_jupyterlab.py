"""The student's notebook in a real JupyterLab, in a real browser."""

import os
import re
import subprocess
import sys
import zipfile
from urllib.parse import urlsplit

import pytest

from autograder.exercises.assignment import load_assignment
from autograder.paths import ROOT
from autograder.release.build import make_release
from tests.lab import jupyterlab, open_notebook, output_of, run_all, run_cell, shot, write_and_check

pytestmark = [pytest.mark.browser]

ASSIGNMENT = load_assignment(ROOT / "solutions" / "03_softmax")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """The student's zip, unpacked where nothing else of the course is."""
    course = tmp_path_factory.mktemp("course")
    with zipfile.ZipFile(make_release(ASSIGNMENT, course)) as archive:
        archive.extractall(tmp_path_factory.mktemp("student"))
    return next(tmp_path_factory.getbasetemp().glob("student*/03_softmax"))


@pytest.fixture(scope="module")
def lab(bundle):
    with jupyterlab(bundle, bundle.parent / "home", "course.py", "lab") as address:
        yield address


@pytest.fixture(scope="module")
def requests():
    """The address of everything that the page has asked for."""
    return []


@pytest.fixture(scope="module")
def page(lab, browser, requests):
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.on("request", lambda request: requests.append(request.url))
    open_notebook(page, lab, "03_softmax")
    yield page
    page.close()


def test_the_notebook_opens_without_a_question_about_kernel_or_news(page):
    assert page.locator(".jp-Dialog", has_text="Select Kernel").count() == 0
    page.wait_for_timeout(1_000)  # JupyterLab's own news would come late
    assert page.locator(".jp-toastContainer, .Toastify__toast").filter(has_text="news").count() == 0


def test_nothing_is_loaded_from_anywhere_else(page, requests):
    hosts = {urlsplit(address).hostname for address in requests if address.startswith("http")}
    assert hosts == {"127.0.0.1"}


def test_run_all_cells_reaches_the_last_check(page):
    run_all(page)
    assert "entropy_of_scores: not written yet" in output_of(page, 'check("entropy_of_scores")')
    assert page.locator(".jp-RenderedText[data-mime-type*='error']").count() == 0


def test_a_wrong_answer_reads_what_is_wrong_and_a_right_one_that_it_holds(page):
    body = "def softmax(x, axis=-1):\n    e = np.exp(x)\n"
    body += "    return e / e.sum(axis=axis, keepdims=True)"
    write_and_check(page, "def softmax(", body)
    said = output_of(page, 'check("softmax")')
    assert "Adding 1000 to every score leaves the weights as they were" in said
    assert "What is exp(1000) in this dtype?" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 104  # else JupyterLab breaks it in a word
    stable = body.replace("np.exp(x)", "np.exp(x - x.max(axis=axis, keepdims=True))")
    write_and_check(page, "def softmax(", stable)
    said = output_of(page, 'check("softmax")')
    assert "all 5 properties looked at here hold" in said
    shot(page, "jupyterlab")


def test_the_last_cell_says_what_is_left(page):
    page.keyboard.press("Control+s")
    cell = page.locator(".jp-CodeCell").filter(has_text="what_is_left()").last
    run_cell(page, cell)
    said = cell.locator(".jp-OutputArea").inner_text()
    assert re.search(r"3\.1 .* 7 of 7 +5 of 5 properties hold; 2 more when you hand in", said)
    assert re.search(r"3\.7 .* – of 4 +not attempted \(a person reads it\)", said)
    assert (
        "7 of 37 points here, 2 of them only if the rest holds when you hand in; 4 more are" in said
    )
    assert "Not attempted: 3.2, 3.3" in said
    shot(page, "what_is_left")


def test_reset_puts_the_starter_into_the_open_cell_and_keeps_what_was_there(page, bundle):
    elsewhere = page.locator(".jp-CodeCell").filter(has_text="def logsumexp(").first
    starter_of_the_other = elsewhere.locator(".cm-content").inner_text()
    cell = page.locator(".jp-CodeCell").filter(has_text="def softmax(").first
    cell.scroll_into_view_if_needed()
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text('reset("softmax")')
    page.keyboard.press("Control+Enter")
    starter = page.locator(".jp-CodeCell").filter(has_text="Turn scores into weights").first
    starter.wait_for(timeout=60_000)
    assert starter.locator(".cm-content").inner_text().rstrip().endswith("...")
    assert "np.exp(" not in starter.locator(".cm-content").inner_text()
    (kept,) = (bundle / "kept").glob("softmax-*.py")
    assert "np.exp(x - x.max(" in kept.read_text()
    assert elsewhere.locator(".cm-content").inner_text() == starter_of_the_other
    shot(page, "reset")


def test_the_command_leaves_a_notebook_alone_that_is_open(page, bundle):
    before = (bundle / "03_softmax.ipynb").read_bytes()
    words = [sys.executable, "course.py", "reset", "softmax"]
    environment = os.environ | {"HOME": str(bundle.parent / "home")}
    done = subprocess.run(words, cwd=bundle, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert "03_softmax.ipynb is open in JupyterLab" in done.stderr
    assert (bundle / "03_softmax.ipynb").read_bytes() == before
