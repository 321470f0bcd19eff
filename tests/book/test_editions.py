"""Answers are open or they are nowhere: `answers` in _config.yml."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.exercises.assignment import CodeExercise, ProofQuestion, load_course
from autograder.release.bundle import shown_tests
from tests.book.building import build
from tests.book.trying import write_book

LEAST = 24
"""Shorter lines stand in every program."""


def contents(data: bytes, name: str = "") -> Iterator[tuple[str, bytes]]:
    """All that is in a file, unpacked as often as it is packed."""
    yield name, data
    if data[:2] == b"\x1f\x8b":
        yield from contents(gzip.decompress(data), name)
    elif data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for inner in archive.namelist():
                yield from contents(archive.read(inner), f"{name}/{inner}")
    elif data[:2] in (b"x\x9c", b"x\xda"):
        try:
            yield name, zlib.decompress(data)
        except zlib.error:
            return


def lines_of(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if len(line.strip()) >= LEAST}


def answers(assignments) -> set[str]:
    """The lines of their model answers that no exercise, not even another one, shows by itself."""
    given, lines = set(), set()
    for exercise in (exercise for one in assignments for exercise in one.exercises):
        if isinstance(exercise, CodeExercise):
            given |= lines_of(exercise.starter) | lines_of(shown_tests(exercise))
            given |= lines_of(exercise.prompt)
            lines |= lines_of(exercise.solution)
        elif isinstance(exercise, ProofQuestion):
            given |= lines_of(exercise.prompt)
            lines |= lines_of(exercise.model) | set(exercise.rubric)
    return lines - given


def in_files(folder: Path, lines: set[str]) -> list[tuple[str, str]]:
    wanted = [(line, line.encode()) for line in sorted(lines)]
    return [
        (line, name)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for name, data in contents(path.read_bytes(), path.relative_to(folder).as_posix())
        for line, sought in wanted
        if sought in data
    ]


@pytest.mark.slow
def test_the_edition_for_a_class_holds_no_line_of_an_answer(tmp_path):
    chapters = load_course()
    root = write_book(tmp_path, {chapter.stem: chapter.exercises for chapter in chapters})
    config = root / "_config.yml"
    config.write_text(config.read_text().replace("answers: open", "answers: never"))
    assert build(root) == ""
    lines = answers(chapters)
    assert len(lines) > 200
    assert in_files(root / "_build" / "html", lines) == []
    config.write_text(config.read_text().replace("answers: never", "answers: open"))
    assert build(root) == ""
    opened = {line for line, _ in in_files(root / "_build" / "html", lines)}
    assert len(opened) > 10, "the search itself finds what is there"
