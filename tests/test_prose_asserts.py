"""Sentences stand in tests/messages, and what compares them elsewhere gets less and less."""

import pytest

from tests.prose_asserts import count, prose_asserts

CEILING = 230
"""May only fall: who takes sentences out of asserts lowers it."""


def test_no_more_asserts_compare_sentences():
    found = count()
    listing = "\n".join(f"{number:4}  {name}" for name, number in found.most_common())
    assert found.total() <= CEILING, (
        "More asserts compare sentences than before. Assert data, and put the sentence into "
        f"tests/messages. To see the lines:  python -m tests.prose_asserts FILE\n{listing}"
    )


def test_the_ceiling_follows_what_is_left():
    assert count().total() > CEILING - 10, f"lower CEILING to {count().total()}"


COMPARED = [
    'assert "it is not here" in said',
    'assert said == "it is not here"',
    'assert said.startswith("it is not here")',
    'assert f"{name} is not here" in said',
    'assert ["it is not here"] == notes',
    'pytest.raises(ValueError, match="it is not here")',
    'def check(said):\n    assert said in done.output\ncheck("it is not here")',
    '@pytest.mark.parametrize("words", ["it is not here", "no"])\n'
    "def test_it(words):\n    assert words in said",
    'SAID = {"one": ("x", "it is not here")}\n'
    '@pytest.mark.parametrize(("source", "words"), SAID.values())\n'
    "def test_it(source, words):\n    assert words in said(source)",
]
NOT_COMPARED = [
    'assert said, "it is not here"',
    'assert "03_softmax" in said',
    'assert "not here" in said',
    'assert run("it is not here") == 2',
    'assert code == codes["it is not here"]',
    '@pytest.mark.parametrize("words", ["it is not here"])\n'
    "def test_it(words):\n    assert run(words) == 2",
]


@pytest.mark.parametrize("source", COMPARED)
def test_a_compared_sentence_is_counted_once(source):
    assert len(prose_asserts(source)) == 1


@pytest.mark.parametrize("source", NOT_COMPARED)
def test_input_names_and_reasons_are_not_counted(source):
    assert prose_asserts(source) == []
