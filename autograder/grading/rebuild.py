"""A submission is never trusted as a notebook: only its texts are taken into a fresh one.

The text of each answer goes, by id, into the released notebook; the student's own code cells stay
where they stood, as cells of nobody's; everything else (outputs, tags, metadata, order, copies of
the checks) is left behind. What had to be mended is noted for the report.

Runs where it is trusted, on bytes that are not: nothing of them is executed, and every loop over
them has a limit.
"""

import base64
import io
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell

from autograder.exercises.cell_ids import COMMON
from autograder.grading.notes import Kind, Note
from course_lib.checking import percent

CELLS_AT_MOST = 500
TEXT_AT_MOST, ALL_TEXT = 200_000, 1_000_000
NOTEBOOK_AT_MOST, PLAIN_AT_MOST = 64 << 20, 1 << 20
SALVAGE_AT_MOST, FAILURES_AT_MOST = 16 << 20, 1_000
"""Letters that are looked through, and how often in vain."""
PARTS_AT_MOST = 1_000_000
"""Objects, lists and their entries in a notebook; each takes some hundred bytes once it is read."""
IMAGES_AT_MOST = 8
IMAGE_BYTES = 8 << 20
IMAGE_SIDE = 1_600
IMAGE_PIXELS, ALL_PIXELS = 50_000_000, 120_000_000
"""Of one picture, and of all of a submission; an interlaced PNG counts three times, and each scan
of a JPEG as a tenth of the picture."""
SCANS_AT_MOST = 100
"""Of one JPEG: cameras make ten, and each, however few its bytes, goes over the whole picture."""
A_JPEG, A_SCAN = b"\xff\xd8", b"\xff\xda"
Cell = dict[str, Any]
STRING_OR_PART = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{\[,]', re.DOTALL)
A_VERSION = re.compile(r"[\w.+-]{1,40}", re.ASCII)


class Unreadable(Exception):
    """Nothing that could be graded was handed in; notes what was."""

    def __init__(self, kind: Kind, private: str = "", **fact: Any):
        super().__init__(kind)
        self.note = Note.of(kind, private, **fact)


@dataclass
class Rebuilt:
    """A notebook that is ours but for the texts of the answers and the student's own cells."""

    notebook: nbformat.NotebookNode
    answers: dict[str, str]
    """The text in each answer cell, by grade_id."""
    attempted: set[str]
    repairs: list[Note] = field(default_factory=list)
    pixels_left: int = ALL_PIXELS
    """Of pictures that may still be decoded."""

    def above(self, grade_id: str) -> list[str]:
        """The cells that run before a check."""
        ids = [cell.id for cell in self.notebook.cells]
        return ids[: ids.index(grade_id)]

    def code(self) -> Iterator[nbformat.NotebookNode]:
        """The cells that run, in order: not the checks, which are the grader's own."""
        for cell in self.notebook.cells:
            if cell.cell_type == "code" and not _nbgrader(cell).get("grade"):
                yield cell


def rebuild(files: dict[str, bytes], released: nbformat.NotebookNode, stem: str) -> Rebuilt:
    """Take the answers out of what was handed in. Raises Unreadable."""
    repairs: list[Note] = []
    ours = {_nbgrader(cell)["grade_id"]: cell for cell in released.cells if _nbgrader(cell)}
    cells, version = _choose(files, ours, stem, repairs)
    copies, own = _sort_out(cells, ours, repairs)
    for grade_id, cell in ours.items():
        if grade_id not in copies and _nbgrader(cell).get("solution"):
            repairs.append(Note.of(Kind.ANSWER_MISSING, cell=grade_id))
    result = Rebuilt(nbformat.from_dict(released), {}, set(), repairs)
    kept = own.pop(None, [])
    for cell in result.notebook.cells:
        kept.append(cell)
        grade_id = _nbgrader(cell).get("grade_id")
        if grade_id and _nbgrader(cell).get("solution"):
            _fill_in(cell, copies.get(grade_id, []), result)
        kept += own.pop(grade_id, [])
    result.notebook.cells = kept
    if "course" in result.notebook.metadata:
        result.notebook.metadata.course.version = version  # the one that this student worked in
    return result


def _choose(
    files: dict[str, bytes], ours: dict[str, Cell], stem: str, repairs: list[Note]
) -> tuple[list[Cell], str]:
    """The cells of the one file to grade, whatever its name, and the version it was begun in."""
    notebooks = {n: d for n, d in sorted(files.items()) if n.lower().endswith(".ipynb")}
    read = _plain_files(files, ours, repairs)
    if not notebooks and not read:
        raise Unreadable(Kind.NO_NOTEBOOK, ", ".join(sorted(files)[:5]) or "nothing")
    for name, data in notebooks.items():
        try:
            read[name] = _read_notebook(name, data, repairs)
        except Unreadable as reason:
            if len(notebooks) == 1 and not read:
                raise
            repairs.append(reason.note)
    asked = {grade_id: cell for grade_id, cell in ours.items() if grade_id not in COMMON}
    counts = {name: sum(key_of(cell, asked) is not None for cell in read[name][0]) for name in read}
    if not any(counts.values()):
        raise Unreadable(Kind.NO_CELL_OF_OURS)
    answered = {name: sum(is_answer(cell, ours) for cell in read[name][0]) for name in read}
    expected = (f"{stem}.ipynb", f"{stem}.py")
    best = max(counts, key=lambda name: (bool(answered[name]), name in expected, counts[name]))
    if best not in expected:
        repairs.append(Note.of(Kind.OTHER_FILE_NAME, _short(best), expected=expected[0]))
    if (many := sum(map(bool, answered.values()))) > 1:
        repairs.append(Note.of(Kind.SEVERAL_FILES, _short(best), count=many))
    return read[best]


def _plain_files(
    files: dict[str, bytes], ours: dict[str, Cell], repairs: list[Note]
) -> dict[str, tuple[list[Cell], str]]:
    """Those of the student's Python files that hold cells of ours; others are not looked at."""
    read = {}
    for name, data in sorted(files.items()):
        if not name.lower().endswith(".py"):
            continue
        text = _text_in(data[:PLAIN_AT_MOST])
        cells = percent.cells_of(text)
        if any(key_of(cell, ours) for cell in cells):
            if len(data) > PLAIN_AT_MOST:
                repairs.append(
                    Note.of(Kind.FILE_CUT, _short(name), limit=_mebibytes(PLAIN_AT_MOST))
                )
            read[name] = _at_most(cells, repairs), _version(percent.version_in(text))
    return read


def is_answer(cell: Cell, ours: dict[str, Cell]) -> bool:
    """Whether somebody has written in an answer cell."""
    released = ours.get(key_of(cell, ours) or "")
    if released is None or not _nbgrader(released).get("solution"):
        return False
    return _text(cell).strip() not in ("", _text(released).strip()) or bool(cell.get("attachments"))


def cells_of(name: str, data: bytes, repairs: list[Note]) -> list[Cell]:
    """The cells of one notebook, as well as they can be read. Raises Unreadable."""
    return _read_notebook(name, data, repairs)[0]


def _read_notebook(name: str, data: bytes, repairs: list[Note]) -> tuple[list[Cell], str]:
    if len(data) > NOTEBOOK_AT_MOST:
        limit = _mebibytes(NOTEBOOK_AT_MOST)
        raise Unreadable(Kind.FILE_TOO_LARGE, _short(name), limit=limit)
    text, version = _text_in(data), ""
    try:
        notebook = read_json(text)
        cells, version = _cells_in(notebook), _version_in(notebook)
    except (ValueError, RecursionError) as reason:
        cells = list(_salvage(text))
        if not cells:
            raise Unreadable(Kind.NOT_A_NOTEBOOK, _short(name)) from None
        fact = {"count": len(cells)}
        if isinstance(reason, TooManyParts):
            note = Note.of(Kind.TOO_MANY_PARTS, _short(name), limit=PARTS_AT_MOST, **fact)
        else:
            note = Note.of(Kind.DAMAGED_FILE, _short(name), **fact)
        repairs.append(note)
    return _at_most(cells, repairs), version


class TooManyParts(ValueError):
    """To read it would take more memory than it is worth."""


def read_json(text: str) -> Any:
    """What a stranger's JSON holds, unless it holds too much.

    Raises TooManyParts, ValueError or RecursionError.
    """
    if sum(map(text.count, "{[,")) > PARTS_AT_MOST:
        parts = sum(1 for part in STRING_OR_PART.finditer(text) if part[0][0] != '"')
        if parts > PARTS_AT_MOST:
            raise TooManyParts(parts)
    return json.loads(text)


def _text_in(data: bytes) -> str:
    """As Windows' editors save it, too: UTF-16, with or without a mark."""
    encoding = json.detect_encoding(data[:8])
    return data.decode(encoding, errors="replace").removeprefix("\ufeff")


def _at_most(cells: list[Any], repairs: list[Note]) -> list[Cell]:
    if len(cells) > CELLS_AT_MOST:
        repairs.append(Note.of(Kind.TOO_MANY_CELLS, count=len(cells), limit=CELLS_AT_MOST))
    return [cell for cell in cells[:CELLS_AT_MOST] if isinstance(cell, dict)]


def _version_in(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    course = metadata.get("course") if isinstance(metadata, dict) else None
    return _version(course.get("version")) if isinstance(course, dict) else ""


def _version(given: Any) -> str:
    return given if isinstance(given, str) and A_VERSION.fullmatch(given) else ""


def _cells_in(notebook: Any) -> list[Any]:
    """Of every format there has been. nbformat would check each cell first, however many."""
    sheets = notebook.get("worksheets") if isinstance(notebook, dict) else None
    if isinstance(sheets, list):
        inside = (sheet.get("cells") for sheet in sheets[:10] if isinstance(sheet, dict))
        in_sheets = itertools.chain.from_iterable(c for c in inside if isinstance(c, list))
        return [_as_now(cell) for cell in in_sheets]
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ValueError("no notebook")
    return cells


def _as_now(cell: Any) -> Any:
    """A cell of format 3: its code is called input, and a heading is text with a level."""
    if not isinstance(cell, dict):
        return None
    kind = "markdown" if cell.get("cell_type") == "heading" else cell.get("cell_type")
    return cell | {"cell_type": kind, "source": cell.get("source", cell.get("input", ""))}


def _salvage(text: str) -> Iterator[Cell]:
    """The cells of a damaged file that are whole, as long as the search is worth it."""
    decoder = json.JSONDecoder()
    text = text[:SALVAGE_AT_MOST]
    left, least = 2 * len(text), len(text) // FAILURES_AT_MOST + 1
    start = text.find('"cells"')
    while (start := text.find("{", start)) >= 0 and left > 0:
        try:
            cell, start = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            left -= max(least, error.pos - start)
            start += 1
            continue
        except (ValueError, RecursionError):
            left -= least
            start += 1
            continue
        if isinstance(cell, dict) and "source" in cell and "cell_type" in cell:
            yield cell


def _sort_out(
    cells: list[Cell], ours: dict[str, Cell], repairs: list[Note]
) -> tuple[dict[str, list[Cell]], dict[str | None, list[nbformat.NotebookNode]]]:
    """What was given for each cell of ours, and the student's own cells by the one before."""
    copies_of: dict[str, list[Cell]] = {}
    own: dict[str | None, list[nbformat.NotebookNode]] = {}
    before: str | None = None
    order, numbers, left = [], itertools.count(1), ALL_TEXT
    for cell in cells:
        grade_id = key_of(cell, ours)
        if grade_id is None:
            if cell.get("cell_type") == "code" and _text(cell).strip():
                left -= len(_text(cell))
                if left > 0:
                    own.setdefault(before, []).append(_own_cell(cell, next(numbers)))
            continue
        before = grade_id
        order.append(grade_id)
        copies_of.setdefault(grade_id, []).append(cell)
        if _changed_by_hand(cell, ours[grade_id]):
            own.setdefault(grade_id, []).append(_own_cell(cell, next(numbers)))
            repairs.append(Note.of(Kind.LOCKED_CELL_CHANGED, cell=grade_id))
    if left <= 0:
        repairs.append(Note.of(Kind.OWN_CELLS_CUT, limit=ALL_TEXT))
    once = {grade_id for grade_id, copies in copies_of.items() if len(copies) == 1}
    if [i for i in order if i in once] != [i for i in ours if i in once]:
        repairs.append(Note.of(Kind.CELLS_REORDERED))
    for grade_id, copies in copies_of.items():
        if len(copies) > 1:
            repairs.append(Note.of(Kind.CELL_REPEATED, cell=grade_id, count=len(copies)))
        if (cell_type := copies[-1].get("cell_type")) != ours[grade_id]["cell_type"]:
            repairs.append(Note.of(Kind.CELL_TYPE_CHANGED, _short(str(cell_type)), cell=grade_id))
    return copies_of, own


def key_of(cell: Cell, ours: dict[str, Cell]) -> str | None:
    """Which of our cells it is: by nbgrader's id, or by the cell's own where that was lost."""
    metadata = cell.get("metadata")
    meta = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    for name in (meta.get("grade_id") if isinstance(meta, dict) else None, cell.get("id")):
        if isinstance(name, str) and name in ours:
            return name
    return None


def _changed_by_hand(cell: Cell, ours: Cell) -> bool:
    """A locked code cell with another text, such as one more import in the set-up cell."""
    meta = _nbgrader(ours)
    locked = ours["cell_type"] == "code" and not meta.get("solution") and not meta.get("grade")
    return locked and _text(cell).strip() not in ("", _text(ours).strip())


def _fill_in(cell: nbformat.NotebookNode, copies: list[Cell], result: Rebuilt) -> None:
    """Put the last copy that says something into our cell."""
    grade_id, default = _nbgrader(cell)["grade_id"], cell.source.strip()
    changed = [copy for copy in copies if _text(copy).strip() not in ("", default)]
    images: dict[str, dict[str, str]] = {}
    if cell.cell_type == "markdown":
        given = changed[-1] if changed else copies[-1] if copies else {}
        images, left_out = _images(given, result)
        if left_out:
            note = Note.of(Kind.PICTURES_LEFT_OUT, cell=grade_id, count=left_out)
            result.repairs.append(note)
    if changed or images:
        result.attempted.add(grade_id)
    if changed:
        cell.source = _text(changed[-1])
        if len(cell.source) > TEXT_AT_MOST:
            cell.source = cell.source[:TEXT_AT_MOST]
            result.repairs.append(Note.of(Kind.ANSWER_CUT, cell=grade_id, limit=TEXT_AT_MOST))
    if images:
        cell.attachments = images
    result.answers[grade_id] = cell.source


def _images(cell: Cell, result: Rebuilt) -> tuple[dict[str, dict[str, str]], int]:
    """Photographs of a proof: decoded, made small, and encoded anew; and how many were left out."""
    attachments = cell.get("attachments")
    if not isinstance(attachments, dict):
        return {}, 0
    images: dict[str, dict[str, str]] = {}
    for name, kinds in list(attachments.items())[:IMAGES_AT_MOST]:
        data = next(iter(kinds.values()), None) if isinstance(kinds, dict) else None
        if isinstance(data, str) and len(data) < IMAGE_BYTES:
            image, pixels = _encode_anew(data, result.pixels_left)
            result.pixels_left -= pixels
            if image:
                images[_short(str(name))] = {"image/png": image}
    return images, len(attachments) - len(images)


def _encode_anew(data: str, pixels_left: int) -> tuple[str | None, int]:
    """A picture that is ours, if it is one and not too large, and what it counted for."""
    from PIL import Image

    counts = 0
    try:
        raw = base64.b64decode(data)
        scans = raw.count(A_SCAN) if raw.startswith(A_JPEG) else 0
        if scans > SCANS_AT_MOST:
            return None, 0
        with Image.open(io.BytesIO(raw), formats=("PNG", "JPEG")) as image:
            pixels = image.size[0] * image.size[1]
            counts = pixels * (3 if image.info.get("interlace") else 1) + pixels * scans // 10
            if max(image.size) > 20_000 or pixels > IMAGE_PIXELS or counts > pixels_left:
                return None, 0
            image.thumbnail((IMAGE_SIDE, IMAGE_SIDE))
            out = io.BytesIO()
            image.convert("RGB").save(out, "PNG")
    except Exception:  # a decoder may raise anything on hostile data
        return None, counts
    return base64.b64encode(out.getvalue()).decode(), counts


def _own_cell(cell: Cell, number: int) -> nbformat.NotebookNode:
    return new_code_cell(_text(cell)[:TEXT_AT_MOST], id=f"own-{number}")


def _text(cell: Cell) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    source = source if isinstance(source, str) else ""
    return source.encode(errors="replace").decode()  # half a letter could not be written down


def _short(name: str) -> str:
    return "".join(
        c if c.isprintable() else "?" for c in name.replace("\\", "/").rpartition("/")[2]
    )[:60]


def _mebibytes(size: int) -> float:
    return size / (1 << 20)


def _nbgrader(cell: Cell) -> dict[str, Any]:
    meta: dict[str, Any] = cell.get("metadata", {}).get("nbgrader", {})
    return meta
