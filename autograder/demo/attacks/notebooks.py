"""Disguise the notebook: its cells, their metadata, its file, its folder, what is beside it."""

import base64
import io
import json
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from autograder.demo.attacks.attack import Attack, Files

PAGE = """<script>alert(1)</script><img src=x onerror="alert(2)"><iframe src="javascript:alert(3)">
</iframe>[a](javascript:alert(4)) <a href="data:text/html,<script>alert(5)</script>">b</a>
<svg onload=alert(6)><style>*{display:none}</style><form action="http://example.org"><input name=q>
</form> <div onclick=alert(7) style="position:fixed;inset:0">c</div> <base href="//example.org">
![d](http://example.org/seen.png "e") <meta http-equiv=refresh content="0;url=//example.org">
$\\href{javascript:alert(8)}{f}$ <math><mtext></form>
<form><mglyph><style></math><img src onerror=alert(9)>
\x1b[2J\x1b]0;g\x07 ```{raw} html
<script>alert(10)</script>
```"""


def _each(do: Callable[[nbformat.NotebookNode], None]) -> Callable[[nbformat.NotebookNode], None]:
    def change(notebook: nbformat.NotebookNode) -> None:
        for cell in notebook.cells:
            do(cell)

    return change


def _graded(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]


def _checks(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in _graded(notebook) if cell.cell_type == "code"]


def _words(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in _graded(notebook) if cell.cell_type == "markdown"]


def _more_points(notebook: nbformat.NotebookNode) -> None:
    for cell in _graded(notebook):
        cell.metadata.nbgrader["points"] = 1000.0


def _full_marks_shown(notebook: nbformat.NotebookNode) -> None:
    for cell in _checks(notebook):
        cell.source = "100.0"
        cell.outputs = [new_output("execute_result", {"text/plain": "100.0"}, execution_count=1)]


def _large_pictures(many: int) -> dict[str, dict[str, str]]:
    from PIL import Image

    out = io.BytesIO()
    Image.new("L", (6000, 6000)).save(out, "PNG")
    data = base64.b64encode(out.getvalue()).decode()
    return {f"{number}.png": {"image/png": data} for number in range(many)}


def _many_pictures(notebook: nbformat.NotebookNode) -> None:
    for cell in _words(notebook):
        cell.attachments = _large_pictures(60)


