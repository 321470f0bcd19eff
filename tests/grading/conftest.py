"""The gradebook of the small course in both kinds of database."""

import os
import shutil
from pathlib import Path

import pytest

from autograder.release.course_folder import nbgrader_configuration
from tests.grading.gradebook_fixtures import STEM
from tests.grading.postgres import Server, find_programs


@pytest.fixture(scope="session")
def postgres(released, tmp_path_factory):
    """A server with a database `released`, in which nbgrader has put the assignment."""
    programs = find_programs()
    if programs is None or not hasattr(os, "geteuid"):
        line = "tests of PostgreSQL not run: no createdb on this machine (apt install postgresql)"
        pytest.fail(line) if os.environ.get("CI") == "true" else pytest.skip(line)
    server = Server(programs)
    try:
        server.copy_of("template0")
        copy = shutil.copytree(released, tmp_path_factory.mktemp("postgres") / "course")
        _release_into(copy, server.address("gradebook_0"))
        yield server
    finally:
        server.remove()


def _release_into(course: Path, address: str) -> None:
    from nbgrader.apps import NbGraderAPI

    config = nbgrader_configuration(course)
    config.CourseDirectory.db_url = address
    result = NbGraderAPI(config=config).generate_assignment(STEM, force=True)
    assert result["success"], result["log"]


@pytest.fixture
def sqlite_url(released, tmp_path) -> str:
    copy = shutil.copy(released / "gradebook.db", tmp_path / "gradebook.db")
    return f"sqlite:///{copy}"


@pytest.fixture
def postgres_url(postgres) -> str:
    return postgres.copy_of("gradebook_0")


@pytest.fixture(params=["sqlite", "postgres"])
def url(request) -> str:
    """The address of a gradebook in which nobody has handed in anything."""
    return request.getfixturevalue(f"{request.param}_url")
