"""course island: everybody has another, and its key is what exact fractions give."""

import re
from fractions import Fraction

import pytest
from click.testing import CliRunner

from autograder.commands.cli import main
from autograder.reports.island_sheet import LEVELS, Island, questions

STUDENTS = [f"student_{k}" for k in range(40)]


def fractions(text: str) -> list[Fraction]:
    return [Fraction(number) for number in re.findall(r"-?\d+(?:/\d+)?", text)]


@pytest.mark.parametrize("student", STUDENTS[:12])
def test_the_key_is_exact(student):
    """Independently: powers of two over their sum, in fractions."""
    island = Island.of(student, 1)
    weights, place, masked, sharp, slope = (q.answer for q in questions(island))
    powers = [Fraction(2**level) for level in island.loudness]
    p = [power / sum(powers) for power in powers]
    loudest = max(range(4), key=lambda k: p[k])
    others = [k for k in range(4) if k != loudest]
    assert fractions(weights) == p
    assert fractions(place) == [
        sum(p[k] * island.places[k][axis] for k in range(4)) for axis in (0, 1)
    ]
    left = [powers[k] / sum(powers[j] for j in others) for k in others]
    there = [
        sum(w * island.places[k][axis] for w, k in zip(left, others, strict=True))
        for axis in (0, 1)
    ]
    assert fractions(masked) == left + there
    squares = [power**2 for power in powers]
    assert fractions(sharp.partition(":")[0]) == [square / sum(squares) for square in squares]
    assert fractions(slope)[0] == p[loudest] * (1 - p[loudest])


def test_everybody_has_another_and_always_the_same():
    assert len({Island.of(student, 1) for student in STUDENTS}) == len(STUDENTS)
    assert Island.of("ada", 1) == Island.of("ada", 1) != Island.of("ada", 2)


def test_one_radio_is_the_loudest_and_no_island_is_that_of_the_book():
    assert all(sorted(levels)[-1] > sorted(levels)[-2] for levels in LEVELS)
    assert (2, 1, 0, 0) not in LEVELS


def test_the_sheet_is_without_the_key(tmp_path):
    words = ["island", "ada", "bo", "--course", str(tmp_path)]
    assert CliRunner().invoke(main, words, catch_exceptions=False).exit_code == 0
    sheet, key = (tmp_path / "quizzes" / f"island-ada{of}.html" for of in ("", "-key"))
    assert "For ada" in sheet.read_text()
    secret = int((tmp_path / "seeds" / "island").read_text())
    for question in questions(Island.of("ada", secret)):
        assert question.answer in key.read_text() and question.answer not in sheet.read_text()
    assert key.stat().st_mode & 0o077 == 0
