"""The pages that find things hold everything there is to find."""

import json
import re
import tomllib
import zipfile
from datetime import date
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from autograder.book.index_pages import KINDS, citation
from autograder.exercises.assignment import load_course
from tests.book.built_pages import soup

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("[0-9]*.md"))
COURSE = load_course()
STATEMENT = re.compile(r"^`{3,}\{prf:(definition|theorem|lemma|corollary)\}", re.MULTILINE)
EXERCISE = "attention:exercise:"


def chapter_page(site, name: str) -> BeautifulSoup:
    return soup(site, f"chapters/{name}.html")


def test_the_page_of_exercises_lists_each_with_its_facts(site):
    lines = chapter_page(site, "exercises").select("[data-exercise]")
    exercises = [(a.stem, exercise) for a in COURSE for exercise in a.exercises]
    for line, (stem, exercise) in zip(lines, exercises, strict=True):
        assert line["data-exercise"] == f"{stem}/{exercise.name}"
        assert line.a["href"] == f"{stem}.html#ex-{exercise.slug}"
        assert line.a.text.replace("’", "'") == f"{exercise.number} {exercise.title}"
        assert ("★" in line.text) == exercise.required
        for part, text in {
            "kind": KINDS[type(exercise)],
            "level": f"level {exercise.level} of 4",
            "minutes": f"{exercise.minutes} min",
            "points": f"{exercise.points:g} point",
        }.items():
            assert text in line.find(class_=part).text


def test_the_page_of_statements_lists_each_under_its_number_and_title(site):
    listed = {
        link["href"]: " ".join(link.parent.text.split())
        for link in chapter_page(site, "statements").select(".statements a")
    }
    written = 0
    for chapter in CHAPTERS:
        written += len(STATEMENT.findall(chapter.read_text()))
        for box in chapter_page(site, chapter.stem).select("div.admonition.proof"):
            title = " ".join(box.find(class_="admonition-title").text.split())
            expected = re.sub(r" \((.*)\)$", r" \1", title)
            assert listed.pop(f"{chapter.stem}.html#{box['id']}") == expected
            written -= 1
    assert (listed, written) == ({}, 0)


def test_every_definition_is_found_by_a_word_or_a_symbol(site):
    definitions = {
        f"{chapter.stem}.html#{box['id']}"
        for chapter in CHAPTERS
        for box in chapter_page(site, chapter.stem).select("div.proof.definition")
    }
    links = chapter_page(site, "glossary").find_all("a") + chapter_page(site, "symbols").find_all(
        "a"
    )
    assert definitions - {link["href"] for link in links} == set()


def test_the_citation_says_what_the_package_says(site):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    given = citation(ROOT)
    assert given["cff-version"] == "1.2.0"
    assert given["version"] == project["version"]
    assert isinstance(given["date-released"], date)
    page = chapter_page(site, "references").text
    assert f"{given['author']} ({given['date-released'].year}). {given['title']}" in page
    assert "@misc{attention-course" in page


def put(tab, exercise: str, state: str) -> None:
    kept = json.dumps({"version": 1, "value": {"state": state}})
    tab.evaluate("([key, kept]) => localStorage.setItem(key, kept)", [EXERCISE + exercise, kept])


@pytest.fixture
def tab(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/exercises.html")
        tab.locator(".my-state").wait_for()
        yield tab


def test_the_page_of_exercises_says_what_is_done_and_what_comes_next(tab):
    (first, *_), (other, *_) = [[e for e in a.exercises if e.required] for a in COURSE[:2]]
    box = tab.locator(".my-state")
    assert f"Next: {first.number}" in box.inner_text()
    put(tab, f"{COURSE[0].stem}/{first.name}", "solved")
    put(tab, f"{COURSE[1].stem}/{other.name}", "tried")
    tab.reload()
    assert "You have solved 1 of" in box.inner_text()
    assert f"To finish: {other.number}" in box.inner_text()
    solved = tab.locator(f"[data-exercise='{COURSE[0].stem}/{first.name}'] .state")
    assert solved.inner_text() == "✓ solved"


def test_the_state_is_saved_forgotten_and_taken_in_again(tab, tmp_path):
    name = f"{COURSE[0].stem}/{COURSE[0].exercises[0].name}"
    put(tab, name, "solved")
    tab.evaluate("localStorage.setItem('theme', 'dark')")
    tab.reload()
    with tab.expect_download() as saved:
        tab.locator(".save-state").click()
    saved.value.save_as(tmp_path / "state.json")
    assert list(json.loads((tmp_path / "state.json").read_text())) == [EXERCISE + name]
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.locator(".clear-state").click()
    assert "You have solved 0 of" in tab.locator(".my-progress").inner_text()
    assert tab.evaluate("Object.keys(localStorage)") == ["theme"]
    tab.locator(".load-state input").set_input_files(tmp_path / "state.json")
    tab.get_by_text("Taken in: 1 entries.").wait_for()
    assert "You have solved 1 of" in tab.locator(".my-progress").inner_text()
    (tmp_path / "other.json").write_text('{"theme": "dark"}')
    tab.locator(".load-state input").set_input_files(tmp_path / "other.json")
    tab.get_by_text("Nothing was taken in").wait_for()


def test_the_exercises_can_be_taken_along(tab, tmp_path):
    links = tab.locator(".take-along a")
    names = [f"{name}.zip" for name in ["mathematics_of_attention", *(a.stem for a in COURSE)]]
    assert links.all_text_contents() == names
    for name in names[:2]:
        with tab.expect_download() as taken:
            links.get_by_text(name, exact=True).click()
        taken.value.save_as(tmp_path / name)
    whole, chapter = (zipfile.ZipFile(tmp_path / name).namelist() for name in names[:2])
    stem = COURSE[0].stem
    assert {f"{stem}/course.py", f"{stem}/{stem}.ipynb", f"{stem}/{stem}.py"} <= set(chapter)
    assert {f"mathematics_of_attention/{a.stem}/{a.stem}.ipynb" for a in COURSE} <= set(whole)
    files = {Path(file).name for file in whole + chapter}
    assert not files & {"solution.py", "wrong.py", "right.py", "seed", "gradebook.db"}


def test_without_javascript_the_exercises_are_listed_and_no_state_is_promised(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/exercises.html")
        assert tab.locator(".exercise-list a").last.is_visible()
        assert not tab.locator(".my-state").is_visible()
