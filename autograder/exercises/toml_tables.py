"""Read a TOML file whose author is told the line and the remedy when something is wrong."""

import re
import reprlib
import tomllib
from pathlib import Path
from typing import Any

from autograder.errors import CourseError
from autograder.paths import ROOT

A_KIND = {
    str: "a text",
    int: "a whole number",
    (int, float): "a number",
    bool: "true or false",
    list: "a list (tables of a list are written [[name]])",
    dict: "a table",
}


class BadExercise(CourseError):
    """An exercise folder that cannot be used: where, what, and what to do."""

    def __init__(self, path: Path, problem: str, remedy: str, line: int | None = None):
        where = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        self.path, self.line = path, line
        super().__init__(f"{where}{f':{line}' if line else ''}: {problem}\n  {remedy}")


class Table:
    """A table of a TOML file that knows its lines and refuses wrong values and unknown keys."""

    def __init__(self, path: Path, data: Any, header: str = "", number: int = 1):
        """With a header: the table under the number-th `[[exercise]]`, say."""
        self.path, self.text = path, path.read_text().splitlines()
        pattern = rf"\s*\[+\s*{header}\s*\]+"
        headers = [n for n, text in enumerate(self.text, start=1) if re.match(pattern, text)]
        self.start = headers[number - 1] if len(headers) >= number else 1
        self.line = (self.line_of("name") or self.start) if header else None
        if not isinstance(data, dict):
            problem = f"`{header}` holds {reprlib.repr(data)}, not a table"
            raise self.bad(problem, f"write each one under [[{header}]]")
        self.left = dict(data)

    @classmethod
    def read(cls, path: Path) -> "Table":
        try:
            return cls(path, tomllib.loads(path.read_text()))
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"at line (\d+)", str(error))
            last = len(path.read_text().splitlines())
            raise BadExercise(
                path,
                f"is not valid TOML: {error}",
                "mend that line",
                int(line[1]) if line else last,
            ) from None

    def line_of(self, key: str) -> int | None:
        pattern = rf'\s*"?{re.escape(key)}"?\s*='
        for number, text in enumerate(self.text[self.start - 1 :], start=self.start):
            if re.match(pattern, text):
                return number
        return None

    def bad(self, problem: str, remedy: str, key: str = "") -> BadExercise:
        """To be raised; stands at the key's line, or where the table begins."""
        line = (self.line_of(key) if key else None) or self.line
        return BadExercise(self.path, problem, remedy, line)

    def take(self, key: str, kind: type | tuple, default: Any = None) -> Any:
        if key not in self.left:
            if default is not None:
                return default
            raise self.bad(f"has no `{key}`", f"add `{key} = ...`")
        value = self.left.pop(key)
        if not isinstance(value, kind) or isinstance(value, bool) and kind is not bool:
            problem = f"`{key}` is {reprlib.repr(value)}, not {A_KIND[kind]}"
            raise self.bad(problem, "mend its value", key)
        return value

    def take_all(self, key: str, kind: type, default: list | None = None) -> tuple:
        """A list whose entries are all of one kind."""
        values = self.take(key, list, default)
        for value in values:
            if not isinstance(value, kind) or isinstance(value, bool):
                problem = f"`{key}` holds {reprlib.repr(value)}, not {A_KIND[kind]}"
                raise self.bad(problem, "mend that entry", key)
        return tuple(values)

    def one_of(self, key: str, choices: Any, default: Any = None) -> Any:
        value = self.take(key, type(next(iter(choices))), default)
        if value not in choices:
            raise self.bad(f"`{key} = {value!r}` is unknown", f"use one of {list(choices)}", key)
        return value

    def nothing_left(self) -> None:
        for key in self.left:
            raise self.bad(f"`{key}` means nothing here", "remove it or mend its spelling", key)
