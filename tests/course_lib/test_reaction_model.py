"""The reaction model against two other implementations, and what a page may ask of it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from nbclient import NotebookClient
from nbformat import v4

from autograder.book import pretrained
from autograder.typeset.katex import node_binary
from course_lib import Interventions, ReactionModel
from course_lib.pretrained import FOLDER, read_arrays
from course_lib.reaction_model import SOURCE, atoms
from course_lib.reactions import REACTIONS
from tests.course_lib.albert import TorchModel, ids_of, state_of
from tests.course_lib.reactions_of_our_own import HUNDRED

ROOT = Path(__file__).parents[2]
AMIDE, ACID = (REACTIONS[i].smiles for i in (0, 9))
PROMISED = 1e-4
"""Largest difference from the published model, which computes in float32."""
TRANSFORMERS = "transformers==5.23.0"


@pytest.fixture(scope="module")
def judge(reaction_package):
    return TorchModel(reaction_package)


@pytest.fixture(scope="module")
def exact(fetched_models):
    return ReactionModel.load("float32", "float64")


def largest(ours, theirs):
    return max(float(np.abs(a - np.asarray(b)).max()) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("smiles", [r.smiles for r in REACTIONS[:5]], ids=lambda s: s[:12])
def test_streams_and_guesses_are_those_of_torchs_own_layer(exact, judge, smiles):
    """The same ids, the thirteen streams, and the logarithm of each piece's probability."""
    run, ids = exact.run(smiles), ids_of(judge.folder, smiles)
    assert [exact.ids[token] for token in run.tokens] == ids[0].tolist()
    with torch.no_grad():
        streams = judge.streams(judge.embed(ids))
        logs = torch.log_softmax(judge.logits(streams[-1]), -1)
    assert largest(run.streams, [stream[0] for stream in streams]) < PROMISED
    assert largest([exact.log_probabilities(run.streams[-1])], logs) < PROMISED


@pytest.mark.slow
def test_streams_weights_and_atoms_are_those_of_transformers(exact, reaction_package, tmp_path):
    """120 reactions through AlbertForMaskedLM, which is installed for this test alone."""
    reactions = [reaction.smiles for reaction in REACTIONS] + HUNDRED
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-warn-conflicts", "--target"]
    lock = ["-c", str(ROOT / "requirements.lock")]
    subprocess.run([*pip, str(tmp_path / "packages"), *lock, TRANSFORMERS], check=True)
    (tmp_path / "reactions.json").write_text(json.dumps(reactions))
    program = [sys.executable, ROOT / "tests" / "course_lib" / "albert.py", reaction_package]
    subprocess.run(
        [*program, tmp_path / "reactions.json", tmp_path / "theirs.npz"],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "packages"), "HF_HUB_OFFLINE": "1"},
        check=True,
    )
    theirs, rounded = np.load(tmp_path / "theirs.npz"), ReactionModel.load("int8")
    worst, same, count = {"streams": 0.0, "weights": 0.0, "logits": 0.0}, 0, 0
    for number, smiles in enumerate(reactions):
        run = exact.run(smiles)
        kept = {name: theirs[f"{name}{number}"] for name in ("ids", *worst)}
        assert [exact.ids[token] for token in run.tokens] == kept["ids"].tolist()
        logits = kept["logits"] - np.log(np.exp(kept["logits"]).sum(-1, keepdims=True))
        ours = {"streams": run.streams, "weights": run.weights}
        ours["logits"] = [exact.log_probabilities(run.streams[-1])]
        kept["logits"] = [logits]
        worst = {name: max(worst[name], largest(ours[name], kept[name])) for name in worst}
        found = exact.where_atoms_came_from(run)
        published = run._replace(weights=kept["weights"])
        assert found == exact.where_atoms_came_from(published)
        in_bytes = rounded.where_atoms_came_from(rounded.run(smiles))
        same += sum(in_bytes[atom] == source for atom, source in found.items())
        count += len(found)
    print(f"{len(reactions)} reactions, {count} atoms: {worst}, in bytes the same {same / count}")
    assert max(worst["streams"], worst["weights"]) < PROMISED
    assert worst["logits"] < 10 * PROMISED  # they are as large as 20, and float32
    assert same >= 0.99 * count


def test_one_head_says_where_the_atoms_came_from(fetched_models):
    """196 of the 210 atoms of the twenty textbook reactions, in bytes as well."""
    rounded, right = ReactionModel.load("int8"), 0
    for reaction in REACTIONS:
        found = rounded.where_atoms_came_from(rounded.run(reaction.smiles))
        assert found.keys() == reaction.sources.keys()
        right += sum(found[atom] in sources for atom, sources in reaction.sources.items())
    assert right == 196
    assert sum(len(reaction.sources) for reaction in REACTIONS) == 210


