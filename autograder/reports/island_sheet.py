"""`course island STUDENT`: an island of one's own, with questions to answer by hand, and the key.

Its numbers are not those of the book or of anybody else; the key is computed with course_lib.
"""

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import click
import numpy as np

from autograder.classroom.students import known_students
from autograder.release import course_option
from autograder.reports.quiz import MINUTES, Question
from autograder.reports.text import Typesetter, page
from autograder.seeds import secret_seed
from course_lib import softmax, softmax_at
from course_lib.island import NAMES

LEVELS = ((3, 2, 1, 1), (2, 1, 1, 0), (3, 1, 1, 0), (3, 2, 1, 0), (3, 2, 2, 0), (4, 2, 1, 0))
"""Loudnesses whose weights, powers of two over their sum, can be worked out by hand."""
PLACES = range(-4, 5)
LARGEST_DENOMINATOR = 2_000


@dataclass(frozen=True)
class Island:
    """Four radios: how loud each is for one hand, and where it stands."""

    loudness: tuple[int, ...]
    """Its score is so many times ln 2."""
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, student: str, secret: int) -> "Island":
        chance = random.Random(f"{student} {secret}")
        loudness = list(chance.choice(LEVELS))
        chance.shuffle(loudness)
        corners = [(x, y) for x in PLACES for y in PLACES]
        return cls(tuple(loudness), tuple(chance.sample(corners, len(loudness))))

    @property
    def scores(self) -> np.ndarray:
        return math.log(2) * np.array(self.loudness, dtype=float)


@click.command()
@click.argument("students", nargs=-1, required=True, metavar="STUDENT...")
@course_option
def island(students: tuple[str, ...], course: Path) -> None:
    """Make a sheet of questions on an island of the student's own, and its key, to print.

    The same student gets the same island; nobody can work it out without your course folder.

    Example: course island ada grace
    """
    folder = course / "quizzes"
    folder.mkdir(parents=True, exist_ok=True)
    secret = secret_seed(course, "island")
    names = {student.id: student.name for student in known_students(course)}
    with Typesetter() as typesetter:
        for student in students:
            if student != Path(student).name:
                raise click.UsageError(f"{student!r} is no name for a student")
            if names and student not in names:
                click.echo(
                    f"{student} is not in the list of students; the sheet is made all the same"
                )
            asked = questions(Island.of(student, secret))
            for of, is_key in (("", False), ("-key", True)):
                path = folder / f"island-{student}{of}.html"
                values = {"is_key": is_key, "minutes": MINUTES * len(asked)}
                values["which"] = f"For {names.get(student, student)}"
                title = "An island of your own"
                html = page("quiz.html", typesetter, title=title, questions=asked, **values)
                path.write_text(html, encoding="utf-8")
                path.chmod(0o600 if is_key else 0o644)
                click.echo(f"{'key  ' if is_key else 'sheet'}  {path}")


def questions(island: Island) -> list[Question]:
    """Worked by hand in order; each rests on those before it."""
    weights, places = softmax(island.scores), np.array(island.places, dtype=float)
    answer = weights @ places
    sharp = softmax_at(island.scores, 0.5)
    loudest = int(np.argmax(weights))
    rest = np.delete(np.arange(len(weights)), loudest)
    masked = softmax(island.scores[rest])
    radios = "\n".join(
        f"| {name} | ${told_level(level)}$ | ({x}, {y}) |".replace("-", "−")
        for name, level, (x, y) in zip(NAMES, island.loudness, island.places, strict=True)
    )
    table = f"| radio | score | place |\n|---|---|---|\n{radios}"
    silent = NAMES[loudest]
    slope = weights[loudest] * (1 - weights[loudest])
    return [
        Question("3", f"{table}\n\nGive the four weights as fractions.", answer=told(weights)),
        Question("1", "Where does the answer stand?", answer=told(answer)),
        Question(
            "5",
            f"{silent} falls silent: the score becomes minus infinity. Give the weights of the "
            "others, in the order of the table, and the answer.",
            answer=f"Weights {told(masked)}, answer {told(masked @ places[rest])}",
        ),
        Question(
            "3",
            "With everybody on the air again, every score is doubled. Give the weights. Which has "
            "gained, and why?",
            answer=f"{told(sharp)}: {silent} gains, since a ratio of weights is the exponential "
            "of a difference of scores",
        ),
        Question(
            "11",
            f"The score of {silent} grows by a small $t$ from what the table says. By how many "
            f"$t$ does the weight of {silent} grow?",
            answer=f"{told(slope)}, which is p (1 - p)",
        ),
    ]


def told_level(level: int) -> str:
    return {0: "0", 1: r"\ln 2"}.get(level, rf"{level} \ln 2")


def told(values: np.ndarray | float) -> str:
    """Exact fractions, since every weight is one."""
    numbers = [Fraction(float(v)).limit_denominator(LARGEST_DENOMINATOR) for v in np.ravel(values)]
    words = ", ".join(map(str, numbers))
    return words if len(numbers) == 1 else f"({words})"
