"""Proofs that are built: lines to be put in order, among lines that do not belong."""

import itertools
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

ORDERS = 5_000
"""More valid orders than this and the graph says too little to mark by."""
SHUFFLES = 20


@dataclass(frozen=True)
class Blocks:
    """The lines as they are shown, and what must come before what; everything by letter."""

    letters: tuple[str, ...]
    text: dict[str, str]
    after: dict[str, tuple[str, ...]]
    """For each line of the proof, those it rests on; a letter that is not here is a distractor."""
    part: dict[str, str]
    """Lines of one part (a direction, a case) stay together."""
    why_not: dict[str, str]
    """For each distractor, why it is false or does not follow."""

    @classmethod
    def from_lines(cls, lines: list[dict], distractors: list[dict], shuffle: Random) -> "Blocks":
        """Letter the lines in a shuffled order in which nothing is earned by leaving them so."""
        blocks = cls._lettered(lines, distractors, shuffle)
        orders = sum(1 for _ in itertools.islice(blocks.proofs(), ORDERS + 1))
        if orders > ORDERS:
            raise ValueError(f"has more than {ORDERS} valid orders")
        if not orders:
            raise ValueError("has no valid order: some lines wait for each other")
        for _ in range(SHUFFLES):
            if not any(map(blocks.share, (blocks.letters, blocks.letters[::-1]))):
                break
            blocks = cls._lettered(lines, distractors, shuffle)
        return blocks

    @classmethod
    def _lettered(cls, lines: list[dict], distractors: list[dict], shuffle: Random) -> "Blocks":
        """Each distractor stands beside the line it imitates."""
        groups = []
        for number in range(1, len(lines) + 1):
            twins = [("line", number - 1)]
            twins += [("distractor", i) for i, d in enumerate(distractors) if d["beside"] == number]
            shuffle.shuffle(twins)
            groups.append(twins)
        shuffle.shuffle(groups)
        shown = [line for group in groups for line in group]
        letter = dict(zip(shown, string.ascii_lowercase, strict=False))
        source = {"line": lines, "distractor": distractors}
        return cls(
            letters=tuple(letter.values()),
            text={name: source[kind][i]["text"] for (kind, i), name in letter.items()},
            after={
                letter["line", i]: tuple(letter["line", j - 1] for j in line.get("after", []))
                for i, line in enumerate(lines)
            },
            part={
                letter["line", i]: line["part"] for i, line in enumerate(lines) if "part" in line
            },
            why_not={letter["distractor", i]: d["why"] for i, d in enumerate(distractors)},
        )

    @property
    def one_proof(self) -> list[str]:
        return next(self.proofs())

    def proofs(self) -> Iterator[list[str]]:
        """Every order in which each line follows what it rests on and no part is interrupted."""
        yield from self._continue([])

    def _continue(self, proof: list[str]) -> Iterator[list[str]]:
        left = [letter for letter in self.after if letter not in proof]
        if not left:
            yield proof
        open_part = self.part.get(proof[-1]) if proof else None
        part_goes_on = [
            letter for letter in left if open_part and self.part.get(letter) == open_part
        ]
        for letter in part_goes_on or left:
            if set(self.after[letter]) <= set(proof):
                yield from self._continue([*proof, letter])

    def moves_to_nearest(self, answer: Sequence[str]) -> int:
        """How many lines must be moved, added or taken out to reach the nearest valid proof."""
        longest = max(_common_length(answer, proof) for proof in self.proofs())
        return max(len(answer), len(self.after)) - longest

    def share(self, answer: Sequence[str]) -> float:
        """Full marks for any valid proof, none when half of the lines would have to move."""
        if len(answer) > 2 * len(self.after):
            return 0.0  # however long, without a look at every line
        return max(0.0, 1 - 2 * self.moves_to_nearest(answer) / len(self.after))

    def first_fault(self, answer: Sequence[str]) -> str | None:
        """Say what is wrong with the first line that does not follow, or None for a whole proof."""
        seen: list[str] = []
        for letter in answer:
            if letter not in self.text:
                first, *_, last = self.letters
                return f"{letter[:20]!r} is no line of this proof; the lines are {first} to {last}"
            if letter in seen:
                return f"line {letter} stands twice"
            if letter in self.why_not:
                return f"line {letter} does not hold here: {self.why_not[letter]}"
            if missing := [before for before in self.after[letter] if before not in seen]:
                lines = "one line" if len(missing) == 1 else f"{len(missing)} lines"
                return (
                    f"line {letter} uses something that is not there yet: "
                    f"it rests on {lines} still to come"
                )
            if interrupted := self._interrupted_part(seen, letter):
                return f"line {letter} interrupts {interrupted}: finish one part before the next"
            seen.append(letter)
        if left := len(self.after) - len(seen):
            belong = "belongs" if left == 1 else "belong"
            return f"so far every line follows; {left} more {belong} to the proof"
        return None

    def _interrupted_part(self, seen: list[str], letter: str) -> str | None:
        part = self.part.get(seen[-1]) if seen else None
        unfinished = [
            name for name in self.after if name not in seen and self.part.get(name) == part
        ]
        return f"part {part}" if part and unfinished and self.part.get(letter) != part else None


def _common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    lengths = [0] * (len(other) + 1)
    for a in one:
        previous = 0
        for j, b in enumerate(other, start=1):
            previous, lengths[j] = (
                lengths[j],
                previous + 1 if a == b else max(lengths[j], lengths[j - 1]),
            )
    return lengths[-1]