def test_bytes_are_small_and_close(reader):
    """0.8 MB; the mean cosine of a token's last row with that of the exact model."""
    rounded = ReactionModel.load("int8").run(AMIDE).streams[-1]
    whole = reader.run(AMIDE).streams[-1]
    cosine = (rounded * whole).sum(-1) / np.linalg.norm(rounded, axis=-1)
    assert (cosine / np.linalg.norm(whole, axis=-1)).mean() > 0.999
    assert (FOLDER / SOURCE.name / "int8.safetensors").stat().st_size < 8e5


MAPPED = """
const raw = require("fs").readFileSync(process.argv[1]);
const start = 8 + Number(raw.readBigUInt64LE(0));
const header = JSON.parse(raw.subarray(8, start));
const file = raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length);
const sum = (name, Kind) => {
  const [begin, end] = header[name].data_offsets;
  const numbers = new Kind(file, start + begin, (end - begin) / Kind.BYTES_PER_ELEMENT);
  return numbers.reduce((sum, number) => sum + number, 0);
};
console.log(sum("layer.attention.W_Q", Int8Array), sum("guessing.bias", Float32Array));
"""


def test_a_script_can_map_the_file_of_bytes(fetched_models):
    """The arrays as typed arrays of JavaScript, without copying: the same sums."""
    path = FOLDER / SOURCE.name / "int8.safetensors"
    done = subprocess.run([node_binary(), "-e", MAPPED, path], capture_output=True, check=True)
    arrays = read_arrays(path)
    sums = [arrays[name].sum(dtype=float) for name in ("layer.attention.W_Q", "guessing.bias")]
    assert [float(number) for number in done.stdout.split()] == pytest.approx(sums)


def test_the_gradient_of_a_loss_is_that_of_autograd(exact, judge):
    """At each row of the first stream, one token of the amide hidden."""
    position = 23
    run = exact.run(AMIDE, [position])
    X = torch.from_numpy(run.streams[0]).requires_grad_()
    logits = judge.double().logits(judge.streams(X[None])[-1])[0, position]
    loss = -torch.log_softmax(logits, -1)[exact.ids[exact.tokenise(AMIDE)[position]]]
    (gradient,) = torch.autograd.grad(loss, X)
    judge.float()
    found = exact.loss_gradient(AMIDE, position)
    assert np.abs(found).max() > 1e-6
    assert largest([found], [gradient]) < 1e-9 * np.abs(found).max() + 1e-12
    assert exact.guess(AMIDE, position).loss == pytest.approx(loss.item(), rel=1e-8)


def test_shapes_and_sums(reader):
    """Rows of weights sum to one; contributions of heads, W_O's bias and x make the next norm."""
    run, n = reader.run(AMIDE, layers=3), len(reader.tokenise(AMIDE))
    assert [stream.shape for stream in run.streams] == [(n, 256)] * 4
    assert run.weights.shape == run.scores.shape == (3, 8, n, n)
    assert run.contributions.shape == (3, 8, n, 256)
    assert np.abs(run.weights.sum(-1) - 1).max() < 1e-5


def test_layers_are_one_layer_run_again(reader):
    """None, two and fourteen: each run begins as the longer one does."""
    runs = {layers: reader.run(ACID, layers=layers) for layers in (0, 2, 14)}
    for layers, run in runs.items():
        assert len(run.streams) == layers + 1
        assert largest(run.streams, runs[14].streams[: layers + 1]) == 0
    assert runs[0].weights.shape[0] == 0


def test_a_head_that_is_off_adds_nothing(reader):
    """In one layer: its contribution is zero there and no other; in every layer: everywhere."""
    run = reader.run(AMIDE, changes=Interventions(heads_off=[(2, 5)]))
    assert {tuple(map(int, i)) for i in np.argwhere(~run.contributions.any((2, 3)))} == {(2, 5)}
    assert largest(run.streams[:3], reader.run(AMIDE).streams[:3]) == 0
    run = reader.run(AMIDE, changes=Interventions(heads_off=[(None, 5)]))
    assert not run.contributions[:, 5].any()


def test_the_head_that_is_right_is_missed_most(reader):
    """Mean loss of the amide's atoms without it, and with the one that nobody misses off."""
    _, after = atoms(reader.tokenise(AMIDE))

    def loss(**changes):
        change = Interventions(**changes)
        return np.mean([reader.guess(AMIDE, atom, changes=change).loss for atom in after[:4]])

    assert loss(heads_off=[(None, 5)]) > 2 * max(loss(), loss(heads_off=[(None, 6)]))


