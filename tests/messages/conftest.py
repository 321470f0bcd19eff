"""Every message as people read it, a file a surface, beside the tests in __snapshots__.

A test here puts somebody into a real situation and gives what they read to `reads`. After a change
of wording `make messages` rewrites the files; their diff is what there is to review. All other
tests assert data, so that they do not break (tests/prose_asserts.py counts those that still do).
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.extensions.amber import AmberSnapshotExtension

from autograder.paths import ROOT
from tests.classroom.graded_course import course_with_a_class

CHANGED = "This message reads otherwise now. If that is meant:  make messages"


class Message(AmberSnapshotExtension):
    """The text as it is, without quotes and escapes."""

    def serialize(self, data: str, **_) -> str:
        return "\n".join(line.rstrip() for line in data.strip("\n").split("\n"))


@pytest.fixture(scope="session")
def with_a_class(released, tmp_path_factory) -> Path:
    """A released course with four students; no test may change it."""
    return course_with_a_class(released, tmp_path_factory.mktemp("class") / "course")


@pytest.fixture
def reads(snapshot, tmp_path_factory) -> Callable[[str], None]:
    """Compare a message with its snapshot, but for what differs from one run to the next."""
    temporary = re.escape(str(tmp_path_factory.getbasetemp()))
    differing = {
        rf"{temporary}/\w+": "TEMPORARY",
        re.escape(str(Path(sys.prefix))): "VENV",
        re.escape(str(ROOT)): "ROOT",
        r"Usage: .*\nTry '.* --help' for help\.\n\n": "",  # click's, above a refusal
        r"\d{4}-\d\d-\d\d-\d{6}": "DATE-AND-TIME",
        r"(?<= as saved at )\d\d:\d\d": "TIME",
        r"\b\d+(\.\d+)+\+[0-9a-f]{8,}": "VERSION",
        r"\b\d+ kB\b": "SIZE",
    }

    def compare(message: str) -> None:
        for pattern, name in differing.items():
            message = re.sub(pattern, name, message)
        assert message == snapshot(extension_class=Message), CHANGED

    return compare
