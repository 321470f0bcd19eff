"""A submission is never trusted as a notebook: only its texts are taken into a fresh one.

The text of each answer goes, by id, into the released notebook; the student's own code cells stay
where they stood, as cells of nobody's; everything else (outputs, tags, metadata, order, copies of
the checks) is left behind. What had to be mended is listed for the report.
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
from course_lib.checking import percent

CELLS_AT_MOST = 500
TEXT_AT_MOST, ALL_TEXT = 200_000, 1_000_000
NOTEBOOK_AT_MOST, PLAIN_AT_MOST = 64 << 20, 1 << 20
SALVAGE_AT_MOST, FAILURES_AT_MOST = 16 << 20, 1_000
"""Letters that are looked through, and how often in vain."""
IMAGES_AT_MOST = 8
IMAGE_BYTES = 8 << 20
IMAGE_SIDE = 1_600
SCANS_AT_MOST = 100
"""Of one JPEG: cameras make ten, and each, however few its bytes, goes over the whole picture."""
A_JPEG, A_SCAN = b"\xff\xd8", b"\xff\xda"
OF_TWO = "answers are in "
"""So begins what is said where one of several was graded: a person may want to decide which."""
MISSING = "its answer cell is missing"
A_VERSION = re.compile(r"[\w.+-]{1,40}", re.ASCII)


class Unreadable(Exception):
    """Nothing that could be graded was handed in; says what was."""


@dataclass
class Rebuilt:
    """A notebook that is ours but for the texts of the answers and the student's own cells."""

    notebook: nbformat.NotebookNode
    answers: dict[str, str]
    """The text in each answer cell, by grade_id."""
    attempted: set[str]
    repairs: list[str] = field(default_factory=list)

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
    """Take the answers out of what was handed in."""
    repairs: list[str] = []
    known = {_nbgrader(cell)["grade_id"]: cell for cell in released.cells if _nbgrader(cell)}
    cells, version = _choose(files, known, stem, repairs)
    found, own = _sort_out(cells, known, repairs)
    for key, cell in known.items():
        if key not in found and _nbgrader(cell).get("solution"):
            repairs.append(f"{_number(key, released)}: {MISSING}")
    result = Rebuilt(nbformat.from_dict(released), {}, set(), repairs)
    kept = own.pop(None, [])
    for cell in result.notebook.cells:
        kept.append(cell)
        grade_id = _nbgrader(cell).get("grade_id")
        if _nbgrader(cell).get("solution"):
            _fill_in(cell, found.get(grade_id, []), result)
        kept += own.pop(grade_id, [])
    result.notebook.cells = kept
    if "course" in result.notebook.metadata:
        result.notebook.metadata.course.version = version  # the one that this student worked in
    return result


def _choose(
    files: dict[str, bytes], known: dict, stem: str, repairs: list[str]
) -> tuple[list[dict], str]:
    """The cells of the one file to grade, whatever its name, and the version it was begun in."""
    notebooks = {n: d for n, d in sorted(files.items()) if n.lower().endswith(".ipynb")}
    read = _plain_files(files, known, repairs)
    if not notebooks and not read:
        names = ", ".join(sorted(files)[:5]) or "nothing"
        raise Unreadable(f"no notebook was handed in; there is: {names}")
    for name, data in notebooks.items():
        try:
            read[name] = _read_notebook(name, data, repairs)
        except Unreadable as reason:
            if len(notebooks) == 1 and not read:
                raise
            repairs.append(str(reason))
    asked = {key: cell for key, cell in known.items() if key not in COMMON}
    ours = {name: sum(key_of(cell, asked) is not None for cell in read[name][0]) for name in read}
    if not any(ours.values()):
        raise Unreadable("none of this assignment's cells is in what was handed in")
    answered = {name: sum(is_answer(cell, known) for cell in read[name][0]) for name in read}
    expected = (f"{stem}.ipynb", f"{stem}.py")
    best = max(ours, key=lambda name: (bool(answered[name]), name in expected, ours[name]))
    if best not in expected:
        repairs.append(f"the notebook is called {_short(best)}; {expected[0]} was expected")
    if (many := sum(map(bool, answered.values()))) > 1:
        repairs.append(f"{OF_TWO}{many} notebooks; {_short(best)} was graded")
    return read[best]


