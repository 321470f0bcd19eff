"""Whatever becomes of a notebook on its way, its answers are found, or it is said why not."""

import base64
import copy
import io
import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.preprocessors import ClearSolutions
from PIL import Image
from traitlets.config import Config

from autograder.exercises.assignment import load_assignment
from autograder.exercises.cell_ids import COMMON
from autograder.grading.notes import Kind, Note
from autograder.grading.rebuild import (
    ALL_TEXT,
    CELLS_AT_MOST,
    IMAGE_SIDE,
    IMAGES_AT_MOST,
    TEXT_AT_MOST,
    Unreadable,
    rebuild,
)
from autograder.paths import ROOT
from autograder.release.notebooks import source_notebook

STEM = "03_softmax"
ASSIGNMENT = load_assignment(ROOT / "solutions" / STEM)
PROOF = "variance-in-the-jacobian"
ANSWER = "def softmax(x, axis=-1):\n    return x"


@pytest.fixture(scope="module")
def released():
    """As a student gets it."""
    config = Config()
    config.ClearSolutions.code_stub = {"python": "..."}
    source = source_notebook(ASSIGNMENT)
    return ClearSolutions(config=config).preprocess(source, {})[0]


@pytest.fixture
def handed_in(released):
    """A copy with one answer, which a test may damage."""
    notebook = copy.deepcopy(released)
    cell(notebook, "softmax").source = ANSWER
    return notebook


def cell(notebook, name):
    return next(cell for cell in notebook.cells if cell.id == name)


def place(notebook, name):
    return [cell.id for cell in notebook.cells].index(name)


def data(notebook) -> bytes:
    return json.dumps(notebook).encode()


def rebuilt(notebook, released, name=f"{STEM}.ipynb"):
    return rebuild({name: data(notebook)}, released, STEM)


def test_an_honest_notebook_needs_no_repair(handed_in, released):
    result = rebuilt(handed_in, released)
    assert result.repairs == []
    assert result.answers["softmax"] == ANSWER
    assert result.attempted == {"softmax"}
    nbformat.validate(result.notebook)
    kept = [c.metadata for c in result.notebook.cells if c.metadata]
    assert kept == [c.metadata for c in released.cells if c.metadata]


def test_an_untouched_one_attempts_nothing(released):
    assert rebuilt(released, released).attempted == set()


def test_own_cells_stay_where_they_stood(handed_in, released):
    handed_in.cells.insert(place(handed_in, "softmax"), new_code_cell("half = 0.5"))
    handed_in.cells.insert(0, new_code_cell("first = 1"))
    result = rebuilt(handed_in, released)
    sources = [c.source for c in result.code()]
    assert sources[0] == "first = 1"
    assert sources.index("half = 0.5") == sources.index(ANSWER) - 1
    assert [c.id for c in result.code() if c.id.startswith("own")] == ["own-1", "own-2"]


def test_a_duplicated_answer_counts_by_its_last_filled_in_copy(handed_in, released):
    again = copy.deepcopy(cell(handed_in, "softmax"))
    again.id, again.source = "copied", ANSWER.replace("return x", "return 2 * x")
    untouched = copy.deepcopy(cell(released, "softmax"))
    handed_in.cells += [again, untouched]
    result = rebuilt(handed_in, released)
    assert result.answers["softmax"] == again.source
    assert Note.of(Kind.CELL_REPEATED, cell="softmax", count=3) in result.repairs


def test_a_deleted_cell_comes_back_empty(handed_in, released):
    handed_in.cells = [c for c in handed_in.cells if c.id not in ("logsumexp", "softmax-check")]
    result = rebuilt(handed_in, released)
    assert [c.id for c in result.notebook.cells] == [c.id for c in released.cells]
    assert result.answers["logsumexp"] == cell(released, "logsumexp").source
    assert result.repairs == [Note.of(Kind.ANSWER_MISSING, cell="logsumexp")]


