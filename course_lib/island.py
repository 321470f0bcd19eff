r"""The running example of the book: four radios on an island.

Keys live on the dial, values live on the map, the query is the needle of the receiver.
Every page, figure, test and message takes its numbers from here; they are typed nowhere else.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class Radio(NamedTuple):
    """One person on the island: her key's place on the dial and her own on the map."""

    name: str
    angle: float
    """Degrees on the dial, counter-clockwise."""
    place: str
    east: float
    north: float
    marker: str
    """The matplotlib marker that stands for this person in every figure."""


RADIOS = (
    Radio("Ada", 0.0, "harbour", 1.0, 1.0, "o"),
    Radio("Bo", 60.0, "mill", 9.0, 1.0, "s"),
    Radio("Cem", 90.0, "tower", 9.0, 7.0, "^"),
    Radio("Dia", 270.0, "well", 1.0, 7.0, "D"),
)
NAMES = tuple(radio.name for radio in RADIOS)
PLACES = tuple(radio.place for radio in RADIOS)
MARKERS = tuple(radio.marker for radio in RADIOS)

SHARPNESS = 2 * math.log(2)
r"""Half a unit of cosine is then a factor of two: the shares can be checked in the head."""

MAP_CENTRE = (5.0, 4.0)
SEA = (0.0, 0.0)
"""The origin is no place on the island, so that a forgotten normalisation is seen at once."""


def on_the_dial(angle: float) -> Float[np.ndarray, " 2"]:
    r"""Return the unit vector at `angle` degrees, exact where cosine or sine is 0, 1/2 or 1."""
    return np.array([_cosine(angle), _cosine(angle - 90)])


def _cosine(angle: float) -> float:
    angle = abs((angle + 180) % 360 - 180)
    exact: dict[float, float] = {0: 1.0, 60: 0.5, 90: 0.0, 120: -0.5, 180: -1.0}
    return exact.get(angle, math.cos(math.radians(angle)))


KEYS: Float[np.ndarray, "4 2"] = np.array([on_the_dial(radio.angle) for radio in RADIOS])
VALUES: Float[np.ndarray, "4 2"] = np.array([(radio.east, radio.north) for radio in RADIOS])


def hand(angle: float, sharpness: float = SHARPNESS) -> Float[np.ndarray, " 2"]:
    r"""Return the query that points at `angle` degrees.

    $q = \beta\sqrt{2}\,(\cos\varphi, \sin\varphi)$, so that the scaled score of a key at angle
    $\theta$ is $q \cdot k/\sqrt{2} = \beta\cos(\varphi - \theta)$.
    """
    return sharpness * math.sqrt(2) * on_the_dial(angle)


def scores(angle: float = 0.0, sharpness: float = SHARPNESS) -> Float[np.ndarray, " 4"]:
    r"""Return the scaled scores of the four keys, $\ln 2\,(2, 1, 0, 0)$ for the needle on Ada.

    $s_j = q \cdot k_j/\sqrt{2}$
    """
    products: np.ndarray = KEYS @ hand(angle, sharpness)
    return products / math.sqrt(2)


def cards() -> Float[np.ndarray, "4 4"]:
    """Return the four cards: a key and a value side by side, d_model = 4."""
    return np.hstack([KEYS, VALUES])


def story(words: str) -> Float[np.ndarray, "n 4"]:
    """Return one row for each word of a story: a full stop, which begins it, is the blank card.

    A name fills the first two of the four numbers, a place the last two.
    """
    rows = {".": np.zeros(4)}
    for radio, key, value in zip(RADIOS, KEYS, VALUES, strict=True):
        rows[radio.name] = np.concatenate([key, np.zeros(2)])
        rows[radio.place] = np.concatenate([np.zeros(2), value])
    unknown = [word for word in words.split() if word not in rows]
    if unknown:
        raise ValueError(
            f"no radio and no place is called {unknown[0]!r}; a story knows {sorted(rows)}"
        )
    return np.array([rows[word] for word in words.split()])
