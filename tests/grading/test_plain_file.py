"""An assignment handed in as a plain Python file is graded as the notebook would be."""

import json

import nbformat
import pytest

from autograder.grading.notes import Kind, Note
from autograder.grading.rebuild import Unreadable, rebuild
from course_lib.checking import percent
from tests.grading.gradebook_fixtures import STEM

ANSWERS = {
    "row-means": "import numpy as np\n\n\ndef row_means(x):\n    return half(x) / x.shape[-1]",
    "what-a-mean-forgets": 'what_a_mean_forgets = ["a", "b"]',
    "mean-of-a-shift": "The sum grows by $nc$.\n\n- so the mean grows by $c$",
}
HELPER = "def half(x):\n    return x.sum(-1)"


@pytest.fixture
def files(released):
    """The notebook and the plain file of the bundle, untouched."""
    folder = released / "release" / STEM
    return {f"{STEM}{kind}": (folder / f"{STEM}{kind}").read_bytes() for kind in (".ipynb", ".py")}


@pytest.fixture
def fresh(files):
    return nbformat.reads(files[f"{STEM}.ipynb"].decode(), as_version=4)


def filled_in(text: bytes) -> bytes:
    text = text.decode()
    for name, answer in ANSWERS.items():
        text = percent.with_cell(text, name, answer)
    return f"{text}\n# %%\n{HELPER}\n".encode()


def filled_in_notebook(data: bytes) -> bytes:
    notebook = nbformat.reads(data.decode(), as_version=4)
    for cell in notebook.cells:
        cell.source = ANSWERS.get(cell.id, cell.source)
    notebook.cells.append(nbformat.v4.new_code_cell(HELPER))
    return nbformat.writes(notebook).encode()


def test_both_kinds_of_file_become_the_same_notebook(files, fresh):
    plain = rebuild({f"{STEM}.py": filled_in(files[f"{STEM}.py"])}, fresh, STEM)
    notebook = rebuild({f"{STEM}.ipynb": filled_in_notebook(files[f"{STEM}.ipynb"])}, fresh, STEM)
    assert plain.answers == notebook.answers
    assert set(plain.answers.values()) == set(ANSWERS.values())
    assert plain.attempted == notebook.attempted == set(ANSWERS)
    assert [c.source for c in plain.code()] == [c.source for c in notebook.code()]
    assert plain.repairs == notebook.repairs == []


def test_an_untouched_plain_file_attempts_nothing(files, fresh):
    result = rebuild({f"{STEM}.py": files[f"{STEM}.py"]}, fresh, STEM)
    assert (result.attempted, result.repairs) == (set(), [])


@pytest.mark.parametrize("worked_in", [".ipynb", ".py"])
def test_of_both_files_the_one_that_was_worked_in_is_graded(files, fresh, worked_in):
    fill = {".py": filled_in, ".ipynb": filled_in_notebook}[worked_in]
    files[STEM + worked_in] = fill(files[STEM + worked_in])
    files["course.py"] = b"print(1)"
    result = rebuild(files, fresh, STEM)
    assert result.attempted == set(ANSWERS)
    assert result.repairs == []


def test_answers_in_both_files_are_told(files, fresh):
    files[f"{STEM}.ipynb"] = filled_in_notebook(files[f"{STEM}.ipynb"])
    files[f"{STEM}.py"] = filled_in(files[f"{STEM}.py"]).replace(b"half(x)", b"0")
    result = rebuild(files, fresh, STEM)
    assert result.answers["row-means"] == ANSWERS["row-means"]
    assert result.repairs == [Note.of(Kind.SEVERAL_FILES, f"{STEM}.ipynb", count=2)]


@pytest.mark.parametrize("data", [b"print(1)\n", b"", b"\xff\x00# %%", b"# %%\n" * 1_000_000])
def test_a_python_file_of_something_else_is_no_submission(fresh, data):
    with pytest.raises(Unreadable) as reason:
        rebuild({"helpers.py": data}, fresh, STEM)
    assert reason.value.note == Note.of(Kind.NO_NOTEBOOK, "helpers.py")


@pytest.mark.parametrize("kind", [".ipynb", ".py"])
@pytest.mark.parametrize("said", ["0.0.9+12345678", "0.1.0<script>", "x" * 50, 7])
def test_the_version_that_a_student_worked_in_is_kept(files, fresh, kind, said):
    version = fresh.metadata.course.version
    notebook = json.loads(files[f"{STEM}.ipynb"])
    notebook["metadata"]["course"]["version"] = said
    old = {
        ".ipynb": json.dumps(notebook).encode(),
        ".py": files[f"{STEM}.py"].replace(version.encode(), str(said).encode(), 1),
    }
    for given, expected in ((files[STEM + kind], version), (old[kind], said)):
        kept = rebuild({STEM + kind: given}, fresh, STEM).notebook.metadata.course.version
        readable = expected in (version, "0.0.9+12345678") or (kind, said) == (".py", 7)
        assert kept == (str(expected) if readable else "")


@pytest.mark.parametrize("course", [None, 3, [], {"version": ["0.1"]}])
def test_a_version_of_no_sense_stops_nothing(files, fresh, course):
    notebook = json.loads(files[f"{STEM}.ipynb"])
    notebook["metadata"]["course"] = course
    data = json.dumps(notebook).encode()
    result = rebuild({f"{STEM}.ipynb": data}, fresh, STEM)
    assert result.notebook.metadata.course.version == ""