def test_cells_come_back_in_order(handed_in, released):
    handed_in.cells.reverse()
    result = rebuilt(handed_in, released)
    assert [c.id for c in result.notebook.cells] == [c.id for c in released.cells]
    assert result.answers["softmax"] == ANSWER
    assert result.repairs == [Note.of(Kind.CELLS_REORDERED)]


def test_tags_and_metadata_of_the_student_are_left_behind(handed_in, released):
    for c in handed_in.cells:
        c.metadata["tags"] = ["skip-execution"]
        if "nbgrader" in c.metadata:
            c.metadata.nbgrader |= {"points": 100, "grade": False, "locked": False}
    handed_in.metadata["kernelspec"] = {"name": "evil", "display_name": "evil"}
    result = rebuilt(handed_in, released)
    assert [c.metadata for c in result.notebook.cells] == [c.metadata for c in released.cells]
    assert result.notebook.metadata == released.metadata


def test_an_edited_check_is_not_taken_over(handed_in, released):
    cell(handed_in, "softmax-check").source = "7.0"
    assert cell(rebuilt(handed_in, released).notebook, "softmax-check").source == 'check("softmax")'


@pytest.mark.parametrize("lost", ["metadata", "id"])
def test_one_of_two_names_is_enough(handed_in, released, lost):
    for c in handed_in.cells:
        if lost == "metadata":
            c.metadata = {}
        else:
            c.id = "x" + c.id
    assert rebuilt(handed_in, released).answers["softmax"] == ANSWER


def test_a_renumbered_answer_is_found_by_its_cell(handed_in, released):
    cell(handed_in, "softmax").metadata.nbgrader.grade_id = "mine"
    assert rebuilt(handed_in, released).answers["softmax"] == ANSWER


def test_an_answer_turned_into_text_is_still_read(handed_in, released):
    answer = cell(handed_in, "softmax")
    answer.cell_type = "markdown"
    del answer["outputs"], answer["execution_count"]
    result = rebuilt(handed_in, released)
    assert result.answers["softmax"] == ANSWER
    assert cell(result.notebook, "softmax").cell_type == "code"
    assert result.repairs == [Note.of(Kind.CELL_TYPE_CHANGED, "markdown", cell="softmax")]


def test_an_import_added_to_the_locked_first_cell_still_runs(handed_in, released):
    cell(handed_in, "set-up").source += "\nimport math"
    result = rebuilt(handed_in, released)
    sources = [c.source for c in result.code()]
    assert sources[0] == cell(released, "set-up").source
    assert sources[1].endswith("import math")
    assert result.repairs == [Note.of(Kind.LOCKED_CELL_CHANGED, cell="set-up")]


def test_a_renamed_notebook_is_graded(handed_in, released):
    result = rebuilt(handed_in, released, "Copy of softmax (1).ipynb")
    assert result.answers["softmax"] == ANSWER
    name = "Copy of softmax (1).ipynb"
    assert result.repairs == [Note.of(Kind.OTHER_FILE_NAME, name, expected="03_softmax.ipynb")]


def test_of_several_notebooks_the_expected_one_counts(handed_in, released):
    files = {"03_softmax.ipynb": data(handed_in), "other.ipynb": data(released), "b.ipynb": b"{"}
    result = rebuild(files, released, STEM)
    assert result.answers["softmax"] == ANSWER
    assert result.repairs == [Note.of(Kind.NOT_A_NOTEBOOK, "b.ipynb")]


def test_of_several_answered_notebooks_it_is_noted_which_was_graded(handed_in, released):
    files = {f"{STEM}.ipynb": data(handed_in), "other.ipynb": data(handed_in)}
    result = rebuild(files, released, STEM)
    assert result.repairs == [Note.of(Kind.SEVERAL_FILES, f"{STEM}.ipynb", count=2)]


