"""A whole assignment as two people meet it: handed out, done, handed in, graded, given back.

The student works in JupyterLab and the instructor marks in the formgrader, both in a real browser;
everything else is typed as the pages say.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.lab import (
    TOKEN,
    jupyterlab,
    open_notebook,
    output_of,
    run_all,
    shot,
    tools,
    write_and_check,
)

pytestmark = [pytest.mark.slow, pytest.mark.browser]

STEM = "03_softmax"
SOFTMAX = """library = "numpy"
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)"""
NAIVE = """library = "numpy"
def logsumexp(x, axis=-1):
    return np.log(np.exp(x).sum(axis=axis))"""
PROOF = "variance-in-the-jacobian"
WORDS = r"Since $\sum_j p_j = 1$, the variance of $z$ under $p$ is what remains."
CLASS = "Vorname;Nachname;E-Mail\nAda;Lovelace;ada@uni.example\nGrace;Hopper;grace@uni.example\n"


def type_(*words: object, cwd: Path, codes: tuple[int, ...] = (0,)) -> str:
    """One line in a terminal, and what it says."""
    here = os.environ | {"PATH": tools()}
    done = subprocess.run(list(map(str, words)), cwd=cwd, capture_output=True, text=True, env=here)
    print(f"$ {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    assert done.returncode in codes and "Traceback" not in done.stderr
    return done.stdout


def write_proof(page, marked: str, text: str) -> None:
    cell = page.locator(".jp-MarkdownCell").filter(has_text=marked).first
    cell.scroll_into_view_if_needed()
    cell.locator(".jp-RenderedMarkdown").dblclick()
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    page.keyboard.press("Shift+Enter")


def student_works(browser, bundle: Path, place: Path) -> Path:
    """Opens the bundle, does two exercises and a proof, validates, hands in."""
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(place)
    folder = place / STEM
    with jupyterlab(folder, place / "home", "course.py", "lab") as address:
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(120_000)
        open_notebook(page, address, STEM)
        run_all(page)
        write_and_check(page, "def softmax(", SOFTMAX)
        assert "properties looked at here hold" in output_of(page, 'check("softmax")')
        write_and_check(page, "def logsumexp(", NAIVE)
        said = output_of(page, 'check("logsumexp")')
        assert "Adding c to a row adds c to its answer" in said
        shot(page, "walk_1_student", whole=True)
        write_proof(page, "Write your proof here", WORDS)
        saves = "/api/contents/"  # Validate saves, too: two at once ask which one is meant
        with page.expect_response(lambda a: a.request.method == "PUT" and saves in a.url):
            page.keyboard.press("Control+s")
        page.get_by_role("button", name="Validate").click()
        dialog = page.locator(".jp-Dialog")
        dialog.wait_for(timeout=240_000)
        shot(page, "walk_2_validate", whole=True)
        assert "failed" in dialog.inner_text().lower(), dialog.inner_text()
        dialog.get_by_role("button", name="OK").click()
        page.close()
    said = type_(sys.executable, "course.py", "submit", cwd=folder)
    assert "Hand in this file" in said
    return folder / "hand_in" / f"{STEM}.ipynb"


def instructor_marks(browser, course: Path, place: Path) -> None:
    """Opens the formgrader, reads the rubric, types a mark and a word."""
    with jupyterlab(course, place / "instructor", "-m", "jupyterlab") as address:
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(120_000)
        page.goto(f"{address}/lab?token={TOKEN}")  # which logs in; the formgrader does not
        page.wait_for_selector("#jp-top-panel")
        page.goto(
            f"{address}/formgrader/gradebook/{STEM}/{STEM}",
            wait_until="domcontentloaded",
        )
        page.get_by_role("link", name=re.compile("Submission #1")).first.click()
        heading = page.get_by_role("heading", name="For whoever marks", exact=True)
        heading.wait_for()
        rubric, mark = heading.bounding_box(), page.locator(f"input#{PROOF}").bounding_box()
        assert rubric["x"] > mark["x"], "the rubric is beside the answer"
        assert abs(mark["y"] - rubric["y"]) < 60
        heading.scroll_into_view_if_needed()
        shot(page, "walk_3_formgrader", whole=True)
        page.fill(f"input#{PROOF}", "1.5")
        with page.expect_response(lambda answer: answer.request.method == "PUT") as saved:
            page.keyboard.press("Tab")
        assert saved.value.ok
        page.close()


def test_a_whole_assignment(tmp_path, browser):
    started = time.monotonic()
    (tmp_path / "class.csv").write_bytes(CLASS.encode("utf-8-sig"))
    course = tmp_path / "attention"
    type_("course", "init", course, "--students", "class.csv", cwd=tmp_path)
    type_("course", "release", STEM, "--due", "2099-01-31 23:59", cwd=course)

    handed_in = student_works(browser, course / "bundles" / f"{STEM}.zip", tmp_path)

    submissions = tmp_path / "submissions.zip"
    with zipfile.ZipFile(submissions, "w") as archive:
        archive.write(
            handed_in, f"Ada Lovelace_4711_assignsubmission_file_/Copy of {STEM} (3).ipynb"
        )
        archive.writestr("Grace Hopper_4712_assignsubmission_file_/essay.docx", b"PK word")
    said = type_("course", "collect", STEM, submissions, cwd=course, codes=(1,))
    assert (
        "ada Ada Lovelace: was called Copy of" in said
        and "grace Grace Hopper: handed in essay.docx" in said
    )
    said = type_("course", "grade", STEM, cwd=course, codes=(0, 1))
    assert "1 graded" in said and "1 answer waits for a person" in said
    said = type_("course", "export", STEM, cwd=course, codes=(1,))
    assert "not final" in said and "ada" in said

    instructor_marks(browser, course, tmp_path)

    type_("course", "export", STEM, "--for", "canvas", cwd=course, codes=(0, 1))
    with (course / "exports" / f"{STEM}_canvas.csv").open(newline="") as file:
        lines = {line["Student"]: line for line in csv.DictReader(file)}
    mark = float(lines["Lovelace, Ada"][STEM])
    assert mark % 1 == 0.5 and "Hopper, Grace" not in lines
    before = (course / "exports" / f"{STEM}_canvas.csv").read_bytes()
    for words in (("collect", STEM, submissions), ("grade", STEM, "--again"), ("export", STEM)):
        type_("course", *words, cwd=course, codes=(0, 1))
    type_("course", "export", STEM, "--for", "canvas", cwd=course, codes=(0, 1))
    assert (course / "exports" / f"{STEM}_canvas.csv").read_bytes() == before, "again is harmless"

    type_("course", "feedback", STEM, cwd=course)
    (feedback,) = (course / "feedback" / "ada" / STEM).glob("*.html")
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(feedback.as_uri())
    text = page.locator("body").inner_text()
    shot(page, "walk_4_feedback", whole=True)
    page.close()
    assert "logsumexp" in text
    assert "For whoever marks" not in text and "A model proof" not in text
    print(f"the whole walk: {time.monotonic() - started:.0f} s")
    shutil.rmtree(course)
