"""Feedback pages in the zip that Moodle takes back: Grading action, Upload multiple feedback files.

Moodle's importer (mod/assign/feedback/file/importziplib.php) finds the student in the name of a
folder, by the number between the first two underscores: the very names of the zip of submissions
that it made. So they are kept when that is collected.
"""

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

from autograder.files import open_atomically, write_atomically


def remember_folders(course: Path, stem: str, folders: dict[str, str]) -> None:
    """Beside what was known of others; an empty one forgets."""
    merged = known_folders(course, stem) | folders
    if merged:
        kept = {student: folder for student, folder in sorted(merged.items()) if folder}
        text = json.dumps(kept, indent=1, ensure_ascii=False)
        write_atomically(_path(course, stem), text + "\n")


def known_folders(course: Path, stem: str) -> dict[str, str]:
    """Student -> folder; empty for a class that was not collected from Moodle."""
    path = _path(course, stem)
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def write_feedback_zip(course: Path, stem: str, students: Iterable[str]) -> tuple[Path, list[str]]:
    """The zip, and of whom there is no folder in it."""
    folders, without = known_folders(course, stem), []
    target = feedback_zip(course, stem)
    with (
        open_atomically(target) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for student in students:
            if student not in folders:
                without.append(student)
                continue
            page = course / "feedback" / student / stem / f"{stem}.html"
            archive.write(page, f"{folders[student]}/{page.name}")
    return target, without


def feedback_zip(course: Path, stem: str) -> Path:
    return course / "exports" / f"{stem}_moodle_feedback.zip"


def _path(course: Path, stem: str) -> Path:
    return course / "collected" / stem / "moodle.json"
