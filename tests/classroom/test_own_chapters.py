"""An instructor's own chapter beside ours: released, private, mended, graded again, marked."""

import csv
import json
import shutil
import zipfile
from dataclasses import replace

import nbformat
import pytest
from click.testing import CliRunner
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import handlers

from autograder.commands.exercises import exercises
from autograder.commands.grade import grade
from autograder.commands.lab import lab
from autograder.commands.release import release
from autograder.exercises.assignment import load_assignment
from autograder.exercises.new import make_exercise
from autograder.exercises.prove import answers_in
from autograder.grading.changes import before_and_after
from autograder.grading.grade_class import Change
from autograder.grading.gradebook import recorder_of
from autograder.release.course_folder import nbgrader_configuration
from autograder.release.notebooks import source_notebook
from autograder.release.rubric import ShowRubric
from course_lib.checking.verdicts import load_module
from tests.grading.gradebook_fixtures import CODE, PROOF, SMALL_COURSE, by_hand, opened, outcome

OWN = "21_my_rows"
PROOF_AGAIN = """

[[exercise]]
kind = "proof"
name = "again"
title = "Again"
minutes = 5
level = 2
goal = "proof"
prompt = "Prove it."
model = "It is so."
rubric = ["It is proved."]
"""
RIGHT = "def row_means(x):\n    return x.mean(-1)"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course folder with one chapter of its own, released by the command."""
    folder = tmp_path_factory.mktemp("own") / "course"
    shutil.copytree(SMALL_COURSE / "01_rows", folder / "solutions" / OWN)
    released = CliRunner().invoke(release, [OWN, "--course", str(folder)])
    assert released.exit_code == 0, released.output
    return folder


def texts_of(chapter) -> dict[str, str]:
    """What no student may read, as lines that stand nowhere else."""
    folder = chapter / "row_means"
    wrong = answers_in(load_module(folder / "wrong.py"))
    secrets = {f"wrong answer {name}": f"def {name}" for name in wrong}
    secrets["hidden test"] = "test_a_stack_of_matrices"
    secrets["model answer"] = (folder / "solution.py").read_text().strip().splitlines()[-1].strip()
    proof = load_assignment(chapter)["mean_of_a_shift"]
    return secrets | {"model proof": proof.model, "rubric": proof.rubric[0]}


def test_nothing_private_reaches_a_student(course):
    bundle = course / "bundles" / f"{OWN}.zip"
    with zipfile.ZipFile(bundle) as archive:
        files = {name: archive.read(name).decode(errors="replace") for name in archive.namelist()}
    assert {name.partition("/")[0] for name in files} == {OWN}
    assert not [
        n for n in files if "solutions" in n or "wrong" in n or "seeds" in n or "grader" in n
    ]
    ours = {name: text for name, text in files.items() if "/course_lib/" not in name}
    secrets = texts_of(course / "solutions" / OWN) | {
        "seed": (course / "seeds" / OWN).read_text().strip()
    }
    for what, secret in secrets.items():
        assert not [name for name, text in ours.items() if secret in text], what


def test_what_is_secret_is_closed_to_others(course):
    for path in (course / "seeds" / OWN, course / "grader" / OWN):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_name_that_is_nowhere_is_answered_with_both_kinds(course):
    said = CliRunner().invoke(release, ["99_nothing", "--course", str(course)]).output
    assert OWN in said and "03_softmax" in said


@pytest.mark.parametrize("name", ["mean_of_a_shift", OWN])
def test_an_exercise_of_this_folder_is_told_how_it_is_found(course, monkeypatch, name):
    monkeypatch.chdir(course)
    said = CliRunner().invoke(exercises, [name]).output
    assert "add  --course ." in said and "softmax" not in said
    assert "--course ." not in CliRunner().invoke(exercises, ["no_such_name"]).output


def test_outside_a_course_folder_it_is_said_where_a_release_went(course, tmp_path, monkeypatch):
    """An author tries it out there; a class needs a folder of its own."""
    place = tmp_path / "tried"
    shutil.copytree(course, place)
    monkeypatch.chdir(tmp_path)
    for verb in ("options", "release"):
        monkeypatch.setattr(f"autograder.commands.{verb}.COURSE", place)
    said = CliRunner().invoke(release, [OWN]).output
    assert "this is tried, for trying out; for a class type  course init FOLDER" in said
    monkeypatch.chdir(place)
    assert "trying out" not in CliRunner().invoke(release, [OWN]).output


@pytest.mark.parametrize(
    ("due", "said"),
    [
        ("2099-12-01 23:59", "due        2099-12-01 23:59\n"),
        ("2020-12-01", "due        2020-12-01 00:00, and that is past\n"),
    ],
)
def test_the_deadline_is_said_back(course, tmp_path, due, said):
    whole = tmp_path / "course"
    shutil.copytree(course, whole)
    assert said in CliRunner().invoke(release, [OWN, "--course", str(whole), "--due", due]).output


def test_exercises_of_ones_own_are_proved(course):
    done = CliRunner().invoke(
        exercises, ["what_a_mean_forgets", "--course", str(course), "--seeds", "1"]
    )
    assert done.exit_code == 0 and "proved" in done.output, done.output
    assert "softmax" in CliRunner().invoke(exercises, ["no_such_name"]).output


# the rubric


def shown(course, **resources) -> str:
    notebook = nbformat.read(course / "release" / OWN / f"{OWN}.ipynb", as_version=4)
    step = ShowRubric(config=nbgrader_configuration(course))
    return nbformat.writes(step.preprocess(notebook, resources)[0])


def test_whoever_marks_has_rubric_and_model_with_the_answer(course):
    page = json.loads(shown(course, submission_id="x", assignment_id=OWN))
    sources = ["".join(cell["source"]) for cell in page["cells"]]
    place = next(k for k, text in enumerate(sources) if text.startswith("#### For whoever marks"))
    for part in ("The sum of the shifted row is written down. &ensp;**1**", "$nc/n = c$"):
        assert part in sources[place]
    assert page["cells"][place + 1]["metadata"]["nbgrader"]["grade_id"] == PROOF


def formgrader_page(course) -> str:
    """As nbgrader's server extension makes it."""
    config = nbgrader_configuration(course)
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    names = ("notebook_id", "base_url", "student", "last_name", "first_name", "notebook_path")
    resources = dict.fromkeys(names, "x") | {"assignment_id": OWN, "submission_id": "x"}
    notebook = str(course / "release" / OWN / f"{OWN}.ipynb")
    more = {"index": 0, "total": 1}
    return HTMLExporter(config=config).from_filename(notebook, resources | more)[0]


