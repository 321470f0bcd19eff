"""What there is to tell about a submission besides its marks, as data.

A `Fact` holds nothing that somebody else wrote, so it names nobody. A `Note` is a fact together
with the words that may name a person: a file's name, what a student's process said, the text of an
exception. What is made of facts alone is therefore anonymous, whoever writes it: a class report, a
log. Sentences are made in `sentences`, where they are shown, and nobody reads them back.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from course_lib.checking.findings import FailureKind


class Kind(StrEnum):
    """Everything that the grader can note.

    A new kind needs its texts in sentences.py and a student in tests/reports/test_anonymous.py.
    """

    # nothing could be graded
    NO_NOTEBOOK = "no notebook"
    FILE_TOO_LARGE = "file too large"
    NOT_A_NOTEBOOK = "not a notebook"
    NO_CELL_OF_OURS = "no cell of ours"
    # repairs: what was mended before the notebook ran
    OTHER_FILE_NAME = "other file name"
    SEVERAL_FILES = "several files"
    FILE_CUT = "file cut"
    DAMAGED_FILE = "damaged file"
    TOO_MANY_CELLS = "too many cells"
    TOO_MANY_PARTS = "too many parts"
    LOCKED_CELL_CHANGED = "locked cell changed"
    OWN_CELLS_CUT = "own cells cut"
    CELLS_REORDERED = "cells reordered"
    CELL_REPEATED = "cell repeated"
    CELL_TYPE_CHANGED = "cell type changed"
    ANSWER_CUT = "answer cut"
    ANSWER_MISSING = "answer missing"
    PICTURES_LEFT_OUT = "pictures left out"
    GRADED_AGAIN = "graded again"
    # incidents: what happened while it ran
    NOT_STARTED = "process not started"
    CELL_LEFT_OUT = "cell left out"
    CELL_TOO_SLOW = "cell too slow"
    CALL_FAILED = "call failed"
    CELLS_STOPPED = "cells stopped"
    """The answer could not be rebuilt: a statement that it cannot do without raised."""
    STATEMENT_LEFT_OUT = "statement left out"
    """One that an answer names raised, and the answer was rebuilt without it."""
    WITHHELD_NAME = "withheld name used"
    JUDGE_FAILED = "judge failed"
    GRADER_FAILED = "grader failed"
    GRADER_DIED = "grader died"
    GRADER_TOO_SLOW = "grader too slow"
    WORKERS_DIED = "workers died"
    # what became of the outcome
    NO_MARKS = "no marks"
    NOT_RECORDED = "not recorded"
    NOT_READ = "folder not read"
    LEGACY = "legacy"
    """The sentence of an earlier version of the grader, which may name anybody."""


MAY_COST_MARKS = (
    Kind.SEVERAL_FILES,
    Kind.ANSWER_MISSING,
    Kind.PICTURES_LEFT_OUT,
    Kind.TOO_MANY_PARTS,
    Kind.LEGACY,
)
"""Repairs that only a person can put right."""


FOR_THE_STUDENT = (
    Kind.NOT_STARTED,
    Kind.CELL_LEFT_OUT,
    Kind.CELL_TOO_SLOW,
    Kind.CALL_FAILED,
    Kind.CELLS_STOPPED,
    Kind.STATEMENT_LEFT_OUT,
)
"""Incidents that say what a student's own code did."""


@dataclass(frozen=True)
class Fact:
    """What was noted, without a word of anybody's."""

    kind: Kind
    exercise: str = ""
    """Its name."""
    cell: str = ""
    """The id of a cell: one of ours, or what `rebuild` calls a student's own."""
    count: int = 0
    limit: float = 0.0
    """In the unit of its kind: seconds, MiB, cells, letters."""
    expected: str = ""
    """The name that our file has."""
    cause: FailureKind | None = None
    """Why a process or a call ended."""
    withheld: str = ""
    """The library's function that the exercise asks to write."""
    hidden: bool = False
    """It happened in a hidden test: the student is not told."""

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Fact":
        """Raises ValueError, TypeError or KeyError for what `dataclasses.asdict` did not make."""
        cause = FailureKind(data["cause"]) if data["cause"] else None
        return cls(**data | {"kind": Kind(data["kind"]), "cause": cause})


@dataclass(frozen=True)
class Note:
    """A fact, and what may name a person: never shown to the class, never logged."""

    fact: Fact
    private: str = ""

    @property
    def kind(self) -> Kind:
        return self.fact.kind

    @classmethod
    def of(cls, kind: Kind, private: str = "", **fact: Any) -> "Note":
        return cls(Fact(kind, **fact), private)

    @classmethod
    def from_json(cls, data: str | dict[str, Any]) -> "Note":
        """Of a journal's row; an earlier version of the grader kept a sentence.

        Raises ValueError, TypeError or KeyError for what is neither.
        """
        if isinstance(data, str):
            return cls.of(Kind.LEGACY, data)
        return cls(Fact.from_dict(data["fact"]), data["private"])
