"""What students hand in, as platforms pack it."""

import io
import zipfile

from tests.classroom.conftest import answered
from tests.grading.gradebook_fixtures import STEM

NAME = f"{STEM}.ipynb"
MOODLE = "Ada Lovelace_4711_assignsubmission_file_/"
CANVAS = "lovelaceada_1001_55512_"
NO_NOTEBOOKS = {
    "word": {"essay.docx": b"PK\x03\x04 word"},
    "word renamed": {"x.ipynb": b"PK\x03\x04 word"},
    "empty": {"x.ipynb": b""},
    "html": {"x.ipynb": b"<!DOCTYPE html>"},
    "another notebook": {"x.ipynb": b'{"cells": [], "nbformat": 4}'},
    "damaged zip": {"in.zip": b"no zip"},
}


def packed(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


REPAIRED = {
    "renamed": lambda notebook: {MOODLE + "Copy of 01_rows (3).ipynb": notebook},
    "a zip in a zip": lambda notebook: {
        MOODLE + "hand_in.zip": packed({"again.zip": packed({NAME: notebook})})
    },
    "two notebooks": lambda notebook: {
        MOODLE + NAME: answered(notebook, "second"),
        MOODLE + "old.ipynb": notebook,
    },
}
"""Files of Ada's by what is wrong with them, made of her notebook."""
