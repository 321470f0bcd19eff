"""Each chapter as a notebook that runs from top to bottom, and all of them as one zip.

The zip holds the whole of course_lib, the weights of the published models as bytes, and the
versions by which the pages were executed. What is
marked up for the pages alone becomes plain Markdown.
"""

import ast
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx

from autograder.book.build_state import state_of
from autograder.book.execution import executed_notebook
from autograder.book.page_models import FILES
from autograder.book.pretrained import is_fetched
from autograder.files import zip_folder
from autograder.paths import ROOT
from autograder.release.bundle import write_requirements
from course_lib import reaction_model, sentence_encoder
from course_lib.pretrained import FOLDER

NAME = "chapters_to_run"
MODELS = (sentence_encoder.SOURCE, reaction_model.SOURCE)
GLUE = "from myst_nb import glue"
NO_GLUE = """\
def glue(name, value, display=True):
    \"\"\"The page prints this number in its text.\"\"\"
"""
README = """\
# The Mathematics of Attention: the chapters as notebooks

Each notebook holds the text and the code of a chapter and runs from top to bottom. `course_lib` is
the whole library. With Python 3.11 to 3.14, in this folder:

    python -m venv .venv
    .venv/bin/pip install -r requirements.txt        (Windows: .venv\\Scripts\\pip)
    .venv/bin/jupyter lab                            (Windows: .venv\\Scripts\\jupyter lab)

or with conda:

    conda env create -f environment.yml
    conda activate attention-chapters
    jupyter lab

To hand in exercises you need the zip of the exercises, not this one.
"""
ENVIRONMENT = """\
name: attention-chapters
channels: [conda-forge]
dependencies:
  - python=3.11
  - pip
  - pip:
      - -r requirements.txt
"""
LINKS = """\
<aside class="take-along" id="take-along" aria-label="Take this chapter along">
<p><strong>Take this chapter along.</strong>
<a href="{up}notebooks/{stem}.ipynb" download>{stem}.ipynb</a> runs from top to bottom in
<a href="{up}notebooks/{name}.zip" download>the folder of all chapters</a>, which has the library
and says what to install. Cells with PyTorch run there, too.</p></aside>
"""

FENCE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<kind>[\w:-]+)\}[ \t]*(?P<title>[^\n]*)\n"
    r"(?P<body>.*?)^(?P=fence)[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