def _plain_files(
    files: dict[str, bytes], known: dict, repairs: list[str]
) -> dict[str, tuple[list[dict], str]]:
    """Those of the student's Python files that hold cells of ours; others are not looked at."""
    found = {}
    for name, data in sorted(files.items()):
        if not name.lower().endswith(".py"):
            continue
        text = data[:PLAIN_AT_MOST].decode("utf-8-sig", errors="replace")
        cells = percent.cells_of(text)
        if any(key_of(cell, known) for cell in cells):
            if len(data) > PLAIN_AT_MOST:
                repairs.append(f"of {_short(name)} the first {PLAIN_AT_MOST >> 20} MiB were read")
            found[name] = _at_most(cells, repairs), _version(percent.version_in(text))
    return found


def is_answer(cell: dict, known: dict) -> bool:
    """Whether somebody has written in an answer cell."""
    ours = known.get(key_of(cell, known))
    if ours is None or not _nbgrader(ours).get("solution"):
        return False
    return _text(cell).strip() not in ("", ours.source.strip()) or bool(cell.get("attachments"))


def cells_of(name: str, data: bytes, repairs: list[str]) -> list[dict]:
    """The cells of one notebook, as well as they can be read."""
    return _read_notebook(name, data, repairs)[0]


def _read_notebook(name: str, data: bytes, repairs: list[str]) -> tuple[list[dict], str]:
    if len(data) > NOTEBOOK_AT_MOST:
        raise Unreadable(f"{_short(name)} is larger than {NOTEBOOK_AT_MOST >> 20} MiB")
    text, version = data.decode("utf-8-sig", errors="replace"), ""
    try:
        notebook = json.loads(text)
        cells, version = _cells_in(notebook), _version_in(notebook)
    except (ValueError, RecursionError):
        cells = list(_salvage(text))
        if not cells:
            raise Unreadable(f"{_short(name)} is no notebook that can be read") from None
        repairs.append(f"{_short(name)} is damaged; {len(cells)} cells could be read")
    return _at_most(cells, repairs), version


def _at_most(cells: list, repairs: list[str]) -> list[dict]:
    if len(cells) > CELLS_AT_MOST:
        repairs.append(f"of {len(cells)} cells the first {CELLS_AT_MOST} were read")
    return [cell for cell in cells[:CELLS_AT_MOST] if isinstance(cell, dict)]


def _version_in(notebook: dict) -> str:
    metadata = notebook.get("metadata")
    course = metadata.get("course") if isinstance(metadata, dict) else None
    return _version(course.get("version")) if isinstance(course, dict) else ""


def _version(said: Any) -> str:
    return said if isinstance(said, str) and A_VERSION.fullmatch(said) else ""


def _cells_in(notebook: Any) -> list:
    """Of every format there has been. nbformat would check each cell first, however many."""
    sheets = notebook.get("worksheets") if isinstance(notebook, dict) else None
    if isinstance(sheets, list):
        inside = (sheet.get("cells") for sheet in sheets[:10] if isinstance(sheet, dict))
        cells = itertools.chain.from_iterable(c for c in inside if isinstance(c, list))
        return [_as_now(cell) for cell in cells]
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


def _salvage(text: str) -> Iterator[dict]:
    """The cells of a damaged file that are whole, as long as the search is worth it."""
    decoder = json.JSONDecoder()
    text = text[:SALVAGE_AT_MOST]
    left, least = 2 * len(text), len(text) // FAILURES_AT_MOST + 1
    place = text.find('"cells"')
    while (place := text.find("{", place)) >= 0 and left > 0:
        try:
            cell, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            left -= max(least, error.pos - place)
            place += 1
            continue
        except (ValueError, RecursionError):
            left -= least
            place += 1
            continue
        if isinstance(cell, dict) and "source" in cell and "cell_type" in cell:
            yield cell


def _sort_out(cells: list[dict], known: dict, repairs: list[str]) -> tuple[dict, dict]:
    """What was given for each cell of ours, and the student's own cells by the one before."""
    found: dict[str, list[dict]] = {}
    own: dict[str | None, list] = {}
    before, order, numbers, left = None, [], itertools.count(1), ALL_TEXT
    for cell in cells:
        key = key_of(cell, known)
        if key is None:
            if cell.get("cell_type") == "code" and _text(cell).strip():
                left -= len(_text(cell))
                if left > 0:
                    own.setdefault(before, []).append(_own_cell(cell, next(numbers)))
            continue
        before = key
        order.append(key)
        found.setdefault(key, []).append(cell)
        if _changed_by_hand(cell, known[key]):
            own.setdefault(key, []).append(_own_cell(cell, next(numbers)))
            repairs.append(f"the cell {key} is not yours to change; your version runs after it")
    if left <= 0:
        repairs.append(f"of the cells besides, the first {ALL_TEXT} letters were read")
    in_order = [key for key in known if key in found]
    if [key for key in order if order.count(key) == 1] != [
        k for k in in_order if order.count(k) == 1
    ]:
        repairs.append("the cells were put back in their order")
    for key, copies in found.items():
        if len(copies) > 1:
            repairs.append(
                f"the cell {key} stands {len(copies)} times; the last one filled in counts"
            )
        if copies[-1].get("cell_type") != known[key].cell_type:
            repairs.append(
                f"the cell {key} had become a {_short(str(copies[-1].get('cell_type')))} cell"
            )
    return found, own


