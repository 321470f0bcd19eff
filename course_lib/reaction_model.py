r"""A published transformer that reads chemical reactions: one encoder layer, run twelve times.

A reaction is a line of letters, `CC(=O)Cl.Nc1ccccc1>>CC(=O)Nc1ccccc1`: molecules, an arrow, what
became of them. The model was trained to guess hidden tokens. Which atom on the right was which atom
on the left nobody told it, but one of its heads says so.

    model = ReactionModel.load()
    run = model.run("CC(=O)Cl.Nc1ccccc1>>CC(=O)Nc1ccccc1")
    run.weights[10, 5]                              # [n, n]: layer and head, counted from 0
    model.where_atoms_came_from(run)                # {token on the right: token on the left}
    model.guess(reaction, 23)                       # token 23 hidden: the guess and its loss
    model.guess(reaction, 23, changes=Interventions(heads_off=[(None, 5)]))
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from course_lib._door import check
from course_lib.attention import project
from course_lib.interventions import (
    Block,
    Interventions,
    Projection,
    Run,
    layer_norm_vjp,
    pull_back,
    run_blocks,
    slope,
)
from course_lib.pretrained import Precision, Source, read_vocabulary, read_weights
from course_lib.softmax_family import log_softmax
from course_lib.tokenwise import gelu, layer_norm
from course_lib.transformer import EncoderWeights, NormWeights

SOURCE = Source(
    name="reaction_model",
    title="reaction model",
    paper="Schwaller, Hoover, Reymond, Strobelt and Laino 2021, Science Advances 7, eabe4166",
    trained_by="IBM Research",
    licence="MIT",
    registry="PyPI",
    package="rxnmapper==0.4.3",
    sha256="27876a4286881aafd286fd6f24a6a56a4ca6ba22d68e035a0ea120106c541ba5",
    numbers=801_359,
)
HEADS, LAYERS, LONGEST = 8, 12, 512
ATOM_LAYER, ATOM_HEAD = 10, 5
"""Where the largest weight lies on the atom that it came from, counted from 0."""

TOKEN = re.compile(r"\[[^\[\]]+\]|Br|Cl|>>|%[0-9]{2}|[NOSPFIBCbcnosp().=#+\\/:~@?>*$0-9-]")
ATOM = re.compile(r"\[(?!CLS|SEP|MASK).+\]|[A-Z]|Br|Cl|[bcnosp]")


class ReactionEmbedding(NamedTuple):
    """Tables and the norm and projection that follow them."""

    tokens: Float[np.ndarray, "pieces 128"]
    positions: Float[np.ndarray, "512 128"]
    segment: Float[np.ndarray, " 128"]
    norm: NormWeights
    widen: Projection


class GuessingHead(NamedTuple):
    """From the last stream to a score for each piece; the table of tokens is used again."""

    narrow: Projection
    norm: NormWeights
    bias: Float[np.ndarray, " pieces"]


class ReactionWeights(NamedTuple):
    """All numbers of the model."""

    embedding: ReactionEmbedding
    layer: EncoderWeights
    guessing: GuessingHead


class Guess(NamedTuple):
    """What the model puts in place of a hidden token."""

    token: str
    probability: float
    loss: float
    """In nats: minus the logarithm of the probability of what was hidden."""


class ReactionModel:
    """The model: tokens in, and out comes all that a page wants to look at."""

    def __init__(self, weights: ReactionWeights, vocabulary: list[str]) -> None:
        self.weights, self.vocabulary = weights, vocabulary
        self.ids = {token: number for number, token in enumerate(vocabulary)}
        self.block = Block(weights.layer, HEADS, norm_first=False, activation=gelu)

    @classmethod
    def load(
        cls,
        precision: Precision = "int8",
        dtype: str = "float32",
        folder: Path | None = None,
    ) -> "ReactionModel":
        """Read the published weights, rounded to bytes or exact, and compute in `dtype`.

        Raises FileNotFoundError with the command to type where they have not been fetched.
        """
        weights = read_weights(ReactionWeights, SOURCE, precision, dtype, folder)
        return cls(weights, read_vocabulary(SOURCE, folder))

    def tokenise(self, reaction: str) -> tuple[str, ...]:
        """Return the n tokens of a reaction, `[CLS]` in front and `[SEP]` behind.

        Raises ValueError for what is no reaction: nothing, a letter that no token begins with,
        brackets that do not close, no arrow, more than 510 tokens.
        """
        if not isinstance(reaction, str):
            raise TypeError(f"the reaction is a {type(reaction).__name__}; expected a string")
        reaction = reaction.strip()
        tokens = TOKEN.findall(reaction)
        _must_be_reaction(reaction, tokens)
        return ("[CLS]", *tokens, "[SEP]")

    def embed(
        self, tokens: Collection[str], first_position: int = 0, positions: bool = True
    ) -> Float[np.ndarray, "n 256"]:
        """Return the first stream: token, position and a constant, normed and widened."""
        n, table = len(tokens), self.weights.embedding
        check(
            0 <= first_position <= LONGEST - n,
            f"first_position is {first_position}; expected 0 to {LONGEST - n} for {n} tokens",
        )
        unknown = self.ids["[UNK]"]
        X = table.tokens[[self.ids.get(token, unknown) for token in tokens]] + table.segment
        if positions:
            X = X + table.positions[first_position : first_position + n]
        return np.asarray(project(layer_norm(X, *table.norm), *table.widen))

    def run(
        self,
        reaction: str,
        hidden: Collection[int] = (),
        layers: int = LAYERS,
        changes: Interventions | None = None,
        first_position: int = 0,
        positions: bool = True,
    ) -> Run:
        """Run the one layer `layers` times; the tokens at `hidden` are replaced by `[MASK]`."""
        tokens = list(self.tokenise(reaction))
        check(layers >= 0, f"layers is {layers}; expected 0 or more")
        wrong = [position for position in hidden if not 0 < position < len(tokens) - 1]
        check(
            not wrong,
            f"hidden holds {wrong[:1]}; expected positions from 1 to {len(tokens) - 2}, between"
            " [CLS] and [SEP]",
        )
        for position in hidden:
            tokens[position] = "[MASK]"
        X = self.embed(tokens, first_position, positions)
        return run_blocks(X, tokens, [self.block] * layers, changes)

    def log_probabilities(self, X: Float[np.ndarray, "n 256"]) -> Float[np.ndarray, "n pieces"]:
        """Return the logarithm of each piece's probability, read from a stream."""
        head = self.weights.guessing
        features = layer_norm(gelu(project(X, *head.narrow)), *head.norm)
        scores = project(features, self.weights.embedding.tokens.T, head.bias)
        return np.asarray(log_softmax(scores))

    def guess(
        self,
        reaction: str,
        position: int,
        layers: int = LAYERS,
        changes: Interventions | None = None,
        first_position: int = 0,
        positions: bool = True,
    ) -> Guess:
        """Hide one token; return the likeliest piece, its probability, and the loss in nats."""
        run = self.run(reaction, [position], layers, changes, first_position, positions)
        logs = self.log_probabilities(run.streams[-1])[position]
        best, right = int(logs.argmax()), self._id(self.tokenise(reaction)[position])
        return Guess(self.vocabulary[best], float(np.exp(logs[best])), float(-logs[right]))

    def loss_gradient(
        self, reaction: str, position: int, layers: int = LAYERS
    ) -> Float[np.ndarray, "n 256"]:
        """Return the gradient of a hidden token's loss at each row of the first stream."""
        run = self.run(reaction, [position], layers)
        head, table = self.weights.guessing, self.weights.embedding.tokens
        hidden = project(run.streams[-1], *head.narrow)
        features = gelu(hidden)

        scores = np.zeros((len(run.tokens), len(table)), table.dtype)
        scores[position] = np.exp(self.log_probabilities(run.streams[-1])[position])
        scores[position, self._id(self.tokenise(reaction)[position])] -= 1
        back = layer_norm_vjp(features, head.norm, scores @ table) * slope(gelu, hidden)
        return pull_back(run, [self.block] * layers, back @ head.narrow.W.T)

    def where_atoms_came_from(
        self, run: Run, layer: int = ATOM_LAYER, head: int = ATOM_HEAD
    ) -> dict[int, int]:
        """Return, for each atom after the arrow, the atom before it with the head's largest weight.

        Both are positions in `run.tokens`.
        """
        before, after = atoms(run.tokens)
        check(bool(before), "there is no atom before the arrow; expected at least one")
        weights = run.weights[layer, head][:, before]
        return {atom: before[int(weights[atom].argmax())] for atom in after}

    def _id(self, token: str) -> int:
        return self.ids.get(token, self.ids["[UNK]"])


