"""`course site`: build the book, refuse what no reader may meet, show it."""

import io
import logging
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock
from rich.console import Console
from rich.progress import Progress

from autograder.book import pretrained, runtime
from autograder.book.pretrained import NoModel
from autograder.files import IGNORED, digest_of, write_atomically
from autograder.paths import ROOT
from autograder.progress import progress_bar
from autograder.typeset.katex import katex_files

if TYPE_CHECKING:  # importing `course site` does not import Sphinx
    from sphinx.application import Sphinx

SOURCES = (
    "_config.yml",
    "_toc.yml",
    "CITATION.cff",
    "package-lock.json",
    "autograder/exercises/**/*",
    "autograder/release/**/*",
    "autograder/typeset/katex.py",
    "autograder/book/**/*",
    "chapters/**/*",
    "course_lib/**/*.py",
    "solutions/**/*",
)
SOLUTIONS_BANNER = (
    "Solutions edition: the folded boxes hold model answers and rubrics. Do not publish it."
)

console = Console(highlight=False, soft_wrap=True)


@dataclass
class Site:
    """One edition of the pages, below the project it is built from."""

    root: Path = ROOT
    solutions: bool = False
    complaints: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.root / "_build" / ("html-solutions" if self.solutions else "html")

    @property
    def stamp(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.built-from")

    @property
    def is_current(self) -> bool:
        return self.stamp.is_file() and self.stamp.read_text() == self.fingerprint()

    @property
    def pages(self) -> list[Path]:
        written = (path.relative_to(self.folder) for path in self.folder.rglob("*.html"))
        return sorted(p for p in written if p.parts[0] != "_static" and p.name != "index.html")

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def fingerprint(self) -> str:
        """Of all that the pages are made from; equal fingerprints, equal pages."""
        return digest_of(
            matching(self.root, SOURCES),
            self.root,
            *map(str, (self.root, sys.prefix, runtime.fetched())),
        )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait for another build in this checkout: two at once would damage each other's pages."""
        self.folder.parent.mkdir(exist_ok=True)
        with FileLock(self.folder.parent / "site.lock"):
            yield

    def make_current(self) -> bool:
        """Build unless the pages are what the sources say; True when they are fit for readers."""
        with self.alone():
            return self.is_current or self.build()

    def build(self) -> bool:
        """Read and write every page anew; only what cells have printed is kept from before.

        Sphinx warns about the pages that it reads, so a build that reads only what has changed
        would pass over the faults of all other pages.

        To be called by one process at a time (`alone`), which Sphinx changes. False when a page
        is not fit for readers: `complaints` says why. Raises NoKatex, and then nothing is changed.
        """
        from sphinx.errors import SphinxError
        from sphinx.util.console import strip_escape_sequences

        from autograder.book import pyodide_packing

        katex_files()
        if any((self.root / "solutions").glob("*/assignment.toml")):
            runtime.fetch(console.print, show_progress=console.is_terminal)
            try:
                pretrained.fetch(console.print)
            except NoModel as error:  # a page that needs it will say so
                console.print(str(error))
            if runtime.fetched():
                pyodide_packing.packed_once(console.print)
        made_from, warnings = self.fingerprint(), io.StringIO()
        for left_over in (self.folder, self._doctrees):
            shutil.rmtree(left_over, ignore_errors=True)
        self.stamp.unlink(missing_ok=True)
        try:
            self._run_sphinx(warnings)
        except SphinxError as error:
            warnings.write(f"{error}\n")
        log = strip_escape_sequences(warnings.getvalue()).replace(f"{self.root}/", "")
        self.complaints = [line for line in log.splitlines() if line.strip()]
        self.complaints += self._failed_cells()
        if not self.complaints:
            write_atomically(self.stamp, made_from)
        return not self.complaints

    def _run_sphinx(self, warnings: io.StringIO) -> None:
        import a11y_pygments  # noqa: F401  it has the log of every library told to the reader
        from jupyter_book.config import get_final_config
        from sphinx.application import Sphinx
        from sphinx.util.docutils import docutils_namespace, patch_docutils

        logging.getLogger().handlers = [logging.NullHandler()]
        config, _ = get_final_config(
            user_yaml=self.root / "_config.yml",
            sourcedir=self.root,
            raise_on_invalid=True,
            cli_config={"latex_individualpages": False, "nitpicky": True, **self._edition()},
        )
        with patch_docutils(str(self.root)), docutils_namespace(), progress_bar(console) as bar:
            app = Sphinx(
                srcdir=self.root,
                confdir=None,
                outdir=self.folder,
                doctreedir=self._doctrees,
                buildername="html",
                confoverrides=config,
                status=None,
                warning=warnings,
                warningiserror=True,
                keep_going=True,
            )
            _follow(app, bar)
            app.build(force_all=True)

    @property
    def _doctrees(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.doctrees")

    def _edition(self) -> dict[str, Any]:
        if not self.solutions:
            return {}
        return {
            "course_solutions": True,
            "html_theme_options": {"announcement": SOLUTIONS_BANNER},
        }

    def _failed_cells(self) -> Iterator[str]:
        """The page and line of each cell that raised, and its traceback."""
        reports = self.folder / "reports"
        for report in sorted(reports.rglob("*.err.log")):
            page = self.root / report.relative_to(reports).as_posix().replace(".err.log", ".md")
            traceback = report.read_text()
            cell = re.search(r"^-{10,}\n(.*?)\n-{10,}$", traceback, re.DOTALL | re.MULTILINE)
            before, source, _ = page.read_text().partition(cell[1]) if cell else ("", "", "")
            line = f":{before.count(chr(10)) + 1}" if source else ""
            yield f"\n{page.relative_to(self.root)}{line}: this cell raised\n{traceback.rstrip()}"


def matching(root: Path, patterns: Iterable[str]) -> list[Path]:
    """The files that match any of the patterns, each once, without caches."""
    paths = {path for pattern in patterns for path in root.glob(pattern)}
    return sorted(path for path in paths if path.is_file() and not set(IGNORED) & set(path.parts))


def _follow(app: "Sphinx", bar: Progress) -> None:
    """Each page counts twice: when it has been read and run, and when it has been written."""
    task = bar.add_task("looking for pages", total=None)

    def on(event: str, show: Callable[..., None]) -> None:
        def listen(app: "Sphinx", *args: Any) -> None:
            show(*args)

        app.connect(event, listen)

    search_page = 1
    on("env-before-read-docs", lambda _, all: bar.update(task, total=2 * len(all) + search_page))
    on("source-read", lambda page, _: bar.update(task, description=f"running {page}"))
    on("doctree-read", lambda _: bar.advance(task))
    on(
        "html-page-context",
        lambda page, *_: bar.update(task, advance=1, description=f"writing {page}"),
    )
