"""Whatever becomes of a notebook on its way, its answers are found, or it is said why not."""

import copy
import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.preprocessors import ClearSolutions
from traitlets.config import Config

from autograder.exercises.assignment import load_assignment
from autograder.grading.notes import Kind, Note
from autograder.grading.rebuild import IMAGE_SIDE, Unreadable, rebuild
from autograder.paths import ROOT
from autograder.release.notebooks import source_notebook

STEM = "03_softmax"
ASSIGNMENT = load_assignment(ROOT / "solutions" / STEM)
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
    import base64
    import io

    from PIL import Image

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