def test_a_cut_edge_has_no_weight_and_the_others_share_it(reader):
    run = reader.run(AMIDE, changes=Interventions(edges_cut=[(None, 5, 23, 5), (0, 1, 2, 3)]))
    assert not run.weights[:, 5, 23, 5].any() and run.weights[0, 1, 2, 3] == 0
    assert run.weights[1, 1, 2, 3] > 0
    assert np.abs(run.weights.sum(-1) - 1).max() < 1e-5
    whole = reader.run(AMIDE).weights[0, 5, 23]
    assert largest([run.weights[0, 5, 23, 6:]], [whole[6:] / (1 - whole[5])]) < 1e-6


def test_a_uniform_head_looks_everywhere_alike(reader):
    run = reader.run(AMIDE, layers=2, changes=Interventions(heads_uniform=[(1, 3)]))
    assert (run.weights[1, 3] == np.float32(1 / len(run.tokens))).all()
    assert run.weights[0, 3].std() > 0


def test_all_tokens_patched_at_a_layer_is_the_other_run_from_there(reader):
    """And a token patched with its own row changes nothing."""
    other = AMIDE.replace("N", "O")
    whole, given = reader.run(AMIDE), reader.run(other)
    everywhere = range(len(whole.tokens))
    changes = Interventions(patches=given.patches(4, everywhere))
    patched = reader.run(AMIDE, changes=changes)
    assert largest(patched.streams[:4], whole.streams[:4]) == 0
    assert largest(patched.streams[4:], given.streams[4:]) == 0
    itself = reader.run(AMIDE, changes=Interventions(patches=whole.patches(4, [3])))
    assert largest(itself.streams, whole.streams) == 0


def test_positions_scale_residual_and_feed_forward_can_be_changed(reader):
    """Each makes another last stream; without positions equal letters cannot be told apart."""
    whole = reader.run(AMIDE).streams[-1]
    for options in (
        {"first_position": 50},
        {"changes": Interventions(scale=1.0)},
        {"changes": Interventions(residual=False)},
        {"changes": Interventions(feed_forward=False)},
    ):
        assert np.abs(reader.run(AMIDE, **options).streams[-1] - whole).max() > 0.1
    blind = reader.run(AMIDE, positions=False).streams[-1]
    carbons = [i for i, token in enumerate(reader.tokenise(AMIDE)) if token == "c"]
    assert np.abs(blind[carbons] - blind[carbons[0]]).max() < 1e-3


def test_a_hidden_token_is_a_mask_and_is_guessed(reader):
    assert reader.run(AMIDE, [23]).tokens[23] == "[MASK]"
    guess = reader.guess(AMIDE, 23)
    assert guess.token == "O" and guess.probability > 0.99
    assert guess.loss == pytest.approx(-np.log(guess.probability), abs=1e-4)


def test_another_file_under_the_same_name_is_refused(tmp_path, monkeypatch):
    """The registry's answer counts only with the digest in the code; nothing is left behind."""
    other = SOURCE._replace(sha256="0" * 64)
    monkeypatch.setattr(pretrained, "CONVERTERS", {other: pretrained.CONVERTERS[SOURCE]})
    with pytest.raises(pretrained.NoModel, match="27876a4286881aaf"):
        pretrained.fetch(print, tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


CELL = """\
from course_lib import Interventions, ReactionModel
model = ReactionModel.load()
reaction = "CC(=O)Cl.Nc1ccccc1>>CC(=O)Nc1ccccc1"
without = Interventions(heads_off=[(None, 5)])
print(model.guess(reaction, 19).token, model.guess(reaction, 19, changes=without).token)
print(model.where_atoms_came_from(model.run(reaction)))
"""


def test_a_cell_of_a_page_runs_it(fetched_models, tmp_path):
    notebook = v4.new_notebook(cells=[v4.new_code_cell(CELL)])
    NotebookClient(notebook, kernel_name="python3", timeout=60).execute(cwd=str(tmp_path))
    printed = "".join(output.text for output in notebook.cells[0].outputs)
    assert re.fullmatch(r"C \S+\n\{19: 1, 20: 2, .*\}\n", printed)


def test_the_licence_and_the_numbers_are_those_of_the_package(reaction_package):
    """What the source says, read from the package."""
    metadata = next(reaction_package.parents[3].glob("*.dist-info/METADATA")).read_text()
    assert f"License: {SOURCE.licence}\n" in metadata
    state = state_of(reaction_package)
    numbers = {name: tensor.numel() for name, tensor in state.items() if "decoder" not in name}
    assert sum(numbers.values()) == SOURCE.numbers  # the decoder is the table of tokens again
