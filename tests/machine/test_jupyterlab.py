"""The student's notebook in a real JupyterLab, in a real browser."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path

import pytest

from autograder.exercises import ROOT, load_assignment
from autograder.release import make_release

pytestmark = [pytest.mark.browser]

ASSIGNMENT = load_assignment(ROOT / "solutions" / "03_softmax")
TOKEN = "only-for-this-test"
KERNEL_IS_IDLE = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """The student's zip, unpacked where nothing else of the course is."""
    course = tmp_path_factory.mktemp("course")
    with zipfile.ZipFile(make_release(ASSIGNMENT, course)) as archive:
        archive.extractall(tmp_path_factory.mktemp("student"))
    return next(tmp_path_factory.getbasetemp().glob("student*/03_softmax"))


@pytest.fixture(scope="module")
def lab(bundle):
    """A JupyterLab on loopback that ends with the test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
    words += [f"--IdentityProvider.token={TOKEN}", "--ServerApp.shutdown_no_activity_timeout=120"]
    words += ["--allow-root"] * (os.name == "posix" and os.geteuid() == 0)
    home = bundle.parent / "home"
    home.mkdir()
    environment = os.environ | {"HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config")}
    with (home / "log").open("w") as log:
        server = subprocess.Popen(words, cwd=bundle, env=environment, stdout=log, stderr=log)
        try:
            _wait_until_up(f"http://127.0.0.1:{port}/api/status?token={TOKEN}", home / "log")
            yield f"http://127.0.0.1:{port}/lab/tree/03_softmax.ipynb?token={TOKEN}"
        finally:
            server.terminate()
            server.wait(20)


def _wait_until_up(address: str, log: Path) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(address).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not come up:\n{log.read_text()}")


@pytest.fixture(scope="module")
def page(lab, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.goto(lab)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
    page.wait_for_selector(KERNEL_IS_IDLE, timeout=60_000)  # before that, Run asks a question
    yield page
    page.close()


def _run_all(page) -> None:
    page.click(".jp-NotebookPanel .jp-Notebook")
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name=re.compile("^Run All Cells")).click()
    page.wait_for_selector(KERNEL_IS_IDLE, timeout=60_000)


def _output_of(page, source: str) -> str:
    """What stands under the cell with this source, once it has run."""
    cell = page.locator(".jp-CodeCell").filter(
        has=page.locator(".jp-Editor", has_text=re.compile(re.escape(source)))
    )
    cell.scroll_into_view_if_needed()
    cell.locator(".jp-OutputArea-output").first.wait_for(timeout=60_000)
    return cell.locator(".jp-OutputArea").inner_text()


def test_the_notebook_opens_without_a_question_about_the_kernel(page):
    assert page.locator(".jp-Dialog", has_text="Select Kernel").count() == 0


def test_run_all_cells_reaches_the_last_check(page):
    _run_all(page)
    assert "entropy_of_scores: not written yet" in _output_of(page, 'check("entropy_of_scores")')
    assert page.locator(".jp-RenderedText[data-mime-type*='error']").count() == 0


def test_a_wrong_answer_reads_what_is_wrong_and_a_right_one_that_it_holds(page):
    body = "def softmax(x, axis=-1):\n    e = np.exp(x)\n"
    body += "    return e / e.sum(axis=axis, keepdims=True)"
    said = _answer(page, body)
    assert "Adding 1000 to every score leaves the weights as they were" in said
    assert "What is exp(1000) in this dtype?" in said
    said = _answer(page, body.replace("np.exp(x)", "np.exp(x - x.max(axis=axis, keepdims=True))"))
    assert "all 5 properties looked at here hold" in said
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/jupyterlab.png")


def _answer(page, source: str) -> str:
    """Write the answer into its cell, run it and the check below, and read what that says."""
    cell = page.locator(".jp-CodeCell").filter(has_text="def softmax(").first
    cell.scroll_into_view_if_needed()
    editor = cell.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    page.wait_for_timeout(300)
    page.wait_for_selector(KERNEL_IS_IDLE, timeout=60_000)
    return _output_of(page, 'check("softmax")')
