"""Feedback goes back to Moodle under the names that Moodle gave."""

import zipfile

import pytest

from autograder.classroom.collect import collect_from
from autograder.classroom.feedback_zip import feedback_zip, known_folders, write_feedback_zip
from autograder.commands.feedback import _zip_for_moodle
from tests.grading.gradebook_fixtures import STEM

NAME = f"{STEM}.ipynb"
OF_PARTICIPANT = {"4711": "ada", "4712": "grace", "3": "kurt"}


def moodle_reads(path) -> dict[str, str]:
    """Whose each page is, as Moodle's importer tells it: fullname_number_assignsubmission_plugin_,
    looked for in each part of the path; what begins with a dot or a tilde is passed over."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            *folders, file = name.split("/")
            assert file[0] not in ".~"
            for part in (*folders, file):
                words = part.split("_", 4)
                if len(words) >= 4 and words[1] in OF_PARTICIPANT:
                    assert words[2] == "assignsubmission" and words[3] in ("file", "onlinetext")
                    found[OF_PARTICIPANT[words[1]]] = archive.read(name).decode()
                    break
    return found


@pytest.fixture
def from_moodle(course, notebook, tmp_path):
    """Collect these names out of one zip, and write a page for everybody."""

    def collect(*names: str) -> None:
        with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as archive:
            for name in names:
                archive.writestr(name, notebook)
        collect_from(course, STEM, [tmp_path / "submissions.zip"])
        for student in ("ada", "grace", "kurt"):
            page = course / "feedback" / student / STEM / f"{STEM}.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(f"for {student}")

    return collect


@pytest.mark.parametrize(
    "names",
    [
        ("Ada Lovelace_4711_assignsubmission_file_/" + NAME,
         "Kurt Gödel_3_assignsubmission_file_/" + NAME),
        ("Ada Lovelace_4711_assignsubmission_file/" + NAME,
         "Kurt Gödel_3_assignsubmission_file/sub/Copy_of_1_2_3.ipynb"),
        ("Ada Lovelace_4711_assignsubmission_file_" + NAME,
         "Kurt Gödel_3_assignsubmission_file_my_own_name.ipynb"),
        ("Ada Lovelace_4711_assignsubmission_onlinetext_/" + NAME,
         "Kurt Gödel_3_assignsubmission_file_/work.zip/" + NAME),
    ],
    ids=["to 4.0", "from 4.1", "without folders", "online text"],
)  # fmt: skip
def test_moodle_finds_everybody_in_the_zip(course, from_moodle, names):
    from_moodle(*names)
    target, without = write_feedback_zip(course, STEM, ["ada", "kurt"])
    assert moodle_reads(target) == {"ada": "for ada", "kurt": "for kurt"}
    assert without == []


def test_who_was_not_collected_from_moodle_is_told_and_not_in_the_zip(course, from_moodle):
    from_moodle("Ada Lovelace_4711_assignsubmission_file_/" + NAME, "grace.ipynb")
    target, without = write_feedback_zip(course, STEM, ["ada", "grace"])
    assert (list(moodle_reads(target)), without) == (["ada"], ["grace"])


def test_one_page_written_again_leaves_the_others_in_the_zip(course, from_moodle, capsys):
    from_moodle(
        "Ada Lovelace_4711_assignsubmission_file_/" + NAME,
        "Kurt Gödel_3_assignsubmission_file_/" + NAME,
    )
    _zip_for_moodle(course, STEM, ["ada"])
    assert moodle_reads(feedback_zip(course, STEM)) == {"ada": "for ada", "kurt": "for kurt"}


def test_a_second_zip_takes_nobody_out(course, from_moodle):
    from_moodle("Ada Lovelace_4711_assignsubmission_file_/" + NAME)
    from_moodle("Grace Hopper_4712_assignsubmission_file_/" + NAME)
    assert sorted(known_folders(course, STEM)) == ["ada", "grace"]


def test_a_class_that_is_not_from_moodle_has_no_folders(course, from_moodle):
    from_moodle("ada.ipynb")
    assert known_folders(course, STEM) == {}
