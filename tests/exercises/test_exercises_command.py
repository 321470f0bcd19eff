"""`course exercises` as an author and a machine read it."""

import json

import pytest
from click.testing import CliRunner

from autograder.commands import cli
from autograder.commands import exercises as exercises_command


@pytest.fixture
def type_in(course, monkeypatch, tmp_path):
    """Type words after `course exercises`, in front of the small course."""
    monkeypatch.setattr(exercises_command, "load_course", lambda _: course.load_all())
    monkeypatch.setattr(exercises_command, "PROOFS", tmp_path / "proofs")

    def run(*words):
        return CliRunner().invoke(cli.main, ["exercises", *words], env={"COLUMNS": "120"})

    return run


def cells(line):
    return [cell for cell in line.split("  ") if cell]


def test_a_sound_course_gives_a_table_and_exit_code_0(type_in):
    done = type_in("--seeds", "1")
    assert done.exit_code == 0, done.output
    rows = {cells(line)[0].strip(): cells(line) for line in done.stdout.splitlines() if line}
    assert [cell.strip() for cell in rows["row_means"]] == [
        "row_means",
        "code",
        "3",
        "3",
        "3 of 3",
        "5 of 5",
        "proved",
    ]
    assert rows["what_a_mean_forgets"][-1].strip() == "proved"
    assert rows["mean_of_a_shift"][-1].strip() == "proved"
    assert "\n  sum_only\n" not in done.stdout, "messages are for who asks for one"


def test_a_refused_exercise_gives_json_and_exit_code_1(type_in, course):
    course.spoil("row_means/wrong.py", "return x.mean(1)", "return x.mean(-1)")
    done = type_in("--seeds", "1", "--json")
    assert done.exit_code == 1
    proofs = {proof["exercise"]: proof for proof in json.loads(done.stdout)}
    assert [proof["holds"] for proof in proofs.values()] == [False, True, True]
    fault = proofs["row_means"]["faults"][0]
    assert fault["file"] == "01_rows/row_means/wrong.py"
    assert fault["function"] == "second_axis"
    assert "test_a_stack_of_matrices" in fault["problem"]
    done = type_in("--seeds", "1", "row_means")
    assert done.exit_code == 1
    assert "refused: 1" in done.stdout
    assert f"refused: {fault['file']}, second_axis: " in done.stderr


def test_an_exercise_by_name_comes_with_the_message_of_every_wrong_answer(type_in):
    done = type_in("--seeds", "1", "row_means")
    assert done.exit_code == 0, done.output
    for name in ("sum_only", "one_too_few", "second_axis"):
        assert f"\n  {name}\n" in done.stdout
    (proof,) = json.loads(type_in("--seeds", "1", "row_means", "--json").stdout)
    assert all(
        message in done.stdout.replace("\n    ", "\n") for message in proof["messages"].values()
    )
    assert "what_a_mean_forgets" not in done.stdout


def test_a_folder_that_cannot_be_read_gives_exit_code_2(type_in, course):
    (course.chapter / "row_means" / "prompt.md").unlink()
    done = type_in()
    assert done.exit_code == 2
    assert f"{course.chapter / 'row_means' / 'prompt.md'}: " in done.stderr


def test_an_unknown_name_is_answered_with_the_known_ones(type_in):
    done = type_in("row_mean")
    assert done.exit_code == 2
    assert "01_rows, row_means, what_a_mean_forgets, mean_of_a_shift" in done.stderr


def test_no_seed_at_all_proves_nothing_and_is_refused(type_in):
    done = type_in("--seeds", "0")
    assert done.exit_code == 2
    assert "--seeds" in done.stderr


def test_a_course_without_exercises_is_said(type_in, course, monkeypatch):
    monkeypatch.setattr(exercises_command, "load_course", lambda _: [])
    done = type_in()
    assert done.exit_code == 2 and done.stderr


def test_help_shows_an_example_on_a_line_of_its_own(type_in):
    lines = [line.split() for line in type_in("--help").stdout.splitlines()]
    assert ["Example:", "course", "exercises", "softmax"] in lines