@pytest.mark.browser
@pytest.mark.parametrize(("width", "beside"), [(1280, True), (600, False)])
def test_the_rubric_stands_beside_the_answer_where_there_is_room(course, browser, width, beside):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_content(formgrader_page(course), wait_until="domcontentloaded")
    rubric = page.locator(".text_cell", has_text="For whoever marks").last.bounding_box()
    answer = page.locator(".text_cell:has(input.score)").bounding_box()
    page.close()
    if beside:
        assert rubric["x"] >= answer["x"] + answer["width"] and rubric["y"] == answer["y"]
        assert answer["width"] > rubric["width"] > 300
    else:
        assert rubric["y"] + rubric["height"] <= answer["y"] and rubric["x"] == answer["x"]


@pytest.mark.browser
def test_formulas_of_the_formgrader_need_no_network(course, browser):
    page = browser.new_context(offline=True).new_page()
    page.set_content(formgrader_page(course), wait_until="domcontentloaded")
    formula = page.locator("math").first.bounding_box()
    page.context.close()
    assert formula["width"] > 5 and formula["height"] > 5


def test_a_feedback_page_has_no_rubric(course):
    assert "For whoever marks" not in shown(course, assignment_id=OWN)


def marked(course, tmp_path, marking: str):
    chapter = tmp_path / OWN
    shutil.copytree(course / "solutions" / OWN, chapter)
    toml = chapter / "assignment.toml"
    toml.write_text(toml.read_text() + f'\nmarking = "{marking}"\n')
    return source_notebook(load_assignment(chapter))


