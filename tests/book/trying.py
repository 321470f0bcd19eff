"""A book of boxes alone; an exercise as its reader uses it; the same answer in a notebook."""

import contextlib
import io
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from autograder.book.try_it import write_open_checks
from autograder.exercises.assignment import Assignment, Exercise
from course_lib.checking import notebook, page
from tests.book.conftest import HEADER, ROOT

TWO_MINUTES = 120_000


def write_book(root: Path, shown: dict[str, Iterable[Exercise]]) -> Path:
    """By chapter, the exercises whose boxes stand in it."""
    for name in ("autograder", "course_lib", "solutions"):
        (root / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "_config.yml", root)
    chapters = root / "chapters"
    chapters.mkdir()
    (chapters / "references.bib").write_text("")
    (chapters / "start.md").write_text("# Start\n")
    listed = ""
    for stem, exercises in shown.items():
        boxes = "".join(f"\n```{{course-exercise}} {e.name}\n```\n" for e in exercises)
        (chapters / f"{stem}.md").write_text(f"{HEADER}# Chapter\n{boxes}")
        listed += f"  - file: chapters/{stem}\n"
    (root / "_toc.yml").write_text(f"format: jb-book\nroot: chapters/start\nchapters:\n{listed}")
    return root


class Tried:
    """The cell of one exercise."""

    def __init__(self, context, address: str, chapter: str, name: str):
        self.asked: list[str] = []
        self.tab = context.new_page()
        self.tab.on("request", lambda request: self.asked.append(request.url))
        self.tab.goto(f"{address}/chapters/{chapter}.html", wait_until="networkidle")
        self.at(name)

    def at(self, name: str) -> "Tried":
        self.box = self.tab.locator(f"#ex-{name.replace('_', '-')}")
        self.text, self.result = self.box.locator("textarea"), self.box.locator(".try-result")
        return self

    def open(self) -> "Tried":
        self.press("Try it here")
        return self

    def press(self, button: str) -> None:
        self.box.get_by_role("button", name=button, exact=True).click()

    def output_of(self, button: str, answer: str | None = None) -> str:
        """What comes out when a button is pressed."""
        if answer is not None:
            self.text.fill(answer)
        self.press(button)
        self.box.get_by_role("button", name="Stop").wait_for(state="hidden", timeout=TWO_MINUTES)
        return self.result.text_content()

    def wait_for(self, text: str) -> None:
        self.box.get_by_text(text).wait_for(timeout=TWO_MINUTES)


class Notebook:
    """What `check` prints in a notebook's folder."""

    def __init__(self, assignment: Assignment, folder: Path):
        self.folder = folder
        write_open_checks(assignment, folder)

    def hints(self, name: str) -> list[str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            return page.hints(name)

    def check(self, name: str, answer: str) -> str:
        cells = notebook.Cells()
        cells.ran("set-up", page.SET_UP)
        cells.ran(name, answer)
        printed = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
            patch.chdir(self.folder)
            patch.setattr(notebook, "cells", cells)
            notebook.check(name)
        return printed.getvalue()
