"""An instructor who is not root runs a class from an empty folder, each step as it is typed."""

import shutil
import zipfile

import pytest
from click.testing import CliRunner

from autograder.commands.cli import main
from tests.grading.gradebook_fixtures import SMALL_COURSE
from tests.grading.sandbox_fixtures import NOT_ROOT, ROOT, run_as_ordinary_user

pytestmark = pytest.mark.slow

STEM = "21_my_rows"
CLASS = "id,first_name,last_name,email\nada,Ada,Lovelace,a@uni.example\nbo,Bo,Ebo,b@uni.example\n"
MOODLE = "Ada Lovelace_4711_assignsubmission_file_/Copy of mine.ipynb"


@NOT_ROOT
def test_every_command_of_a_class(tmp_path, monkeypatch):
    course, home = tmp_path / "course", tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)

    def type_(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(main, words, catch_exceptions=False)
        assert done.exit_code == code, f"$ course {' '.join(words)}\n{done.output}"
        return done.output

    (tmp_path / "class.csv").write_text(CLASS)
    type_("init", "course", "--students", "class.csv")
    monkeypatch.chdir(course)
    type_("new", "exercise", "22_begun/first_steps", "--course", ".")
    shutil.copytree(SMALL_COURSE / "01_rows", course / "solutions" / STEM)
    type_("release", STEM, "--due", "2099-01-31 23:59")
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as archive:
        archive.write(course / "release" / STEM / f"{STEM}.ipynb", MOODLE)
    assert "1 taken" in type_("collect", STEM, "../submissions.zip")
    assert "1 graded" in type_("grade", STEM, "--workers", "1")
    type_("extend", STEM, "ada", "--days", "2")
    for platform, code in (("csv", 0), ("canvas", 1), ("moodle", 0)):
        type_("export", STEM, "--for", platform, code=code)
    type_("feedback", STEM)
    with zipfile.ZipFile(course / "exports" / f"{STEM}_moodle_feedback.zip") as archive:
        assert archive.namelist() == [f"{MOODLE.partition('/')[0]}/{STEM}.html"]
    type_("report", STEM)
    type_("quiz", STEM, "--questions", "2")
    type_("island", "ada")
    type_("lab", "--help")
    type_("forget", "ada", "--yes")
    for kept in ("feedback", "autograded", "submitted"):
        assert not (course / kept / "ada").exists()
    assert course.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(not ROOT, reason="only root can be somebody else too")
def test_root_is_not_needed():
    done = run_as_ordinary_user(__file__)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
