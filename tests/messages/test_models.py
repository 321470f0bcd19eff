"""What the published models of course_lib refuse, and what they say where they are missing."""

from collections.abc import Callable

import numpy as np
import pytest

from autograder.book import pretrained
from course_lib import Interventions, ReactionModel, SentenceEncoder
from tests.course_lib.test_reaction_model import AMIDE

NO_REACTION = {
    "nothing": " ",
    "no arrow": "CCO",
    "two arrows": "C>>C>>C",
    "nothing on the left": ">>C",
    "an atom that does not close": "C[CH3.O>>C",
    "a bracket that nobody opened": "CO]>>C",
    "a branch that does not close": "CC(=O>>C",
    "a branch that nobody opened": "CC)=O>>C",
    "a word": "water>>ice",
    "a smiley": "C☃>>C",
    "five hundred atoms": "C" * 500 + ">>" + "C" * 500,
}
FITS_NOTHING = {
    "hidden": {"hidden": [0]},
    "layers": {"layers": -1},
    "first position": {"first_position": 500},
    "head": {"changes": Interventions(heads_off=[(0, 8)])},
    "layer": {"changes": Interventions(heads_uniform=[(12, 0)])},
    "edge": {"changes": Interventions(edges_cut=[(0, 5, 35, 1)])},
    "numbers of an edge": {"changes": Interventions(edges_cut=[(5, 3, 1)])},
    "patch": {"changes": Interventions(patches={(0, 40): np.zeros(256)})},
    "row": {"changes": Interventions(patches={(3, 4): np.zeros(5)})},
}
NO_SENTENCE = {"nothing": "", "five hundred words": "word " * 500, "a list": ["a"]}
NO_PRECISION = {"precision": ("int4",), "dtype": ("int8", "int8")}


@pytest.fixture(scope="module")
def models() -> tuple[ReactionModel, SentenceEncoder]:
    pretrained.fetch(print)
    return ReactionModel.load(), SentenceEncoder.load()


def refusal(call: Callable, *arguments: object, **options: object) -> str:
    with pytest.raises((TypeError, ValueError, FileNotFoundError)) as raised:
        call(*arguments, **options)
    return f"{type(raised.value).__name__}: {raised.value}"


def told(refusals: dict[str, str]) -> str:
    return "\n\n".join(f"{name}\n  {text}" for name, text in refusals.items())


def test_the_reaction_model(models, reads):
    run = models[0].run
    refused = {name: refusal(run, text) for name, text in NO_REACTION.items()}
    wrong = {name: refusal(run, AMIDE, **options) for name, options in FITS_NOTHING.items()}
    reads(told(refused | wrong))


def test_the_sentence_encoder(models, reads):
    refused = {name: refusal(models[1].run, text) for name, text in NO_SENTENCE.items()}
    wrong = {name: refusal(SentenceEncoder.load, *o) for name, o in NO_PRECISION.items()}
    reads(told(refused | wrong))


@pytest.mark.parametrize("model", [ReactionModel, SentenceEncoder])
def test_weights_that_are_missing(model, reads, tmp_path):
    reads(refusal(model.load, folder=tmp_path / "models").replace(str(tmp_path), "TEMPORARY"))
