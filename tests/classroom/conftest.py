"""A small course with four students, and notebooks that they could hand in."""

import json
import shutil
from pathlib import Path

import pytest

from autograder.commands.init import enrol, make_folder
from autograder.roster.students import Student, add_students
from tests.grading.gradebook_fixtures import STEM

CLASS = [
    Student("ada", "Lovelace", "Ada", "ada@uni.example", "1001", "s-1", "ada@uni.example", "A"),
    Student("grace", "Hopper", "Grace", "grace@uni.example", "1002", "s-2", "grace@uni.example"),
    Student("emmy", "Noether", "Emmy", "emmy@uni.example", "1003", "s-3", "emmy@uni.example"),
    Student("kurt", "Gödel", "Kurt", "kurt@uni.example", "1004", "s-4", "kurt@uni.example"),
]


@pytest.fixture
def course(released, tmp_path) -> Path:
    """Released, with a class; each test has its own."""
    folder = tmp_path / "course"
    shutil.copytree(released, folder)
    make_folder(folder, "mathematics_of_attention")
    add_students(folder, CLASS)
    enrol(folder, CLASS)
    return folder


@pytest.fixture
def notebook(course) -> bytes:
    """The assignment as a student gets it, with one answer begun."""
    return answered((course / "release" / STEM / f"{STEM}.ipynb").read_bytes(), "begun")


def answered(notebook: bytes, mark: str) -> bytes:
    """Another one for each mark."""
    content = json.loads(notebook)
    cell = next(c for c in content["cells"] if c["metadata"].get("nbgrader", {}).get("solution"))
    cell["source"] = f"# {mark}\n" + "".join(cell["source"])
    return json.dumps(content).encode()
