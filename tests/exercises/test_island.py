"""The numbers of the island, each computed here a second time by a few lines of NumPy."""

import math

import numpy as np
import pytest

from course_lib import island

LN2 = math.log(2)


def softmax(scores):
    exponentials = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def weights(angle=0.0, sharpness=island.SHARPNESS, keys=island.KEYS):
    return softmax(keys @ island.hand(angle, sharpness) / math.sqrt(2))


def close(got, expected, digits=12):
    np.testing.assert_allclose(got, expected, rtol=0, atol=0.5 * 10.0**-digits)


def louder(factor):
    """The keys when Bo's radio is `factor` times as loud."""
    return island.KEYS * np.array([[1.0], [factor], [1.0], [1.0]])


def test_each_person_has_a_key_on_the_dial_and_a_place_on_the_map():
    assert island.NAMES == ("Ada", "Bo", "Cem", "Dia")
    assert island.PLACES == ("harbour", "mill", "tower", "well")
    assert len(set(island.MARKERS)) == 4
    close(island.KEYS, [[1, 0], [1 / 2, math.sqrt(3) / 2], [0, 1], [0, -1]])
    close(island.VALUES, [[1, 1], [9, 1], [9, 7], [1, 7]])
    close(np.linalg.norm(island.KEYS, axis=1), np.ones(4))


def test_right_angles_are_exact():
    assert island.KEYS[2, 0] == island.KEYS[3, 0] == 0.0
    assert island.hand(180.0)[1] == 0.0


def test_the_score_is_sharpness_times_the_cosine_of_the_angle_between():
    angles = np.array([radio.angle for radio in island.RADIOS])
    for angle in (-25.0, 0.0, 45.0, 211.0):
        cosines = np.cos(np.radians(angle - angles))
        close(island.scores(angle, 3.0), 3 * cosines)


def test_the_hand_on_ada():
    close(np.linalg.norm(island.hand(0.0)), 1.9605, digits=4)
    close(island.scores(), LN2 * np.array([2, 1, 0, 0]))
    close(np.exp(island.scores()).sum(), 8)
    close(weights(), [1 / 2, 1 / 4, 1 / 8, 1 / 8])
    close(weights() @ island.VALUES, [4, 2.5])


def test_uniform_weights_answer_with_the_centre_of_the_map():
    close(np.full(4, 1 / 4) @ island.VALUES, island.MAP_CENTRE)
    assert island.MAP_CENTRE == (5.0, 4.0)
    assert island.SEA == (0.0, 0.0)


@pytest.mark.parametrize(
    ("one", "other", "kilometres"),
    [("Ada", "Bo", 8), ("Bo", "Cem", 6), ("Ada", "Cem", 10), ("Bo", "Dia", 10)],
)
def test_distances(one, other, kilometres):
    places = dict(zip(island.NAMES, island.VALUES, strict=True))
    close(np.linalg.norm(places[one] - places[other]), kilometres)


@pytest.mark.parametrize(
    ("factor", "shares", "answer"),
    [
        (2, [0.4, 0.4, 0.1, 0.1], [5, 2.2]),
        (3, [2 / 7, 4 / 7, 1 / 14, 1 / 14], [43 / 7, 13 / 7]),
    ],
)
def test_a_louder_bo(factor, shares, answer):
    heard = weights(keys=louder(factor))
    close(heard, shares)
    close(heard @ island.VALUES, answer)


def test_an_opposite_key_is_heard_a_little():
    keys = island.KEYS.copy()
    keys[3] = island.on_the_dial(180)
    close(weights(keys=keys), np.array([16, 8, 4, 1]) / 29)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("Ada", [0.5, 0.25, 0.125, 0.125]),
        ("Bo", [0.2078, 0.4157, 0.3452, 0.0313]),
        ("Cem", [0.1167, 0.3875, 0.4666, 0.0292]),
        ("Dia", [0.1801, 0.0542, 0.0450, 0.7206]),
    ],
)
def test_everybody_asks_everybody(name, row):
    asks = island.RADIOS[island.NAMES.index(name)].angle
    close(weights(asks), row, digits=4)


@pytest.mark.parametrize(
    ("sharpness", "answer"),
    [
        (0.0, [5, 4]),
        (0.5, [4.704, 3.433]),
        (1.0, [4.328, 2.885]),
        (2 * LN2, [4, 2.5]),
        (3.0, [2.651, 1.452]),
        (6.0, [1.396, 1.028]),
    ],
)
def test_the_path_of_the_answer_as_the_hand_sharpens(sharpness, answer):
    close(weights(sharpness=sharpness) @ island.VALUES, answer, digits=3)


def test_entropy_and_logsumexp_in_bits():
    p = weights()
    close(-(p * np.log2(p)).sum(), 7 / 4)
    close(np.log2(np.exp(island.scores()).sum()), 3)


def test_the_jacobian_in_sixty_fourths():
    p = weights()
    jacobian = np.diag(p) - np.outer(p, p)
    close(64 * jacobian, [[16, -8, -4, -4], [-8, 12, -2, -2], [-4, -2, 7, -1], [-4, -2, -1, 7]])
    close(np.linalg.eigvalsh(jacobian), [0, 0.125, 0.1759, 0.3554], digits=4)


