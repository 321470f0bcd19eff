"""A small course that proves clean, for tests that spoil it in one place and see it refused."""

import shutil
from pathlib import Path

import pytest

from autograder.exercises.assignment import Assignment, load_assignment, load_course
from autograder.exercises.prove import Proof, prove

GOOD = Path(__file__).with_name("good_solutions")
collect_ignore = [GOOD.name]


class Spoilable:
    """A copy of the good course that a test may spoil."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.chapter = folder / "01_rows"

    def spoil(self, file: str, old: str, new: str) -> None:
        """Put `new` in the place of `old`, which stands in the file exactly once."""
        path = self.chapter / file
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new))

    def append(self, file: str, text: str) -> None:
        path = self.chapter / file
        path.write_text(path.read_text() + text)

    def write(self, file: str, text: str) -> None:
        (self.chapter / file).write_text(text)

    def line_of(self, file: str, words: str) -> int:
        return self._lines_with(file, words)[0]

    def last_line_of(self, file: str, words: str) -> int:
        return self._lines_with(file, words)[-1]

    def _lines_with(self, file: str, words: str) -> list[int]:
        lines = (self.chapter / file).read_text().splitlines()
        return [number for number, line in enumerate(lines, start=1) if words in line]

    def load(self) -> Assignment:
        return load_assignment(self.chapter)

    def load_all(self) -> list[Assignment]:
        return load_course(self.folder)

    def prove(self, seeds: int = 2, name: str = "row_means") -> Proof:
        return prove(self.load()[name], seeds)


@pytest.fixture
def course(tmp_path) -> Spoilable:
    shutil.copytree(GOOD, tmp_path / "solutions")
    return Spoilable(tmp_path / "solutions")
