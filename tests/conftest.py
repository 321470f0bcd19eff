"""As many tests run at once as there are cores: each, and what it starts, keeps to one thread."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import SharedFolders

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as `make test &` leaves it to all below it
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
HEAVY = ("slow", "nightly", "browser", "whole")
LONGEST_FIRST = (
    "test_setup_install.py",
    "grading/test_attacks_as_user.py",
    "grading/test_attacks.py",
    "grading/test_grade.py",
    "book/test_try_it.py",
    "book/test_pages.py",
    "exercises/test_fresh_python.py",
    "grading/test_kernel.py",
    "grading/test_cluster.py",
    "classroom/test_hub.py",
    "classroom/test_walk.py",
    "grading/test_journal.py",
    "exercises/test_jupyterlab.py",
    "book/test_moving_figures.py",
    "exercises/test_round_trip.py",
    "grading/test_demo.py",
)
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
def shared(request, tmp_path_factory):
    """Folders that are made once in a test run; a test that changes one makes the run fail."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):  # the folder of this worker of xdist
        folder = folder.parent
    folders = SharedFolders(folder / "shared")
    yield folders
    assert folders.changed() == [], "changed by a test, although all tests share it"


@pytest.fixture(scope="session")
def released(shared) -> Path:
    """The course folder of a small course that nbgrader has released; no test may change it."""
    from tests.grading.gradebook_fixtures import SMALL_COURSE, STEM

    return _released(shared, SMALL_COURSE / STEM)


@pytest.fixture(scope="session")
def released_softmax(shared) -> Path:
    """The same of chapter 3."""
    return _released(shared, ROOT / "solutions" / "03_softmax")


@pytest.fixture(scope="session")
def venv_with_pip(shared) -> Path:
    """The .venv of somebody who has installed nothing yet; a copy of it works, too."""

    def make(folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)

    return shared.get("venv", make)


def _released(shared: SharedFolders, chapter: Path) -> Path:
    from autograder.exercises.assignment import load_assignment
    from autograder.release.build import make_release

    def release(course: Path) -> None:
        make_release(load_assignment(chapter), course)

    return shared.get(chapter.name, release)


def pytest_terminal_summary(terminalreporter, config):
    """A message that nobody is told any more has left its snapshot behind."""
    if config.option.update_snapshots or {"failed", "error"} & terminalreporter.stats.keys():
        return  # what did not run is no evidence
    if config._syrupy.report.num_unused:
        terminalreporter.write_line("Snapshots of messages are unused. Remove them:  make messages")


@pytest.hookimpl(trylast=True)  # when -m has chosen
def pytest_collection_modifyitems(config, items):
    """With --dist loadfile a long file that comes last would keep one core busy alone."""
    if config.pluginmanager.has_plugin("randomly"):
        return
    heavy = {item.path for item in items if any(map(item.get_closest_marker, HEAVY))}

    longest = [ROOT / "tests" / name for name in LONGEST_FIRST]
    last = len(longest)

    def rank(item) -> int:
        return longest.index(item.path) if item.path in longest else last + (item.path not in heavy)

    items.sort(key=rank)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A failure in a browser tells what stood on its pages."""
    report = yield
    if report.failed and (browser := getattr(item, "funcargs", {}).get("browser")):
        for page in (page for context in browser.contexts for page in context.pages):
            with contextlib.suppress(Exception):  # the page may be what has failed
                report.sections.append((page.url, page.locator("body").inner_text()[:5000]))
    return report