def _number(key: str, released: nbformat.NotebookNode) -> str:
    """Of the exercise, as its heading says."""
    headings = (cell.source for cell in released.cells if cell.id == f"{key}-task")
    found = re.match(r"## ([\d.]+) ", next(headings, ""))
    return found[1] if found else key


def key_of(cell: dict, known: dict) -> str | None:
    """Which of our cells it is: by nbgrader's id, or by the cell's own where that was lost."""
    metadata = cell.get("metadata")
    meta = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    for name in (meta.get("grade_id") if isinstance(meta, dict) else None, cell.get("id")):
        if isinstance(name, str) and name in known:
            return name
    return None


def _changed_by_hand(cell: dict, ours: nbformat.NotebookNode) -> bool:
    """A locked code cell with another text, such as one more import in the set-up cell."""
    meta = _nbgrader(ours)
    locked = ours.cell_type == "code" and not meta.get("solution") and not meta.get("grade")
    return locked and _text(cell).strip() not in ("", ours.source.strip())


def _fill_in(cell: nbformat.NotebookNode, copies: list[dict], result: Rebuilt) -> None:
    """Put the last copy that says something into our cell."""
    grade_id, default = _nbgrader(cell)["grade_id"], cell.source.strip()
    said = [copy for copy in copies if _text(copy).strip() not in ("", default)]
    images = _images(said[-1] if said else copies[-1] if copies else {})
    if said or images:
        result.attempted.add(grade_id)
    if said:
        cell.source = _text(said[-1])
        if len(cell.source) > TEXT_AT_MOST:
            cell.source = cell.source[:TEXT_AT_MOST]
            result.repairs.append(f"the cell {grade_id} was cut at {TEXT_AT_MOST} letters")
    if images and cell.cell_type == "markdown":
        cell.attachments = images
    result.answers[grade_id] = cell.source


def _images(cell: dict) -> dict[str, dict[str, str]]:
    """Photographs of a proof: decoded, made small, and encoded anew."""
    attachments = cell.get("attachments")
    if not isinstance(attachments, dict):
        return {}
    images = {}
    for name, kinds in list(attachments.items())[:IMAGES_AT_MOST]:
        for data in list(kinds.values())[:1] if isinstance(kinds, dict) else []:
            if isinstance(data, str) and len(data) < IMAGE_BYTES and (image := _again(data)):
                images[_short(str(name))] = {"image/png": image}
    return images


def _again(data: str) -> str | None:
    from PIL import Image

    try:
        raw = base64.b64decode(data)
        if raw.startswith(A_JPEG) and raw.count(A_SCAN) > SCANS_AT_MOST:
            return None
        with Image.open(io.BytesIO(raw), formats=("PNG", "JPEG")) as image:
            if max(image.size) > 20_000 or image.size[0] * image.size[1] > 50_000_000:
                return None
            image.thumbnail((IMAGE_SIDE, IMAGE_SIDE))
            out = io.BytesIO()
            image.convert("RGB").save(out, "PNG")
    except Exception:  # a decoder may raise anything on hostile data
        return None
    return base64.b64encode(out.getvalue()).decode()


def _own_cell(cell: dict, number: int) -> nbformat.NotebookNode:
    return new_code_cell(_text(cell)[:TEXT_AT_MOST], id=f"own-{number}")


def _text(cell: dict) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    source = source if isinstance(source, str) else ""
    return source.encode(errors="replace").decode()  # half a letter could not be written down


def _short(name: str) -> str:
    return "".join(
        c if c.isprintable() else "?" for c in name.replace("\\", "/").rpartition("/")[2]
    )[:60]


def _nbgrader(cell: dict) -> dict:
    return cell.get("metadata", {}).get("nbgrader", {})