def test_a_proof_that_is_off_is_not_in_the_notebook(course, tmp_path):
    notebook = marked(course, tmp_path, "off")
    assert not [cell for cell in notebook.cells if cell.id.startswith(PROOF)]
    assert notebook.cells[0].source.splitlines()[2].startswith("2 exercises, about 15 minutes")


def test_a_proof_that_students_mark_has_its_rubric_folded_below(course, tmp_path):
    cells = marked(course, tmp_path, "self").cells
    place = next(k for k, cell in enumerate(cells) if cell.id == PROOF)
    assert "It is divided by $n$." in cells[place + 1].source
    assert cells[place + 1].source.startswith("<details>")
    assert not cells[place].metadata.get("nbgrader", {}).get("grade")


# grading again


def run_grade(course, *words: str) -> str:
    done = CliRunner().invoke(grade, [OWN, "--course", str(course), "--workers", "1", *words])
    assert done.exit_code in (0, 1), done.output
    return done.output


def hand_in(course, student: str, answer: str, proof: str) -> None:
    notebook = nbformat.read(course / "release" / OWN / f"{OWN}.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.id == "row-means":
            cell.source = f'library = "numpy"\n{answer}'
        if cell.id == PROOF:
            cell.source = proof
    folder = course / "submitted" / student / OWN
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{OWN}.ipynb")


@pytest.mark.whole
def test_a_mended_test_is_shown_before_and_after_and_hand_marks_stay(course, tmp_path):
    """A hidden test that nobody could fail is mended; who gained by it is named."""
    whole = tmp_path / "course"
    shutil.copytree(course, whole)
    tests = whole / "solutions" / OWN / "row_means" / "tests.py"
    good = tests.read_text()
    asked = 'expected=arrays.oracle(x), hint="which axis is the last?"'
    assert asked in good
    tests.write_text(good.replace(asked, asked.replace("arrays.oracle", "row_means")))
    words = [OWN, "--course", str(whole)]
    assert CliRunner().invoke(release, words).exit_code == 0
    hand_in(whole, "ada", RIGHT, "the sum grows by n c")
    hand_in(whole, "grace", RIGHT.replace("-1", "1"), "by magic")
    url = f"sqlite:///{whole / 'gradebook.db'}"
    assert "the mark is another" not in run_grade(whole)
    assert _row(url, CODE, "grace")["auto_score"] == 3.0
    mark_by_hand(url, PROOF, "grace", manual_score=1.5)
    before = handed_out(whole)
    tests.write_text(good.replace(asked, asked.replace("arrays", "-arrays")))
    refused = CliRunner().invoke(release, words)
    assert refused.exit_code == 1 and "Not released" in refused.output
    assert handed_out(whole) == before, "what was released can still be graded"
    tests.write_text(good)
    assert f"have changed since the release:  course release {OWN}" in run_grade(whole)
    assert CliRunner().invoke(release, words).exit_code == 0
    said = run_grade(whole)
    assert "since the release" not in said
    assert [_row(url, CODE, name)["auto_score"] for name in ("ada", "grace")] == [3.0, 2.0]
    assert _row(url, PROOF, "grace")["manual_score"] == 1.5
    assert not _row(url, PROOF, "grace")["needs_manual_grade"], "the answer has not changed"
    assert "the answer is the same, and the mark is another" in said
    with (whole / "grading" / OWN / "changes.csv").open() as file:
        assert list(csv.DictReader(file)) == [
            {"student": "grace", "exercise": CODE, "before": "3.0", "after": "2.0"}
        ]
    assert "the mark is another" not in run_grade(whole, "--again"), "again changes nothing"


@pytest.fixture
def graded(course, tmp_path):
    """A copy of the course in which the gradebook has work of somebody."""
    whole = tmp_path / "course"
    shutil.copytree(course, whole)
    with recorder_of(whole, nbgrader_configuration(whole)) as recorder:
        recorder.record(replace(outcome(), assignment=OWN))
    return whole


@pytest.mark.parametrize("others", ["dropped", "added", "marked in another way"])
def test_what_is_graded_keeps_its_exercises(graded, others):
    """Refused by name, and all that was released stays, the seed included."""
    chapter = graded / "solutions" / OWN
    toml = chapter / "assignment.toml"
    name = "mean_of_a_shift"
    if others == "dropped":
        toml.write_text(toml.read_text().rpartition("[[exercise]]")[0])
    elif others == "added":
        name = "again"
        toml.write_text(toml.read_text() + PROOF_AGAIN)
    else:
        toml.write_text(toml.read_text() + '\nmarking = "self"\n')
    before, seed = handed_out(graded), (graded / "seeds" / OWN).read_text()
    done = CliRunner().invoke(release, [OWN, "--course", str(graded), "--reseed"])
    assert done.exit_code == 1
    assert f"  {others}: {name}\n" in done.output and "Nothing was changed" in done.output
    assert "INFO" not in done.output and "Traceback" not in done.output
    assert handed_out(graded) == before and (graded / "seeds" / OWN).read_text() == seed


def test_a_release_that_nbgrader_refuses_leaves_the_last_one(course, tmp_path, monkeypatch):
    """Whatever it is; the reason is its last line."""
    from nbgrader.preprocessors import ClearMarkScheme

    def refuse(*_):
        raise RuntimeError("no, not today")

    whole = tmp_path / "course"
    shutil.copytree(course, whole)
    monkeypatch.setattr(ClearMarkScheme, "preprocess", refuse)
    before, seed = handed_out(whole), (whole / "seeds" / OWN).read_text()
    done = CliRunner().invoke(release, [OWN, "--course", str(whole), "--reseed"])
    assert done.exit_code == 1 and "no, not today" in done.output
    assert "INFO" not in done.output and "Traceback" not in done.output
    assert handed_out(whole) == before and (whole / "seeds" / OWN).read_text() == seed
    assert not list(whole.glob(".release-*"))


def test_only_what_can_be_graded_is_called_released(course, tmp_path):
    whole = tmp_path / "course"
    shutil.copytree(course, whole)
    shutil.rmtree(whole / "release" / OWN)
    said = CliRunner().invoke(grade, [OWN, "--course", str(whole)]).output
    assert "released there: nothing yet" in said


def handed_out(course) -> dict[str, bytes]:
    """What a release makes."""
    folders = (course / name for name in ("source", "release", "grader", "bundles"))
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files}


