"""The sentences for notes (repairs, incidents): one for whoever may know all, one for everybody."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from autograder.grading.notes import Fact, Kind, Note
from course_lib.checking.findings import FailureKind


@dataclass(frozen=True)
class _Texts:
    """Templates over the fields of a fact; `{private}` is there for the full one alone."""

    anonymous: str
    full: str


def _same(text: str) -> _Texts:
    return _Texts(text, text)


_TEXTS = {
    Kind.NO_NOTEBOOK: _Texts(
        "no notebook was handed in", "no notebook was handed in; there is: {private}"
    ),
    Kind.FILE_TOO_LARGE: _Texts(
        "the notebook is larger than {limit:g} MiB", "{private} is larger than {limit:g} MiB"
    ),
    Kind.NOT_A_NOTEBOOK: _Texts(
        "a file is no notebook that can be read", "{private} is no notebook that can be read"
    ),
    Kind.NO_CELL_OF_OURS: _same("none of this assignment's cells is in what was handed in"),
    Kind.OTHER_FILE_NAME: _Texts(
        "the notebook had another name", "the notebook is called {private}; {expected} was expected"
    ),
    Kind.SEVERAL_FILES: _Texts(
        "answers are in several notebooks",
        "answers are in {count} notebooks; {private} was graded",
    ),
    Kind.FILE_CUT: _Texts(
        "of a long file the first {limit:g} MiB were read",
        "of {private} the first {limit:g} MiB were read",
    ),
    Kind.DAMAGED_FILE: _Texts(
        "the notebook was damaged", "{private} is damaged; {count} cells could be read"
    ),
    Kind.TOO_MANY_CELLS: _Texts(
        "of many cells the first {limit:g} were read",
        "of {count} cells the first {limit:g} were read",
    ),
    Kind.TOO_MANY_PARTS: _Texts(
        "a notebook has more than {limit:g} parts, so only some of its cells were read",
        "{private} has more than {limit:g} parts, so only {count} of its cells were read",
    ),
    Kind.LOCKED_CELL_CHANGED: _same(
        "the cell {cell} is not yours to change; your version runs after it"
    ),
    Kind.OWN_CELLS_CUT: _same("of the cells besides, the first {limit:g} letters were read"),
    Kind.CELLS_REORDERED: _same("the cells were put back in their order"),
    Kind.CELL_REPEATED: _Texts(
        "a cell stands several times",
        "the cell {cell} stands {count} times; the last one filled in counts",
    ),
    Kind.CELL_TYPE_CHANGED: _Texts(
        "the cell {cell} had become a cell of another type",
        "the cell {cell} had become a {private} cell",
    ),
    Kind.ANSWER_CUT: _same("the cell {cell} was cut at {limit:g} letters"),
    Kind.ANSWER_MISSING: _same("{exercise}: its answer cell is missing"),
    Kind.PICTURES_LEFT_OUT: _Texts(
        "pictures in the cell {cell} were left out: too many, too large or no PNG or JPEG",
        "{count} of the pictures in the cell {cell} were left out: too many, too large or no PNG "
        "or JPEG",
    ),
    Kind.GRADED_AGAIN: _same(
        "a time limit was met, so it was graded once more with nothing else running"
    ),
    Kind.NOT_STARTED: _Texts(
        "the process did not begin: {cause}", "the process did not begin: {private}"
    ),
    Kind.CELL_LEFT_OUT: _Texts(
        "the cell {cell} was left out: {cause}", "the cell {cell} was left out: {private}"
    ),
    Kind.CELL_TOO_SLOW: _same("{cell}: it took more than {limit:g} seconds"),
    Kind.CALL_FAILED: _Texts("{exercise}: {cause}", "{exercise}: {private}"),
    Kind.CELLS_STOPPED: _Texts(
        "{exercise}: the cells that the answer needs stop with an error", "{exercise}: {private}"
    ),
    Kind.STATEMENT_LEFT_OUT: _Texts(
        "{exercise}: a statement that stops with an error was left out",
        "{exercise}: a statement in the cell {cell} was left out because it stops with {private}",
    ),
    Kind.WITHHELD_NAME: _same(
        "{exercise}: its code mentions {withheld}, which the exercise asks to write"
    ),
    Kind.JUDGE_FAILED: _Texts(
        "{exercise}: the grader stopped in it", "{exercise}: the grader stopped in it: {private}"
    ),
    Kind.GRADER_FAILED: _Texts("the grader itself stopped", "the grader itself stopped: {private}"),
    Kind.GRADER_DIED: _same("the grader died of it {count} times"),
    Kind.GRADER_TOO_SLOW: _same(
        "what was handed in cost the grader more than {limit:g} seconds of its own computing"
    ),
    Kind.WORKERS_DIED: _same("the workers died of it, one after another"),
    Kind.NO_MARKS: _same("no marks: a person must look"),
    Kind.NOT_RECORDED: _Texts("it could not be recorded in the gradebook", "{private}"),
    Kind.NOT_READ: _Texts("a folder was not read", "{private}"),
    Kind.LEGACY: _Texts(
        "something that an earlier version of the grader noted; the report with names has it",
        "{private}",
    ),
}

_CAUSES = {
    None: "it ended",
    FailureKind.TOO_SLOW: "it took too long",
    FailureKind.ENDED: "it ended the Python process",
    FailureKind.BROKE_OFF: "it broke off the conversation with the grader",
    FailureKind.TOO_MUCH_MEMORY: "it took too much memory",
    FailureKind.TOO_MANY_FILES: "it wrote too many files",
}


def anonymous(fact: Fact, labels: Mapping[str, str] = {}) -> str:
    """For whoever may not know whose work it is: it is given nothing that could say so.

    `labels` says what the exercise of a name or of a cell is called here, such as its number.
    """
    return _TEXTS[fact.kind].anonymous.format(**_fields(fact, labels))


def in_full(note: Note, labels: Mapping[str, str] = {}) -> str:
    """For the instructor, and for the student whose work it is."""
    text = _TEXTS[note.kind].full
    return text.format(**_fields(note.fact, labels), private=note.private)


def _fields(fact: Fact, labels: Mapping[str, str]) -> dict[str, object]:
    of = fact.exercise or fact.cell
    exercise = labels.get(of, of)
    cause = _CAUSES.get(fact.cause, f"it ended ({fact.cause})")
    return asdict(fact) | {"exercise": exercise, "cause": cause}