def test_radios_switched_off():
    no_bo = softmax(np.where([True, False, True, True], island.scores(), -np.inf))
    close(no_bo, [2 / 3, 0, 1 / 6, 1 / 6])
    close(no_bo @ island.VALUES, [7 / 3, 3])
    only_ada = softmax(np.where([True, False, False, False], island.scores(), -np.inf))
    close(only_ada @ island.VALUES, [1, 1])
    not_renormalised = weights() * [1, 0, 0, 0] @ island.VALUES
    close(not_renormalised, [0.5, 0.5])
    assert (not_renormalised < island.VALUES.min(axis=0)).all(), "that is in the sea"


def test_a_blank_card_takes_a_share():
    keys, values = np.vstack([island.KEYS, [0, 0]]), np.vstack([island.VALUES, [0, 0]])
    shares = weights(keys=keys)
    close(shares, np.array([4, 2, 1, 1, 1]) / 9)
    close(shares @ values, [32 / 9, 20 / 9])


def test_between_ada_and_cem_bo_wins():
    close(weights(45.0), [0.280, 0.401, 0.280, 0.039], digits=3)
    close(weights(45.0, sharpness=40.0)[1], 0.9999, digits=4)


def test_the_online_table_radio_by_radio():
    largest, total, sums = -math.inf, 0.0, np.zeros(2)
    rows = []
    for j in (3, 2, 1, 0):
        score = island.scores()[j]
        shrink = math.exp(largest - max(largest, score))
        largest = max(largest, score)
        gain = math.exp(score - largest)
        total, sums = total * shrink + gain, sums * shrink + gain * island.VALUES[j]
        rows.append([largest / LN2, total, *sums, *(sums / total)])
    close(
        rows,
        [[0, 1, 1, 7, 1, 7], [0, 2, 10, 14, 5, 7], [1, 2, 14, 8, 7, 4], [2, 2, 8, 5, 4, 2.5]],
    )


def test_who_pulls_the_hand():
    p = weights()
    u = p @ island.VALUES - island.VALUES[0]
    close(0.5 * u @ u, 5.625)
    close(u, [3, 1.5])
    pulls = island.VALUES @ u
    close(pulls, [4.5, 28.5, 37.5, 13.5])
    close(p @ pulls, 15.75)
    slopes = p * (pulls - p @ pulls)
    close(slopes, [-5.625, 3.1875, 2.71875, -0.28125])
    close(slopes.sum(), 0)


@pytest.mark.parametrize(("sharpness", "angle"), [(2 * LN2, -25.0), (3.0, -17.2), (5.0, -15.5)])
def test_the_best_hand_for_ada_points_past_her(sharpness, angle):
    def loss(angle):
        away = weights(angle, sharpness) @ island.VALUES - island.VALUES[0]
        return 0.5 * away @ away

    angles = np.arange(-60, 60, 0.1)
    losses = [loss(angle) for angle in angles]
    close(angles[np.argmin(losses)], angle, digits=1)
    if sharpness == 2 * LN2:
        close(min(losses), 3.895, digits=3)


def test_sparsemax_hears_two():
    ordered = np.sort(island.scores())[::-1]
    thresholds = (np.cumsum(ordered) - 1) / np.arange(1, 5)
    threshold = thresholds[ordered > thresholds][-1]
    close(np.maximum(island.scores() - threshold, 0), [0.8466, 0.1534, 0, 0], digits=4)


def test_other_weights_give_the_same_answer():
    direction = np.array([1, -1, 1, -1])
    close(direction @ island.VALUES, [0, 0])
    close(weights() - direction / 8, [3 / 8, 3 / 8, 0, 1 / 4])
    close(weights() + direction / 8, [5 / 8, 1 / 8, 1 / 4, 0])
    for t in (-1 / 8, 1 / 8):
        other = weights() + t * direction
        close(other @ island.VALUES, [4, 2.5])
        assert (other >= -1e-15).all()


def test_a_card_is_a_key_and_a_value():
    close(island.cards(), np.hstack([island.KEYS, island.VALUES]))


def test_stories_with_the_same_words_are_told_apart_by_order_alone():
    one = island.story(". Ada harbour Bo mill Ada")
    other = island.story(". Ada mill Bo harbour Ada")
    assert one.shape == other.shape == (6, 4)
    assert not one[0].any(), "a full stop is the blank card"
    close(one[1], [1, 0, 0, 0])
    close(one[4], [0, 0, 9, 1])

    def last_output(words, visible):
        scores = np.where(visible, words @ words.T / 2, -np.inf)
        return (softmax(scores) @ words)[-1]

    see_all = np.ones((6, 6), dtype=bool)
    close(last_output(one, see_all), last_output(other, see_all), digits=14)

    def two_layers(words, visible):
        scores = np.where(visible, words @ words.T / 2, -np.inf)
        return last_output(softmax(scores) @ words, see_all)

    causal = np.tril(see_all)
    assert np.abs(two_layers(one, causal) - two_layers(other, causal)).max() > 0.01


def test_a_story_refuses_a_stranger_by_name():
    with pytest.raises(ValueError, match="no place is called 'Eve'"):
        island.story(". Ada harbour Eve")