def _row(url, cell, student):
    with opened(url) as gradebook:
        return gradebook.find_grade(cell, OWN, OWN, student).to_dict()


def mark_by_hand(url, cell, student, **values):
    with opened(url) as gradebook:
        by_hand(gradebook.find_grade(cell, OWN, OWN, student), **values)
        gradebook.db.commit()


def test_the_table_adds_up_and_ends():
    changes = [Change(f"student_{k}", "a-check", 1.0, 2.5) for k in range(30)]
    changes.append(Change("last", "b-check", 2.0, 1.0))
    lines = before_and_after(changes)
    assert any("a-check" in line and "+45" in line and " 30 " in line for line in lines)
    assert any("b-check" in line and "-1" in line for line in lines)
    assert lines[-2] == "  and 11 more" and len(lines) < 40


def test_a_chapter_that_is_not_filled_in_opens_with_a_line_and_no_traceback(tmp_path, monkeypatch):
    folder = tmp_path / "course"
    chapter = folder / "solutions" / "98_empty"
    shutil.copytree(SMALL_COURSE / "01_rows", chapter)
    (folder / "nbgrader_config.py").touch()
    make_exercise(chapter.parent, "98_empty/column_means", "code")
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(lab, ["98_empty"])
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit)
    assert "Prove the chapter first:  course exercises 98_empty --course " in done.output
