"""What is handed in can neither stall nor fool the side that is trusted."""

import base64
import io
import json
import os
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from autograder.grading import submissions
from autograder.grading.notes import Kind, Note
from autograder.grading.rebuild import (
    A_SCAN,
    CELLS_AT_MOST,
    PARTS_AT_MOST,
    Unreadable,
    rebuild,
)
from autograder.grading.suspicious import mentioned, suspicious
from course_lib.checking.expect import expect_equal
from course_lib.checking.findings import Failure
from course_lib.checking.judge import judge_proof
from tests.grading.test_database import as_an_ordinary_user
from tests.grading.test_rebuild import ANSWER, STEM, cell, handed_in, rebuilt, released

__all__ = ["handed_in", "released"]
MINUTES = 2


@pytest.fixture(autouse=True)
def bounded():
    """A stall ends the test. Each of these took hours when nothing held it, and takes seconds."""

    def stop(*_):
        pytest.fail(f"not done in {MINUTES} minutes")  # nothing takes it for an error of its own

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(60 * MINUTES)
    yield
    signal.alarm(0)


@pytest.mark.parametrize(
    "content",
    [
        b"{" * 3_000_000,
        b'[{"a":' * 500_000,
        b'[{"a":[' * 900 + b"[]," * 2_000_000,
        b'{"cell_type":"code","source":"' * 200_000,
    ],
    ids=["braces", "nested objects", "a long tail in many objects", "halves of cells"],
)
def test_a_damaged_file_that_is_made_to_be_slow_is_given_up(released, content):
    with pytest.raises(Unreadable):
        rebuild({f"{STEM}.ipynb": b'{"cells": [' + content}, released, STEM)


@pytest.mark.parametrize("layout", ["cells", "worksheets"])
def test_of_a_hundred_thousand_cells_the_first_are_read(handed_in, released, layout):
    one = '{"cell_type":"code","metadata":{},"outputs":[],"source":"1","input":"1","language":"p"}'
    first = json.dumps(cell(handed_in, "softmax")) if layout == "cells" else one
    cells = f"[{first}," + ",".join([one] * 100_000) + "]"
    new = f'{{"cells":{cells},"metadata":{{}},"nbformat":4,"nbformat_minor":5}}'
    old = f'{{"worksheets":[{{"cells":{cells}}}],"metadata":{{}},"nbformat":3,"nbformat_minor":0}}'
    text = new if layout == "cells" else old
    if layout == "worksheets":
        with pytest.raises(Unreadable) as reason:
            rebuild({f"{STEM}.ipynb": text.encode()}, released, STEM)
        assert reason.value.note.kind is Kind.NO_CELL_OF_OURS
        return
    result = rebuild({f"{STEM}.ipynb": text.encode()}, released, STEM)
    assert result.answers["softmax"] == ANSWER
    assert Note.of(Kind.TOO_MANY_CELLS, count=100_001, limit=CELLS_AT_MOST) in result.repairs


def test_the_text_of_all_cells_together_has_a_limit(handed_in, released):
    more = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "x = 1\n" * 30_000}
    handed_in.cells += [more] * 200
    result = rebuilt(handed_in, released)
    assert sum(len(own.source) for own in result.notebook.cells) < 2_000_000
    assert result.answers["softmax"] == ANSWER


def test_halves_of_letters_can_be_written_down(handed_in, released):
    cell(handed_in, "softmax").source = "x = '\udc80'"
    handed_in.cells.insert(0, {"cell_type": "code", "metadata": {}, "source": "'\ud83d'"})
    result = rebuilt(handed_in, released)
    for kept in result.notebook.cells:
        kept.source.encode()


def test_a_name_that_is_no_text_is_read(tmp_path, handed_in):
    folder = tmp_path / "submitted" / "ann" / STEM
    folder.mkdir(parents=True)
    with open(os.fsencode(folder) + b"/\xff.ipynb", "wb") as file:
        file.write(json.dumps(handed_in).encode())
    assert submissions.read(tmp_path, STEM, "ann").content


def test_a_folder_that_is_a_link_hands_in_nothing(tmp_path):
    """Or a student could hand in a neighbour's work, or the model answers, by pointing at them."""
    (tmp_path / "submitted" / "ann" / STEM).mkdir(parents=True)
    (tmp_path / "submitted" / "bob").mkdir()
    (tmp_path / "submitted" / "bob" / STEM).symlink_to(f"../ann/{STEM}")
    (tmp_path / "submitted" / "eve").symlink_to("ann")
    assert submissions.students_with(tmp_path, STEM) == ["ann"]
    assert [name for name, _ in submissions.left_out(tmp_path, STEM)] == ["bob", "eve"]


@pytest.mark.parametrize("closed", ["ann", f"ann/{STEM}", f"ann/{STEM}/{STEM}.ipynb"])
def test_what_may_not_be_read_is_left_out_and_told(closed):
    """And everybody else is graded."""
    with tempfile.TemporaryDirectory() as course:
        for name in ("ann", "bob"):
            folder = Path(course, "submitted", name, STEM)
            folder.mkdir(parents=True)
            (folder / f"{STEM}.ipynb").touch()
        path = Path(course, "submitted", closed)
        with as_an_ordinary_user(Path(course), *Path(course).rglob("*")):
            path.chmod(0)
            assert submissions.students_with(Path(course), STEM) == ["bob"]
            [(name, reason)] = submissions.left_out(Path(course), STEM)
            path.chmod(0o755)
    assert name == "ann"
    assert "Permission denied" in reason and closed in reason


