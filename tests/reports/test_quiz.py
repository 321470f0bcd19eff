"""course quiz: every chapter has one, its key is what the tests find, the sheet tells nothing."""

import re

import numpy as np
import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner

from autograder.commands.cli import main
from autograder.exercises.assignment import CodeExercise, load_assignment
from autograder.exercises.prove import RUNS, answers_in
from autograder.paths import ROOT
from autograder.reports.quiz import Mistakes, make_quiz, said
from course_lib.checking.verdicts import load_module, run_test

STEMS = sorted(path.parent.name for path in (ROOT / "solutions").glob("*/assignment.toml"))


@pytest.fixture(params=["01_weighted_average", "03_softmax"])
def assignment(request):
    return load_assignment(ROOT / "solutions" / request.param)


GIVES = re.compile(r"It gives (.+?) in place of (.+?): ")


@pytest.mark.parametrize("stem", STEMS)
def test_every_chapter_has_one(stem):
    """In NumPy, which students know; and a slip that shows on other numbers only is no question
    about these."""
    asked = make_quiz(load_assignment(ROOT / "solutions" / stem), 1, 20)
    assert len(asked) > 3 and all(question.answer for question in asked)
    for question in asked:
        assert not re.search(r"\bxp\b|array_namespace", question.code), question.code
    sheets = [make_quiz(load_assignment(ROOT / "solutions" / stem), seed, 20) for seed in range(4)]
    given = [q for sheet in sheets for q in sheet if q.asked.startswith("What does this code")]
    for got, due in (GIVES.match(question.answer).groups() for question in given):
        assert got != due
    assert given or stem != "03_softmax"


def test_a_seed_gives_one_sheet_and_another_seed_another(assignment):
    first = make_quiz(assignment, 1, 6)
    assert len(first) == 6
    assert len({question.exercise for question in first}) > 2
    assert make_quiz(assignment, 1, 6) == first
    assert make_quiz(assignment, 2, 6) != first


def test_no_question_holds_its_answer(assignment):
    words = {
        wrong.__name__
        for exercise in assignment.exercises
        if isinstance(exercise, CodeExercise)
        for wrong in answers_in(load_module(exercise.folder / "wrong.py")).values()
    }
    for question in make_quiz(assignment, 3, 12):
        slip = question.answer.partition(": ")[2] or question.answer
        assert slip not in question.asked + question.code
        defined = re.findall(r"^def (\w+)", question.code, re.MULTILINE)
        assert not words & set(defined) or defined[-1] == assignment[defined[-1]].name


def test_the_code_that_is_shown_breaks_what_the_key_says(assignment):
    """It is run as it stands on the sheet, with what wrong.py imports."""
    tried = 0
    for question in make_quiz(assignment, 5, 20):
        if not question.choices:
            continue
        exercise = next(e for e in assignment.exercises if e.number == question.exercise)
        namespace = vars(load_module(exercise.folder / "wrong.py")) | {"np": np}
        exec(question.code, namespace)
        mistakes = Mistakes(exercise)
        run = RUNS[exercise.library][0]
        property_of = {test.name: test.property for test in exercise.tests}
        broken = {
            property_of[name]
            for name, test in mistakes.tests.items()
            if not run_test(test, namespace[exercise.name], run, mistakes.oracle).passed
        }
        letters = question.answer.partition(":")[0].split(", ")
        assert {text for letter, text in question.choices if letter in letters} == broken
        tried += 1
    assert tried


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([0.5, 0.25, 0.125], "(1/2, 1/4, 1/8)"),
        ([1.3862943611198906, 0.0], "(2 ln 2, 0)"),
        ([[1.0, -1.0], [0.0, 2.0]], "((1, -1), (0, 2))"),
        ([0.6931471805599453 / 2, -0.6931471805599453], "(1/2 ln 2, -ln 2)"),
        (2.0794415416798357, "3 ln 2"),
        ([float("inf"), float("nan")], "(inf, nan)"),
        ([0.123456], None),
        (list(range(9)), None),
    ],
)
def test_numbers_are_said_as_one_writes_them_by_hand(value, words):
    assert said(np.array(value, dtype=float)) == words


def test_the_sheet_is_for_students_and_the_key_is_not(tmp_path, released_softmax):
    course = ["--course", str(released_softmax)]
    words = ["quiz", "03_softmax", "--seed", "7", "--to", str(tmp_path), *course]
    assert CliRunner().invoke(main, words, catch_exceptions=False).exit_code == 0
    sheet, key = (tmp_path / f"03_softmax-7{of}.html" for of in ("", "-key"))
    questions = make_quiz(load_assignment(ROOT / "solutions" / "03_softmax"), 7, 6)
    assert "http" not in re.sub(r'"http://www.w3.org/[^"]*"', "", sheet.read_text())
    texts = [BeautifulSoup(path.read_text(), "html.parser").get_text() for path in (sheet, key)]
    for question in questions:
        if "$" not in question.answer:
            answer = question.answer[1:]
            assert answer in texts[1] and answer not in texts[0]
    assert key.stat().st_mode & 0o077 == 0