def _pictures_in_code(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell["attachments"] = _large_pictures(8)


def _forged_formulas(notebook: nbformat.NotebookNode) -> None:
    for cell in _words(notebook):
        cell.source = "&#xE000;9&#xE001; \ue0009\ue001 kept-0-9- $x$"


def _many_formulas(notebook: nbformat.NotebookNode) -> None:
    for cell in _words(notebook):
        cell.source = r"$\def\a#1{\frac{#1}{#1}}\a{\a{\a{\a{\a{x}}}}}$ " * 300


def _many_parts(files: Files) -> Files:
    def with_lists(data: bytes) -> bytes:
        notebook = json.loads(data)
        notebook["metadata"]["more"] = [[]] * 1_000_000
        return json.dumps(notebook).encode()

    return {name: with_lists(data) for name, data in files.items()}


def _swapped(notebook: nbformat.NotebookNode) -> None:
    """The check of one exercise claims to be that of another."""
    checks = _checks(notebook)
    metadata = [cell.metadata for cell in checks]
    for cell, meta in zip(checks, metadata[1:] + metadata[:1], strict=True):
        cell.metadata = meta


def _checks_are_answers(notebook: nbformat.NotebookNode) -> None:
    for cell in _checks(notebook):
        cell.metadata.nbgrader |= {"solution": True, "locked": False}
        cell.source = "100.0"


def _copies(notebook: nbformat.NotebookNode) -> None:
    copies = [nbformat.from_dict(cell) for cell in _checks(notebook)]
    for cell in copies:
        cell.source = "100.0"
    notebook.cells = copies + notebook.cells + copies


def _without_checks(notebook: nbformat.NotebookNode) -> None:
    gone = {cell.id for cell in _checks(notebook)}
    notebook.cells = [cell for cell in notebook.cells if cell.id not in gone]


def _other_types(notebook: nbformat.NotebookNode) -> None:
    for cell in _checks(notebook):
        cell.cell_type = "raw"
    for cell in _words(notebook):
        cell.cell_type = "code"
        cell.source = "import os; os._exit(0)"


def _other_kernel(notebook: nbformat.NotebookNode) -> None:
    spec = {"name": "../../bash", "display_name": PAGE, "language": "bash", "argv": ["sh"]}
    notebook.metadata = {"kernelspec": spec, "title": PAGE, "widgets": {"x": PAGE}}


def _page_everywhere(notebook: nbformat.NotebookNode) -> None:
    for cell in _words(notebook):
        cell.source = PAGE
        cell.attachments = {f'"><script>alert(1)</script>{PAGE}': {"image/svg+xml": PAGE}}
    more = f"print({PAGE!r})\nfrom IPython.display import HTML, Javascript, Latex, display\n"
    more += f"display(HTML({PAGE!r}), Javascript('alert(1)'), Latex({PAGE!r}))\n"
    more += f"display({{'text/html': {PAGE!r}, 'text/markdown': {PAGE!r}, 'image/png': {PAGE!r}, "
    more += f"'image/svg+xml': {PAGE!r}}}, raw=True)\nraise ValueError({PAGE!r})"
    notebook.cells += [new_code_cell(more, id="page"), new_markdown_cell(PAGE, id="words")]
    answer = next(c for c in notebook.cells if c.source.startswith("library"))
    answer.source = f"raise type({PAGE!r}.replace(chr(0), ''), (Exception,), {{}})({PAGE!r})\n" + (
        answer.source
    )


def _bomb_attached(notebook: nbformat.NotebookNode) -> None:
    """A few kilobytes that would be a picture of 100,000 by 100,000."""
    for cell in _words(notebook):
        cell.source += "\n![](attachment:a.png)"
        cell.attachments = {
            "a.png": {"image/png": _png(100_000, 100_000)},
            "b.png": {"image/png": _png(7000, 7000)},
            "c.png": {"image/png": "=" * 1_000_000},
            "d.png": {"text/html": PAGE},
            "e.png": {"image/png": ["a", {"b": None}]},
        }


def _png(width: int, height: int) -> str:
    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    data = io.BytesIO()
    data.write(b"\x89PNG\r\n\x1a\n")
    data.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)))
    data.write(chunk(b"IDAT", zlib.compress(bytes(min(width * height, 50_000_000)))))
    data.write(chunk(b"IEND", b""))
    return base64.b64encode(data.getvalue()).decode()


def _half_letters(notebook: nbformat.NotebookNode) -> None:
    notebook.cells.insert(0, new_code_cell("print('\ud83d')", id="half"))
    for cell in _words(notebook):
        cell.source = "\udcff\ud800"


def _strange_values(notebook: nbformat.NotebookNode) -> None:
    """Valid JSON, but nothing is what it should be."""
    strange: tuple[Any, ...] = (None, 7, [], {}, [[["a"]]], "x", True, 1e308)
    for n, cell in enumerate(notebook.cells):
        value = strange[n % len(strange)]
        cell.metadata = {"nbgrader": value} if n % 2 else value
        cell["outputs"] = cell["attachments"] = cell["execution_count"] = value
    notebook.cells += list(strange)


def _one(files: Files) -> tuple[str, bytes]:
    return next(iter(files.items()))


def _named(name: str) -> Callable[[Files], Files]:
    return lambda files: {name: _one(files)[1]}


def _twice(files: Files) -> Files:
    name, data = _one(files)
    return {f"{n}{name}": data for n in range(190)} | {name: data}


def _beside(files: Files) -> Files:
    """Modules that shadow, and notebooks' own settings."""
    code = b"import os\nos._exit(0)\nlibrary = 'numpy'\n"
    modules = ("numpy.py", "torch.py", "course_lib.py", "sitecustomize.py", "timestamp.py")
    settings = ("ipython_config.py", "nbgrader_config.py", "gradebook.db", "conftest.py", ".env")
    return files | dict.fromkeys((*modules, *settings), code)


def _with(text: bytes) -> Callable[[Files], Files]:
    return lambda files: {_one(files)[0]: text}


def _many_cells(files: Files) -> Files:
    name, data = _one(files)
    cell = json.dumps({"cell_type": "code", "metadata": {}, "outputs": [], "source": "1"}).encode()
    end = data.rindex(b"]")
    return {name: data[:end] + (b"," + cell) * 300_000 + data[end:]}


