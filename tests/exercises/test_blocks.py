"""Proofs that are built: every valid order counts in full, and the first fault is named."""

from random import Random

import pytest

from course_lib.checking.blocks import Blocks

#     a
#    / \
#   b   c     and z, y beside b: two distractors
#    \ /
#     d
DIAMOND = Blocks(
    letters=("z", "d", "b", "a", "c", "y"),
    text={letter: f"line {letter}" for letter in "abcdyz"},
    after={"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")},
    part={},
    why_not={"y": "0 = 1 is false.", "z": "it does not follow."},
)
TWO_PARTS = Blocks(
    letters=tuple("fdbeca"),
    text={letter: f"line {letter}" for letter in "abcdef"},
    after={"a": (), "b": ("a",), "c": (), "d": ("c",), "e": ("a",), "f": ("b", "d", "e")},
    part={"a": "if", "b": "if", "e": "if", "c": "only if", "d": "only if"},
    why_not={},
)


def orders(blocks):
    return {"".join(order) for order in blocks.proofs()}


def test_every_order_that_the_graph_allows_is_a_proof():
    assert orders(DIAMOND) == {"abcd", "acbd"}


def test_parts_come_in_any_order_and_stay_together():
    assert orders(TWO_PARTS) == {"abecdf", "aebcdf", "cdabef", "cdaebf"}


@pytest.mark.parametrize("blocks", [DIAMOND, TWO_PARTS])
def test_a_proof_earns_full_marks_and_has_no_fault(blocks):
    for order in orders(blocks):
        assert blocks.share(list(order)) == 1.0
        assert blocks.first_fault(list(order)) is None


@pytest.mark.parametrize(
    ("answer", "moves"),
    [
        ("abdc", 1),
        ("bacd", 1),
        ("abc", 1),
        ("abzcd", 1),
        ("abcda", 1),
        ("dcba", 2),
        ("ad", 2),
        ("", 4),
        ("zy", 4),
        ("abyzcd", 2),
    ],
)
def test_partial_credit_counts_the_moves_to_the_nearest_proof(answer, moves):
    assert DIAMOND.moves_to_nearest(list(answer)) == moves
    assert DIAMOND.share(list(answer)) == max(0.0, 1 - 2 * moves / 4)


def test_nothing_but_a_proof_earns_full_marks():
    import itertools

    for length in range(7):
        for answer in itertools.permutations("abcdyz", length):
            is_proof = "".join(answer) in orders(DIAMOND)
            assert (DIAMOND.share(list(answer)) == 1.0) == is_proof
            assert (DIAMOND.first_fault(list(answer)) is None) == is_proof


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("ba", "line b uses something that is not there yet: it rests on one line still to come"),
        ("ad", "line d uses something that is not there yet: it rests on 2 lines still to come"),
        ("abz", "line z does not hold here: it does not follow."),
        ("aba", "line a stands twice"),
        ("abq", "'q' is no line of this proof; the lines are z to y"),
        ("abc", "so far every line follows; 1 more belongs to the proof"),
        ("", "so far every line follows; 4 more belong to the proof"),
    ],
)
def test_the_first_fault_is_named(answer, fault):
    assert DIAMOND.first_fault(list(answer)) == fault


def test_a_part_that_is_interrupted_is_named():
    fault = TWO_PARTS.first_fault(list("abcdef"))
    assert fault == "line c interrupts part if: finish one part before the next"


def test_a_line_outside_every_part_does_not_open_one():
    assert TWO_PARTS.first_fault(list("abef")).startswith("line f uses something that is not there")


CHAIN = [{"text": "first"}, {"text": "second", "after": [1]}, {"text": "third", "after": [2]}]


@pytest.mark.parametrize("seed", range(30))
def test_leaving_the_lines_as_they_are_shown_earns_nothing(seed):
    blocks = Blocks.from_lines(CHAIN, [{"text": "no", "beside": 2, "why": "0"}], Random(seed))
    shown = list(blocks.letters)
    assert shown == list("abcd")
    assert blocks.share(shown) == blocks.share(shown[::-1]) == 0.0
    texts = [blocks.text[letter] for letter in shown]
    assert abs(texts.index("no") - texts.index("second")) == 1, "beside the line it imitates"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"text": "a", "after": [2]}, {"text": "b", "after": [1]}], "wait for each other"),
        ([{"text": str(i)} for i in range(7)], "has more than 5000 valid orders"),
        (
            [
                {"text": "a", "part": "one"},
                {"text": "b", "part": "two", "after": [1]},
                {"text": "c", "part": "one", "after": [2]},
            ],
            "wait for each other",
        ),
    ],
)
def test_a_graph_by_which_nobody_can_mark_is_refused(lines, words):
    with pytest.raises(ValueError, match=words):
        Blocks.from_lines(lines, [], Random(0))
