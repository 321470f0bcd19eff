"""As many tests run at once as there are cores: each, and what it starts, keeps to one thread."""

import contextlib
import os
import shutil
import signal
from pathlib import Path

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as `make test &` leaves it to all below it
    signal.signal(signal.SIGINT, signal.default_int_handler)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser():
    """A real Chromium of this machine, one for all tests of a process; none is ever downloaded."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        line = f"browser tests not run: none of {', '.join(BROWSERS)} is on the path"
        pytest.fail(line) if os.environ.get("CI") == "true" else pytest.skip(line)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        as_root = hasattr(os, "geteuid") and os.geteuid() == 0
        chromium = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"] * as_root
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def released(tmp_path_factory) -> Path:
    """The course folder of a small course that nbgrader has released; no test may change it."""
    from autograder.exercises.assignment import load_assignment
    from autograder.release.build import make_release
    from tests.grading.gradebook_fixtures import SMALL_COURSE, STEM

    course = tmp_path_factory.mktemp("released")
    make_release(load_assignment(SMALL_COURSE / STEM), course)
    return course


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A failure in a browser tells what stood on its pages."""
    report = yield
    if report.failed and (browser := getattr(item, "funcargs", {}).get("browser")):
        for page in (page for context in browser.contexts for page in context.pages):
            with contextlib.suppress(Exception):  # the page may be what has failed
                report.sections.append((page.url, page.locator("body").inner_text()[:5000]))
    return report