def _long_cells(files: Files) -> Files:
    name, data = _one(files)
    text = "x = {}\n".format("(" * 150 + "1" + ")" * 150) * 200
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": text}
    end = data.rindex(b"]")
    return {name: data[:end] + (b"," + json.dumps(cell).encode()) * 200 + data[end:]}


def _links(folder: Path) -> None:
    """The notebook is a link to a neighbour's, and so is all else."""
    for path in list(folder.iterdir()):
        path.unlink()
        path.symlink_to(f"../../student_001/{folder.name}/{path.name}")
    (folder / "other.ipynb").symlink_to("/etc/passwd")
    (folder / "timestamp.txt").symlink_to("/dev/zero")


def _pipes(folder: Path) -> None:
    """Whoever opens them waits for ever."""
    os.mkfifo(folder / "a.ipynb")
    os.mkfifo(folder / "timestamp.txt")
    (folder / "b.ipynb").mkdir()


def _not_text(folder: Path) -> None:
    name = os.fsencode(folder / "x.ipynb").replace(b"/x.", b"/\xff\x1b[2J\n.")
    path = next(folder.iterdir())
    os.rename(path, name)


ATTACKS = (
    Attack(
        "a tag that skips the checks",
        "the notebook is rebuilt",
        change=_each(
            lambda cell: cell.metadata.update(tags=["skip-execution", "raises-exception"])
        ),
    ),
    Attack("scripts in every text", "pages are cleaned", change=_page_everywhere),
    Attack("more points", "the notebook is rebuilt", change=_more_points),
    Attack("full marks in the outputs", "the notebook is rebuilt", change=_full_marks_shown),
    Attack("checks in each other's place", "the notebook is rebuilt", change=_swapped),
    Attack(
        "checks that claim to be answers", "the notebook is rebuilt", change=_checks_are_answers
    ),
    Attack("copies of the checks", "the notebook is rebuilt", change=_copies),
    Attack("no checks at all", "the notebook is rebuilt", change=_without_checks),
    Attack("other types of cells", "the notebook is rebuilt", change=_other_types),
    Attack("another kernel", "the notebook is rebuilt", change=_other_kernel),
    Attack("pictures that explode", "pictures are made anew", change=_bomb_attached),
    Attack("sixty pictures that take seconds each", "so many pixels", change=_many_pictures),
    Attack("pictures in cells of code", "they are not decoded", change=_pictures_in_code),
    Attack("a proof with formulas that are forged", "marks are secret", change=_forged_formulas),
    Attack("three hundred formulas in a proof", "each is bounded", change=_many_formulas),
    Attack("a million empty lists", "so many parts are read", files=_many_parts),
    Attack("halves of letters", "texts are made whole", change=_half_letters),
    Attack("metadata of the wrong kinds", "only texts are taken", change=_strange_values),
    Attack("a name that climbs", "names are not followed", files=_named("..\\..\\gradebook.ipynb")),
    Attack(
        "a name with commands for the terminal",
        "names are cleaned",
        files=_named(
            "\x1b[2J\x1b]0;x\x07<script>alert(1)</script>\u202eknil.ipynb".replace("/", "")
        ),
    ),
    Attack("a name that is no text", "names are cleaned", folder=_not_text),
    Attack("two hundred notebooks", "one is graded", files=_twice),
    Attack("modules beside the notebook", "only notebooks are read", files=_beside),
    Attack("links to a neighbour's work", "links are not followed", folder=_links),
    Attack("pipes instead of files", "only files are read", folder=_pipes),
    Attack("a file of seventy megabytes", "limit of size", files=_with(b" " * (70 << 20))),
    Attack(
        "a million braces", "the search is given up", files=_with(b'{"cells": [' + b"{" * 10**6)
    ),
    Attack(
        "objects in objects in objects",
        "the search is given up",
        files=_with(b'{"cells": [' + b'[{"a":' * 300_000),
    ),
    Attack("cells by the hundred thousand", "the first are read", files=_many_cells),
    Attack("cells of twenty megabytes", "the first letters are read", files=_long_cells),
    Attack(
        "a time that nobody can read",
        "it is no time",
        files=lambda files: files | {"timestamp.txt": b"9" * 5_000_000},
    ),
    Attack(
        "handed in before the beginning of time",
        "the time changes no mark",
        files=lambda files: files | {"timestamp.txt": b"0001-01-01 00:00:00 UTC"},
    ),
)
