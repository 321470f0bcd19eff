"""A small course with four students, and notebooks that they could hand in."""

import json
import shutil
from pathlib import Path

import pytest

from tests.classroom.graded_course import course_with_a_class
from tests.grading.gradebook_fixtures import STEM


@pytest.fixture(scope="session")
def with_a_class(released, tmp_path_factory) -> Path:
    """Released, with four students; no test may change it."""
    return course_with_a_class(released, tmp_path_factory.mktemp("class") / "course")


@pytest.fixture
def course(with_a_class, tmp_path) -> Path:
    """A copy; each test has its own."""
    return shutil.copytree(with_a_class, tmp_path / "course")


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
