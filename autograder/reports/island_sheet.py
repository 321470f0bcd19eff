"""`course island STUDENT`: an island of one's own, with questions to answer by hand, and the key.

Its numbers are not those of the book or of anybody else; the key is computed with course_lib.
"""

import math
import random
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from autograder.reports.quiz import Question
from course_lib.island import NAMES
from course_lib.softmax_family import softmax, softmax_at

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