def atoms(tokens: Collection[str]) -> tuple[list[int], list[int]]:
    """Return the positions of the atoms before the arrow and of those after it."""
    arrow = list(tokens).index(">>")
    positions = [i for i, token in enumerate(tokens) if ATOM.fullmatch(token)]
    return [i for i in positions if i < arrow], [i for i in positions if i > arrow]


def _must_be_reaction(reaction: str, tokens: list[str]) -> None:
    check(bool(reaction), "the reaction is empty; expected molecules, >>, and what became of them")
    read = 0
    for token in tokens:
        if not reaction.startswith(token, read):
            break
        read += len(token)
    rest = reaction[read:]
    check(
        not rest.startswith("["),
        f"the bracket [ at character {read + 1} does not close; expected an atom such as [O-]",
    )
    check(not rest, f"no token begins with {rest[:1]!r}, character {read + 1} of the reaction")
    depth = 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        check(depth >= 0 and not (depth and token == ">>"), _unbalanced(reaction))
    check(depth == 0, _unbalanced(reaction))
    check(
        tokens.count(">>") == 1 and ">" not in tokens and tokens[0] != ">>" != tokens[-1],
        f"the reaction is {reaction!r}; expected one arrow >> with molecules on both sides",
    )
    check(
        len(tokens) <= LONGEST - 2,
        f"the reaction has {len(tokens)} tokens; the model reads at most {LONGEST - 2}",
    )


def _unbalanced(reaction: str) -> str:
    return f"the parentheses of {reaction!r} do not pair up; expected a ) for each ( of a molecule"