def test_an_older_format_is_read(handed_in, released):
    old = nbformat.convert(handed_in, 3)
    result = rebuild({f"{STEM}.ipynb": json.dumps(old).encode()}, released, STEM)
    assert result.answers["softmax"] == ANSWER


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: text.index('"logsumexp-task"')],  # cut off
        lambda text: text.replace('"cells": [', '"cells": [<<<<<<< HEAD\n', 1),  # a merge
        lambda text: "\ufeff" + text,
        lambda text: text + "]}",
    ],
)
def test_of_a_damaged_file_the_answers_are_saved(handed_in, released, damage):
    text = damage(json.dumps(handed_in))
    result = rebuild({f"{STEM}.ipynb": text.encode()}, released, STEM)
    assert result.answers["softmax"] == ANSWER


@pytest.mark.parametrize(
    ("files", "note"),
    [
        ({}, Note.of(Kind.NO_NOTEBOOK, "nothing")),
        ({"answer.pdf": b"%PDF"}, Note.of(Kind.NO_NOTEBOOK, "answer.pdf")),
        ({"a.ipynb": b""}, Note.of(Kind.NOT_A_NOTEBOOK, "a.ipynb")),
        ({"a.ipynb": b"\x00\xff" * 100}, Note.of(Kind.NOT_A_NOTEBOOK, "a.ipynb")),
        ({"a.ipynb": b"[" * 100_000}, Note.of(Kind.NOT_A_NOTEBOOK, "a.ipynb")),
        ({"a.ipynb": b'{"cells": 3, "nbformat": 4}'}, Note.of(Kind.NOT_A_NOTEBOOK, "a.ipynb")),
        (
            {"a.ipynb": b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'},
            Note.of(Kind.NO_CELL_OF_OURS),
        ),
    ],
)
def test_what_cannot_be_read_is_noted(released, files, note):
    with pytest.raises(Unreadable) as reason:
        rebuild(files, released, STEM)
    assert reason.value.note == note


@pytest.mark.parametrize("source", [None, 3, ["a", 4, "b"], {"x": 1}])
@pytest.mark.parametrize("metadata", [None, 3, {"nbgrader": 4}, {"nbgrader": {"grade_id": []}}])
def test_cells_of_no_sense_stop_nothing(handed_in, released, source, metadata):
    raw = json.loads(data(handed_in))
    raw["cells"] += [{"cell_type": "code", "source": source, "metadata": metadata}, 7, None]
    result = rebuild({f"{STEM}.ipynb": json.dumps(raw).encode()}, released, STEM)
    assert result.answers["softmax"] == ANSWER


def test_thousands_of_cells_and_megabytes_of_text_are_cut(handed_in, released):
    handed_in.cells += [new_code_cell("x = 1") for _ in range(2000)]
    cell(handed_in, "logsumexp").source = "#" * 1_000_000
    result = rebuilt(handed_in, released)
    assert len(result.notebook.cells) < 600
    assert len(result.answers["logsumexp"]) == 200_000
    assert [(note.kind, note.fact.cell) for note in result.repairs] == [
        (Kind.TOO_MANY_CELLS, ""),
        (Kind.ANSWER_CUT, "logsumexp"),
    ]


def test_a_photograph_is_decoded_and_encoded_anew(handed_in, released):
    def encoded(image, kind):
        out = io.BytesIO()
        image.save(out, kind)
        return base64.b64encode(out.getvalue() + b"<script>").decode()

    proof = cell(handed_in, "variance-in-the-jacobian")
    large = encoded(Image.new("RGB", (3000, 2000), "white"), "JPEG")
    proof.attachments = {
        "../../proof.jpg": {"image/jpeg": large},
        "page.svg": {"image/svg+xml": "<svg onload='x()'/>"},
    }
    result = rebuilt(handed_in, released)
    kept = cell(result.notebook, proof.id).attachments
    assert list(kept) == ["proof.jpg"]
    (picture,) = kept["proof.jpg"].values()
    raw = base64.b64decode(picture)
    assert b"<script>" not in raw
    assert max(Image.open(io.BytesIO(raw)).size) == IMAGE_SIDE
    assert proof.id in result.attempted


def notes_of(result) -> list[Kind]:
    return [note.kind for note in result.repairs]


@pytest.mark.parametrize("more", [0, 1])
def test_so_many_cells_are_read_and_no_more(handed_in, released, more):
    own = CELLS_AT_MOST - len(handed_in.cells) + more
    handed_in.cells += [new_code_cell("x = 1") for _ in range(own)]
    result = rebuilt(handed_in, released)
    assert len(result.notebook.cells) == CELLS_AT_MOST
    note = Note.of(Kind.TOO_MANY_CELLS, count=CELLS_AT_MOST + 1, limit=CELLS_AT_MOST)
    assert result.repairs == [note] * more


@pytest.mark.parametrize("more", [0, 1])
def test_an_answer_has_so_many_letters_and_no_more(handed_in, released, more):
    cell(handed_in, "softmax").source = "#" * (TEXT_AT_MOST + more)
    result = rebuilt(handed_in, released)
    assert result.answers["softmax"] == "#" * TEXT_AT_MOST
    note = Note.of(Kind.ANSWER_CUT, cell="softmax", limit=TEXT_AT_MOST)
    assert result.repairs == [note] * more


@pytest.mark.parametrize("more", [0, 1])
def test_own_cells_have_so_many_letters_together_and_less(handed_in, released, more):
    lengths = [TEXT_AT_MOST + 1] * 4
    lengths.append(ALL_TEXT - 1 + more - sum(lengths))
    handed_in.cells += [new_code_cell("#" * length) for length in lengths]
    result = rebuilt(handed_in, released)
    own = [len(c.source) for c in result.notebook.cells if c.id.startswith("own-")]
    assert own == [TEXT_AT_MOST] * 4 + lengths[4:] * (not more)
    assert result.repairs == [Note.of(Kind.OWN_CELLS_CUT, limit=ALL_TEXT)] * more


def test_of_the_students_own_cells_only_code_is_kept(handed_in, released):
    handed_in.cells += [new_markdown_cell("a note"), new_code_cell(" \n"), new_code_cell("x = 1")]
    result = rebuilt(handed_in, released)
    assert [c.id for c in result.notebook.cells if c.id.startswith("own-")] == ["own-1"]
    assert result.repairs == []


def test_what_runs_before_a_check(handed_in, released):
    handed_in.cells.insert(place(handed_in, "softmax"), new_code_cell("half = 0.5"))
    result = rebuilt(handed_in, released)
    ids = [c.id for c in released.cells]
    above = ids[: ids.index("softmax-check")]
    above.insert(above.index("softmax"), "own-1")
    assert result.above("softmax-check") == above


@pytest.mark.parametrize("source", ["", " \n", " {} \n"])
def test_an_emptied_cell_is_no_answer_and_no_change(handed_in, released, source):
    for name in ("softmax", "set-up"):
        cell(handed_in, name).source = source.format(cell(released, name).source)
    result = rebuilt(handed_in, released)
    assert (result.attempted, result.repairs) == (set(), [])
    assert result.answers["softmax"] == cell(released, "softmax").source


def test_nbgraders_id_goes_before_the_cells_own(handed_in, released):
    cell(handed_in, "softmax").id = "logsumexp"
    result = rebuilt(handed_in, released)
    assert result.answers["softmax"] == ANSWER
    assert result.answers["logsumexp"] == cell(released, "logsumexp").source


def test_cells_that_came_twice_are_in_no_wrong_order(handed_in, released):
    handed_in.cells.insert(0, copy.deepcopy(cell(handed_in, "softmax")))
    result = rebuilt(handed_in, released)
    assert result.repairs == [Note.of(Kind.CELL_REPEATED, cell="softmax", count=2)]


def test_two_cells_that_changed_places_are_in_the_wrong_order(handed_in, released):
    one, other = place(handed_in, "softmax"), place(handed_in, "logsumexp")
    cells = handed_in.cells
    cells[one], cells[other] = cells[other], cells[one]
    assert rebuilt(handed_in, released).repairs == [Note.of(Kind.CELLS_REORDERED)]


def test_cells_that_all_notebooks_have_make_no_submission(handed_in, released):
    handed_in.cells = [c for c in handed_in.cells if c.id in COMMON]
    assert handed_in.cells
    with pytest.raises(Unreadable) as reason:
        rebuilt(handed_in, released)
    assert reason.value.note == Note.of(Kind.NO_CELL_OF_OURS)


def test_of_files_with_other_names_the_fullest_counts(handed_in, released):
    part = copy.deepcopy(handed_in)
    part.cells = [cell(part, "softmax")]
    part.cells[0].source = "part"
    for names in (("a.ipynb", "b.ipynb"), ("b.ipynb", "a.ipynb")):
        files = dict(zip(names, (data(part), data(handed_in)), strict=True))
        result = rebuild(files, released, STEM)
        assert result.answers["softmax"] == ANSWER
        assert result.repairs == [
            Note.of(Kind.OTHER_FILE_NAME, names[1], expected=f"{STEM}.ipynb"),
            Note.of(Kind.SEVERAL_FILES, names[1], count=2),
        ]


def test_a_photograph_alone_is_an_answer(handed_in, released):
    photographed = copy.deepcopy(released)
    cell(photographed, PROOF).attachments = {"p.png": {"image/png": picture(10, 10)}}
    files = {f"{STEM}.ipynb": data(released), "mine.ipynb": data(photographed)}
    result = rebuild(files, released, STEM)
    assert result.attempted == {PROOF}
    assert notes_of(result) == [Kind.OTHER_FILE_NAME]


def picture(width: int, height: int) -> str:
    out = io.BytesIO()
    Image.new("1", (width, height)).save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


@pytest.fixture
def kept(handed_in, released):
    """Which pictures of a proof are kept, by what is attached to it."""

    def attach(attachments: object) -> list[str]:
        cell(handed_in, PROOF).attachments = attachments
        result = rebuilt(handed_in, released)
        images = cell(result.notebook, PROOF).get("attachments", {})
        assert all(list(kinds) == ["image/png"] for kinds in images.values())
        assert (PROOF in result.attempted) == bool(images)
        return list(images)

    return attach


def test_so_many_pictures_are_kept_and_no_more(kept):
    names = [f"{n}.png" for n in range(IMAGES_AT_MOST + 1)]
    assert kept({name: {"image/png": picture(1, 1)} for name in names}) == names[:-1]


@pytest.mark.parametrize(
    ("width", "height", "is_kept"),
    [(20_000, 1, True), (20_001, 1, False), (10_000, 5_000, True), (10_000, 5_001, False)],
)
def test_a_picture_has_a_limit(kept, width, height, is_kept):
    assert kept({"p.png": {"image/png": picture(width, height)}}) == ["p.png"] * is_kept


def test_a_picture_has_fewer_bytes_than_the_limit(kept, monkeypatch):
    encoded = picture(3, 3)
    for limit, names in ((len(encoded), []), (len(encoded) + 1, ["p.png"])):
        monkeypatch.setattr("autograder.grading.rebuild.IMAGE_BYTES", limit)
        assert kept({"p.png": {"image/png": encoded}}) == names


@pytest.mark.parametrize("attachments", [None, [], {"p": None}, {"p": {}}, {"p": {"x": 7}}])
def test_attachments_of_no_sense_stop_nothing(kept, attachments):
    assert kept(attachments) == []


def test_an_answer_in_code_has_no_pictures(handed_in, released):
    raw = json.loads(data(handed_in))
    answer = next(c for c in raw["cells"] if c["id"] == "softmax")
    answer["attachments"] = {"p.png": {"image/png": picture(1, 1)}}
    result = rebuild({f"{STEM}.ipynb": json.dumps(raw).encode()}, released, STEM)
    assert "attachments" not in cell(result.notebook, "softmax")


def test_the_picture_of_the_copy_that_counts_is_kept(handed_in, released):
    first = cell(handed_in, PROOF)
    first.source, first.attachments = "proved", {"a.png": {"image/png": picture(1, 1)}}
    again = copy.deepcopy(cell(released, PROOF))
    again.attachments = {"b.png": {"image/png": picture(1, 1)}}
    handed_in.cells.append(again)
    images = cell(rebuilt(handed_in, released).notebook, PROOF).attachments
    assert list(images) == ["a.png"]
    first.source = cell(released, PROOF).source
    images = cell(rebuilt(handed_in, released).notebook, PROOF).attachments
    assert list(images) == ["b.png"], "neither says anything: the last counts"


@pytest.mark.parametrize(
    ("name", "noted"),
    [
        ("a" * 54 + ".ipynb", "a" * 54 + ".ipynb"),
        ("a" * 55 + ".ipynb", "a" * 55 + ".ipyn"),
        ("c:\\work\\mine.ipynb", "mine.ipynb"),
        ("work/mine.ipynb", "mine.ipynb"),
        ("\x1b[2J.ipynb", "?[2J.ipynb"),
    ],
)
def test_a_name_is_noted_short_and_printable(handed_in, released, name, noted):
    result = rebuilt(handed_in, released, name)
    assert result.repairs == [Note.of(Kind.OTHER_FILE_NAME, noted, expected=f"{STEM}.ipynb")]


def test_of_many_files_five_are_named(released):
    with pytest.raises(Unreadable) as reason:
        rebuild({f"{n}.pdf": b"" for n in "654321"}, released, STEM)
    assert reason.value.note == Note.of(Kind.NO_NOTEBOOK, "1.pdf, 2.pdf, 3.pdf, 4.pdf, 5.pdf")


@pytest.mark.parametrize("more", [0, 1])
def test_a_file_has_a_limit(handed_in, released, monkeypatch, more):
    content = data(handed_in)
    monkeypatch.setattr("autograder.grading.rebuild.NOTEBOOK_AT_MOST", len(content) - more)
    if not more:
        assert rebuilt(handed_in, released).answers["softmax"] == ANSWER
        return
    with pytest.raises(Unreadable) as reason:
        rebuilt(handed_in, released)
    limit = (len(content) - 1) / 2**20
    assert reason.value.note == Note.of(Kind.FILE_TOO_LARGE, f"{STEM}.ipynb", limit=limit)


def test_of_a_damaged_file_the_cells_are_counted(handed_in, released):
    text = json.dumps(handed_in)
    result = rebuild({f"{STEM}.ipynb": text[:-9].encode()}, released, STEM)
    assert result.answers["softmax"] == ANSWER
    count = len(handed_in.cells) - 1  # the last one is cut
    assert result.repairs == [Note.of(Kind.DAMAGED_FILE, f"{STEM}.ipynb", count=count)]


def test_an_older_format_has_headings_and_sheets(handed_in, released):
    cells = json.loads(data(handed_in))["cells"]
    answers = {c["id"]: c for c in cells}
    code = {"cell_type": "code", "metadata": answers["softmax"]["metadata"], "input": ANSWER}
    proof = {"cell_type": "heading", "metadata": answers[PROOF]["metadata"], "source": "proved"}
    sheets = [{"cells": [code]}, 7, {"cells": 7}, *[{"cells": []}] * 6, {"cells": [proof, 7]}]
    late = {"cell_type": "code", "metadata": answers["logsumexp"]["metadata"], "input": "late"}
    old = {"worksheets": [*sheets, {"cells": [late]}], "metadata": {}, "nbformat": 3}
    result = rebuild({f"{STEM}.ipynb": json.dumps(old).encode()}, released, STEM)
    assert (result.answers["softmax"], result.answers[PROOF]) == (ANSWER, "proved")
    assert result.attempted == {"softmax", PROOF}, "ten sheets are read"
    assert Kind.CELL_TYPE_CHANGED not in notes_of(result)
