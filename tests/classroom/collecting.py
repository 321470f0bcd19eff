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


def _zips_in_zips() -> dict[str, bytes]:
    """31 kB that unfold into a tebibyte."""
    data = packed({NAME: b" " * (10 << 20)})
    for _ in range(4):
        data = packed({f"{number}.zip": data for number in range(40)})
    return {"in.zip": data}


BOMBS = {
    "zips in zips": _zips_in_zips,
    "large files": lambda: {
        "in.zip": packed(dict.fromkeys([f"{n}.ipynb" for n in range(8)], b" " * (100 << 20)))
    },
    "large files in folders": lambda: dict.fromkeys(
        [f"{number}/{NAME}" for number in range(8)], b" " * (100 << 20)
    ),
    "many files": lambda: {"in.zip": packed({f"{n}.ipynb": b"{}" for n in range(20_000)})},
    "small objects": lambda: {NAME: b'{"cells": [' + b"[]," * (20 << 20) + b"[]]}"},
    "objects in printed text": lambda: {
        NAME: b'{"cells": [{"cell_type": "code", "outputs": [' + b"{}," * (20 << 20) + b"{}]}]}"
    },
}
"""What one student may hand in, small, to cost everybody hours."""