OPTIONS = re.compile(r"\A(?:---\n.*?^---\n|(?::[\w-]+:[^\n]*\n)+)", re.DOTALL | re.MULTILINE)
ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?P<text>[^`]*)`")
NAMED = re.compile(r"(?P<words>[^<]*?)\s*<(?P<target>[^>]*)>", re.DOTALL)
LABELLED = re.compile(r"^\$\$[ \t]*\((?P<label>[\w:-]+)\)[ \t]*$", re.MULTILINE)
ONLY_IN_PAGES = {
    "moving-figure": "*(Here the page has a figure that moves.)*",
    "course-goals": "",
    "prediction-end": "",
    "glue:figure": "*(Here the page has a figure, which a cell draws.)*",
}
EXERCISE = "*(Exercise `{title}` is on the page, and in the zip of the exercises.)*"


def plain_notebook(executed: NotebookNode) -> NotebookNode:
    """A page as a notebook without outputs; numbers that it computed stand in its text."""
    numbers = dict(_glued(executed))
    cells = []
    for cell in executed.cells:
        if cell.cell_type == "code":
            source = cell.source.replace(GLUE, NO_GLUE)
            cells.append(nbformat.v4.new_code_cell(source))
        elif text := plain_markdown(cell.source, numbers).strip():
            cells.append(nbformat.v4.new_markdown_cell(text))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # the same in every build
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(notebook)
    return notebook


def plain_markdown(text: str, numbers: dict[str, Any]) -> str:
    """MyST as Markdown that any notebook shows."""
    text = re.sub(r"^%.*\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\([\w:-]+\)=\n", "", text, flags=re.MULTILINE)
    text = _without_fences(text)
    text = LABELLED.sub("$$", _tagged(text))
    text = re.sub(r"\[([^\]]*)\]\{[.#][^}]*\}", r"\1", text)
    return ROLE.sub(lambda role: _spoken(role["role"], role["text"], numbers), text)


def _without_fences(text: str) -> str:
    def shown(fence: re.Match[str]) -> str:
        kind, title = fence["kind"], fence["title"].strip()
        if kind in ONLY_IN_PAGES:
            return ONLY_IN_PAGES[kind]
        if kind == "course-exercise":
            return EXERCISE.format(title=title)
        body = _without_fences(OPTIONS.sub("", fence["body"])).strip()
        if kind == "prediction":
            kind, title = "course-question", title or "Predict before reading on"
        head = {"in-a-hurry": "In a hurry", "prf:proof": "Proof"}.get(kind)
        if kind == "course-question":
            head = title or "Quick question"
            asked, _, answer = body.partition("\n---\n")
            folded = "<details><summary>Answer</summary>\n\n{}\n\n</details>"
            body = f"{asked.strip()}\n\n{folded.format(answer.strip())}"
        elif kind.startswith("prf:") and head is None:
            head = f"{kind.removeprefix('prf:').capitalize()}: {title}"
        return "\n\n".join(filter(None, [f"**{head or title}**" if head or title else "", body]))

    return FENCE.sub(shown, text)


def _tagged(text: str) -> str:
    """The label of a formula as its number: references call it by that."""
    parts = re.split(r"(^\$\$.*?^\$\$[ \t]*(?:\([\w:-]+\))?[ \t]*$)", text, flags=re.S | re.M)
    for k, part in enumerate(parts):
        if part.startswith("$$") and (label := LABELLED.search(part)):
            end = part.rindex("$$")
            parts[k] = f"{part[:end].rstrip()} \\tag{{{label['label']}}}\n{part[end:]}"
    return "".join(parts)


def _spoken(role: str, text: str, numbers: dict[str, Any]) -> str:
    if role == "glue:text":
        name, _, form = text.partition(":")
        return format(numbers[name], form) if name in numbers else text
    if role == "eq":
        return f"({text})"
    if role.startswith("cite"):
        return f"[{text}]"
    named = NAMED.fullmatch(text)
    words = named["words"] if named else text
    return words.replace("%s", "").replace("{number}", "").strip() or text


def _glued(executed: NotebookNode) -> Iterator[tuple[str, Any]]:
    for cell in executed.cells:
        for output in cell.get("outputs", ()):
            if name := output.get("metadata", {}).get("scrapbook", {}).get("name"):
                data = output["data"]
                plain = next((data[kind] for kind in data if kind.endswith("text/plain")), None)
                if plain is not None:
                    yield name, _value(plain)


def _value(shown: str) -> Any:
    try:
        return ast.literal_eval(shown)
    except (ValueError, SyntaxError):
        return shown


def offer(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    if doctree is None or app.builder.name != "html" or app.config.answers == "never":
        return
    executed = executed_notebook(app.env, Path(app.env.doc2path(page)))
    if executed is None or not any(cell.cell_type == "code" for cell in executed.cells):
        return
    stem = Path(page).name
    state_of(app).notebooks[stem] = plain_notebook(executed)
    up = "../" * page.count("/")
    context["body"] += LINKS.format(up=up, stem=stem, name=NAME)


def write_notebooks(app: Sphinx, exception: Exception | None) -> None:
    notebooks = state_of(app).notebooks
    if exception or app.builder.name != "html" or not notebooks:
        return
    target = Path(app.outdir) / "notebooks"
    target.mkdir()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / NAME
        write_folder(folder, notebooks)
        for stem in notebooks:
            shutil.copy(folder / f"{stem}.ipynb", target)
        zip_folder(folder, target / f"{NAME}.zip")


def write_folder(folder: Path, notebooks: dict[str, NotebookNode]) -> None:
    """All that a reader needs to run the chapters."""
    no_caches: Callable[..., Any] = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(ROOT / "course_lib", folder / "course_lib", ignore=no_caches)
    for stem, notebook in notebooks.items():
        nbformat.write(notebook, folder / f"{stem}.ipynb")
    for source in filter(is_fetched, MODELS):
        weights = FOLDER.relative_to(ROOT) / source.name
        (folder / weights).mkdir(parents=True)
        for name in FILES:
            shutil.copy(ROOT / weights / name, folder / weights)
    write_requirements(folder)
    (folder / "environment.yml").write_text(ENVIRONMENT)
    (folder / "README.md").write_text(README)


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", offer, priority=410)
    app.connect("build-finished", write_notebooks, priority=400)  # before links are looked at
