"""A notebook as a plain Python file: its cells stand between lines that begin with `# %%`.

Any editor opens it, and several run it cell by cell. Text stands in comments.
"""

import re
from collections.abc import Iterable, Iterator

CELL = re.compile(r"^# %%(.*)$", re.MULTILINE)
ID = re.compile(r'\bid="([\w-]+)"')
TEXT = "[markdown]"
VERSION = re.compile(r"^# version: (\S+)$", re.MULTILINE)


def as_text(head: str, version: str, cells: Iterable[dict]) -> str:
    """Write cells (`id`, `cell_type`, `source`) as one file that Python can run."""
    parts = [_commented(f"{head}\n\nversion: {version}")]
    for cell in cells:
        is_text = cell["cell_type"] == "markdown"
        mark = f'# %% {TEXT} id="{cell["id"]}"' if is_text else f'# %% id="{cell["id"]}"'
        parts.append(f"{mark}\n{_commented(cell['source']) if is_text else cell['source']}")
    return "\n\n".join(parts) + "\n"


def cells_of(text: str) -> list[dict]:
    """Its cells, whatever an editor or a student has done to the file; their own have no id."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    marks = list(CELL.finditer(text))
    before = text[: marks[0].start()] if marks else text
    cells = [_code(None, before)] if _holds_code(before) else []
    for mark, end in _with_ends(marks, text):
        inside, named = text[mark.end() : end], ID.search(mark[1])
        name = named[1] if named else None
        cells += _text_and_code(name, inside) if TEXT in mark[1] else [_code(name, inside)]
    return cells


def as_notebook(text: str, stem: str, version: str) -> dict:
    """The same as a notebook, for whatever takes nothing else; `version` where it says none."""
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "course": {"assignment": stem, "version": version_in(text) or version},
        },
        "cells": [_notebook_cell(number, cell) for number, cell in enumerate(cells_of(text))],
    }


def _notebook_cell(number: int, cell: dict) -> dict:
    notebook_cell = cell | {"id": cell["id"] or f"own-{number}", "metadata": {}}
    if cell["cell_type"] == "code":
        notebook_cell |= {"outputs": [], "execution_count": None}
    return notebook_cell


def version_in(text: str) -> str:
    """The version of the assignment that the file was made from."""
    line = VERSION.search(text[:5_000])
    return line[1] if line else ""


def with_cell(text: str, name: str, source: str) -> str:
    """The file with another text in one code cell, and everything else as it stood."""
    marks = list(CELL.finditer(text))
    for mark, end in _with_ends(marks, text):
        named = ID.search(mark[1])
        if named and named[1] == name:
            body = _commented(source) if TEXT in mark[1] else source
            rest = "\n" + text[end:] if text[end:] else ""
            return f"{text[: mark.end()]}\n{body}\n{rest}"
    return f'{text.rstrip()}\n\n# %% id="{name}"\n{source}\n'


def _with_ends(marks: list[re.Match], text: str) -> Iterator[tuple[re.Match, int]]:
    return zip(marks, [*(mark.start() for mark in marks[1:]), len(text)], strict=False)


def _text_and_code(name: str | None, inside: str) -> Iterator[dict]:
    """Text, up to the first line that is no comment: there the student has begun to write code."""
    lines = inside.strip("\n").split("\n")
    end = next((n for n, line in enumerate(lines) if line and line[0] != "#"), len(lines))
    text = [line.removeprefix("#").removeprefix(" ") for line in lines[:end]]
    yield {"id": name, "cell_type": "markdown", "source": "\n".join(text).strip()}
    if end < len(lines):
        yield _code(None, "\n".join(lines[end:]))


def _code(name: str | None, source: str) -> dict:
    return {"id": name, "cell_type": "code", "source": source.strip("\n").rstrip()}


def _commented(text: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in text.split("\n"))


def _holds_code(text: str) -> bool:
    return any(line.strip() and not line.startswith("#") for line in text.split("\n"))
