"""Other people's work in the pages, each with its licence as it came with it.

A file of `_static` that is neither ours nor listed here makes a test fail: name it in PARTS.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.metadata import files
from pathlib import Path

from sphinx.application import Sphinx

from autograder.errors import CourseError
from autograder.typeset.katex import npm_package
from course_lib.sentence_encoder import SOURCE

FILE = "licences.txt"
OURS = Path(__file__).resolve().parent / "static"
MADE_HERE = (
    "course.css",
    "python/*.ipynb",
    "python/0*.packed",
    "python/1*.packed",
    "python/course_lib.packed",
)


@dataclass(frozen=True)
class Part:
    """What comes from one package: a Python distribution, or a package of npm."""

    package: str
    licence: str
    home: str
    files: tuple[str, ...]
    """Patterns below _static."""
    from_npm: bool = False
    inside: str = ""
    """The file of ours that holds it."""

    def text(self) -> str:
        """Its licence, whole. Raises NoLicence."""
        if self.from_npm:
            return (npm_package(self.package) / "LICENSE").read_text()
        for file in files(self.package) or ():
            if file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING")):
                return file.read_text()
        raise NoLicence(f"{self.package} is installed without the text of its licence")


class NoLicence(CourseError):
    """A package whose files are shown came without its licence."""


PARTS = (
    Part(
        "katex", "MIT", "https://katex.org", ("fonts/KaTeX_*",), from_npm=True, inside="course.css"
    ),
    Part(
        "sphinx",
        "BSD-2-Clause",
        "https://www.sphinx-doc.org",
        ("basic.css", "*doctools.js", "documentation_options.js", "language_data.js")
        + ("searchtools.js", "sphinx_highlight.js", "file.png", "minus.png", "plus.png"),
    ),
    Part(
        "pygments", "BSD-2-Clause", "https://pygments.org", ("pygments.css",), inside="course.css"
    ),
    Part("myst-nb", "BSD-3-Clause", "https://myst-nb.readthedocs.io", ("mystnb.*.css",)),
    Part(
        "sphinx-design",
        "MIT",
        "https://sphinx-design.readthedocs.io",
        ("sphinx-design.min.css", "design-tabs.js"),
    ),
    Part("sphinx-proof", "MIT", "https://sphinx-proof.readthedocs.io", ("proof.css",)),
)
MODEL = "models/sentence_encoder/*"
MODELS_NOTICE = f"""\
{SOURCE.title} ({SOURCE.licence}), trained by {SOURCE.trained_by}: {SOURCE.paper}
_static/{MODEL}: the numbers of {SOURCE.package}, rounded to bytes
"""
PYTHON = (
    "python/pyodide*",
    "python/standard.packed",
    "python/libraries.packed",
    "python/pictures.packed",
)
PYTHONS_OWN = "python/LICENSES.txt"
"""Written by autograder/book/runtime.py beside what it speaks of."""


def write_notices(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    parts = "\n".join(_notice(part) for part in PARTS)
    Path(app.outdir, FILE).write_text(
        "The Mathematics of Attention: text and figures CC BY 4.0, code BSD 3-Clause.\n"
        "These pages also hold work of others, under licences of its own:\n\n"
        f"{parts}\n{MODELS_NOTICE}\nWhat makes Python run in the pages: see _static/{PYTHONS_OWN}\n"
    )


def _notice(part: Part) -> str:
    where = ", ".join(part.files) + (f"; in {part.inside}" if part.inside else "")
    rule = "-" * 72
    return f"{part.package} ({part.licence}), {part.home}\n{where}\n{rule}\n{part.text().strip()}\n"


def without_notice(static: Path) -> Iterator[str]:
    """The files of a built site's _static that nobody answers for."""
    ours = {path.relative_to(OURS).as_posix() for path in OURS.rglob("*") if path.is_file()}
    explained = [
        *MADE_HERE,
        *PYTHON,
        PYTHONS_OWN,
        MODEL,
        *(p for part in PARTS for p in part.files),
    ]
    for path in sorted(static.rglob("*")):
        name = path.relative_to(static).as_posix()
        if path.is_file() and name not in ours and not any(fnmatch(name, p) for p in explained):
            yield name