@pytest.mark.parametrize(
    "name",
    ["<img src=x onerror=alert(1)>", "a\x1b[2Jb", "a\nb", "a\udcffb", "a" * 252, "\u2603" * 80],
)
def test_a_folder_whose_name_could_do_something_is_left_out(tmp_path, name):
    os.makedirs(os.fsencode(tmp_path / "submitted" / name / STEM))
    assert submissions.students_with(tmp_path, STEM) == []
    [(shown, reason)] = submissions.left_out(tmp_path, STEM)
    assert (shown + reason).isprintable()
    assert "name" in reason


def test_a_huge_time_of_handing_in_is_no_time(tmp_path):
    folder = tmp_path / "submitted" / "ann" / STEM
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_bytes(b"1 " * 30_000_000)
    assert submissions.handed_in(tmp_path, STEM, "ann") is None


def test_a_proof_of_a_million_lines_earns_nothing():
    letters = "abcdefg"
    data = {
        "letters": list(letters),
        "text": dict.fromkeys(letters, ""),
        "after": dict.fromkeys(letters, ()),
        "part": {},
        "why_not": {},
        "points": 4.0,
    }
    fault, points = judge_proof("proof", list(letters), data)
    assert (fault, points) == (None, 4.0)
    fault, points = judge_proof("proof", list(letters) * 150_000, data)
    assert points == 0
    fault, points = judge_proof("proof", ["\x1b[2J<script>" * 100_000], data)
    assert len(fault) < 300 and fault.isprintable()


@pytest.mark.parametrize("got", [np.zeros(2_000_000), ["a" * 100] * 100_000, "\x1b" * 10**6])
def test_what_is_said_of_a_huge_answer_is_short(got):
    with pytest.raises(Failure) as failure:
        expect_equal(got=got, expected=[1], hint="")
    assert len(failure.value.evidence) < 500


def test_a_photograph_of_scans_without_number_is_not_decoded(handed_in, released):
    """Each of 75 bytes goes over all 49 million points of the picture, on the trusted side."""
    out = io.BytesIO()
    Image.new("L", (7000, 7000)).save(out, "JPEG", progressive=True, quality=1)
    honest = out.getvalue()
    scan = honest[honest.rindex(A_SCAN) : -2]
    attached = {"honest.jpg": honest, "bomb.jpg": honest[:-2] + 20_000 * scan + honest[-2:]}
    proof = cell(handed_in, "variance-in-the-jacobian")
    proof.attachments = {
        name: {"image/jpeg": base64.b64encode(data).decode()} for name, data in attached.items()
    }
    kept = cell(rebuilt(handed_in, released).notebook, proof.id).attachments
    assert list(kept) == ["honest.jpg"]


def picture(side: int) -> str:
    out = io.BytesIO()
    Image.new("L", (side, side)).save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


def test_pictures_have_a_limit_together_and_what_was_left_out_is_told(handed_in, released):
    """64 of them cost minutes, and those in code cells were decoded and thrown away."""
    given = {f"{n}.png": {"image/png": picture(7000)} for n in range(5)}
    for one in handed_in.cells:
        if one.cell_type == "code":
            one.attachments = {"a.png": {"image/png": "no picture"}}
    proof = cell(handed_in, "variance-in-the-jacobian")
    proof.attachments = given
    result = rebuilt(handed_in, released)
    assert list(cell(result.notebook, proof.id).attachments) == ["0.png", "1.png"]
    assert result.repairs == [Note.of(Kind.PICTURES_LEFT_OUT, cell=proof.id, count=3)]


def test_a_notebook_of_too_many_parts_is_read_as_far_as_it_goes(handed_in, released):
    """Each empty list takes twenty times its bytes once it is read."""
    handed_in.metadata["more"] = "HERE"
    text = json.dumps(handed_in).replace('"HERE"', "[" + "[]," * PARTS_AT_MOST + "[]]")
    result = rebuild({f"{STEM}.ipynb": text.encode()}, released, STEM)
    assert result.answers["softmax"] == ANSWER
    assert [note.kind for note in result.repairs] == [Kind.TOO_MANY_PARTS]


def test_signs_within_texts_are_no_parts(handed_in, released):
    """As in a long table that was printed."""
    handed_in.metadata["more"] = '[{,\\"' * (PARTS_AT_MOST // 2)
    assert rebuilt(handed_in, released).repairs == []


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_a_notebook_may_be_saved_in_any_unicode(handed_in, released, encoding):
    text = json.dumps(handed_in, ensure_ascii=False)
    result = rebuild({f"{STEM}.ipynb": text.encode(encoding)}, released, STEM)
    assert result.answers["softmax"] == ANSWER and result.repairs == []


def test_warnings_about_a_students_text_are_not_shown(recwarn):
    assert suspicious(mentioned([r"s = '\d' + torch.softmax"]), ("torch.softmax",))
    assert not recwarn.list


@pytest.mark.parametrize(
    ("source", "is_mentioned"),
    [
        ("plt.plot(x, label='softmax')", False),
        ("'softmax'", False),
        ("results['softmax'] = 1", False),
        ("print('softmax')", False),
        ("getattr(torch, 'softmax')", True),
        ("vars(torch)['softmax']", True),
        ("torch.__dict__['softmax']", True),
        ("operator.attrgetter('softmax')(torch)", True),
        ("from torch import softmax", True),
        ("eval('torch.softmax')", True),
    ],
)
def test_a_word_in_a_label_is_no_use_of_the_function(source, is_mentioned):
    assert bool(suspicious(mentioned([source]), ("torch.softmax",))) is is_mentioned
