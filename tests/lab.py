"""A real JupyterLab for a test, and what one does in it."""

import os
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import TimeoutError as TooLate

from tests.waiting import wait_until

TOKEN = "only-for-this-test"
KERNEL_IS_IDLE = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
HAS_RUN_AGAIN = """([prompt, before]) =>
    prompt.innerText !== before && /\\[\\d+\\]/.test(prompt.innerText)"""


@contextmanager
def jupyterlab(folder: Path, home: Path, *start: str) -> Iterator[str]:
    """The address of one on loopback, with a home of its own; it ends with the block."""
    (port,) = free_ports(1)
    words = [sys.executable, *start, "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
    words += [f"--IdentityProvider.token={TOKEN}", "--ServerApp.shutdown_no_activity_timeout=600"]
    words += ["--allow-root"] * (os.name == "posix" and os.geteuid() == 0)
    home.mkdir()
    settings = {"HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config"), "PATH": tools()}
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            words, cwd=folder, env=os.environ | settings, stdout=log, stderr=log
        )
        try:
            wait_until_up(f"http://127.0.0.1:{port}/api/status?token={TOKEN}", server, home / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(60)


def tools() -> str:
    """A path on which this environment's programs come first."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def free_ports(number: int) -> list[int]:
    open_ones = [socket.socket() for _ in range(number)]
    for each in open_ones:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in open_ones]
    for each in open_ones:
        each.close()
    return ports


def wait_until_up(address: str, server: subprocess.Popen, log: Path) -> None:
    def answers() -> bool:
        assert server.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(address).close()
        except OSError:
            return False
        return True

    wait_until(answers, 120)


def open_notebook(page, address: str, stem: str) -> None:
    page.goto(f"{address}/lab/tree/{stem}.ipynb?token={TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=120_000)
    page.wait_for_selector(KERNEL_IS_IDLE, timeout=120_000)
    # which it also says before it is connected; until then Run asks a question
    page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=120_000)


def run_all(page) -> None:
    page.click(".jp-NotebookPanel .jp-Notebook")
    first = page.locator(".jp-CodeCell .jp-InputPrompt").first
    for _ in range(3):  # a menu that is still being filled can move under the mouse
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name=re.compile("^Run All Cells")).click()
        with suppress(TooLate):
            first.filter(has_text=re.compile(r"[*\d]")).wait_for(timeout=20_000)
            break
    first.filter(has_text=re.compile(r"\d")).wait_for(timeout=240_000)  # it imports torch
    page.wait_for_selector(KERNEL_IS_IDLE, timeout=120_000)


def run_cell(page, cell) -> None:
    cell.scroll_into_view_if_needed()
    cell.locator(".cm-content").click()
    _run_the_active_cell(page, "Control+Enter")


def write_and_check(page, marked: str, source: str) -> None:
    """Put this into the code cell that holds these words now; run it and the check below."""
    cell = page.locator(".jp-CodeCell").filter(has_text=marked).first
    cell.scroll_into_view_if_needed()
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)
    _run_the_active_cell(page, "Shift+Enter")
    _run_the_active_cell(page, "Shift+Enter")


def _run_the_active_cell(page, keys: str) -> None:
    """Returns when it has run: each run gives it a new number."""
    prompt = page.locator(".jp-CodeCell.jp-mod-active .jp-InputPrompt").element_handle()
    before = prompt.inner_text()
    page.keyboard.press(keys)
    page.wait_for_function(HAS_RUN_AGAIN, arg=[prompt, before], timeout=120_000)
    page.wait_for_selector(KERNEL_IS_IDLE, timeout=120_000)


def output_of(page, source: str) -> str:
    """What stands under the cell with this source, once it has run."""
    cell = page.locator(".jp-CodeCell").filter(
        has=page.locator(".jp-Editor", has_text=re.compile(re.escape(source)))
    )
    cell.scroll_into_view_if_needed()
    cell.locator(".jp-OutputArea-output").first.wait_for(timeout=60_000)
    return cell.locator(".jp-OutputArea").inner_text()


def shot(page, name: str, whole: bool = False) -> None:
    """A picture to look at, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=whole)
