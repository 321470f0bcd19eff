"""The book built once and shown on the loopback; a real browser; tiny books to break."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import pytest

from autograder.book.build import Site
from autograder.book.serve import server
from tests.book.building import build
from tests.book.visits import Visits
from tests.shared import SharedFolders

ROOT = Path(__file__).parents[2]
HEADER = """\
---
file_format: mystnb
kernelspec: {name: python3, display_name: Python 3}
---

"""


def snapshot(shared: SharedFolders, solutions: bool = False) -> Site:
    """The pages of this checkout, built if they are not current, out of the next build's way."""

    def make(folder: Path) -> None:
        assert build(ROOT, solutions) == ""
        built = Site(ROOT, solutions)
        with built.alone():
            shutil.copytree(built.folder, Site(folder, solutions).folder)

    return Site(shared.get("solutions-site" if solutions else "site", make), solutions)


@pytest.fixture(scope="session")
def site(shared) -> Site:
    return snapshot(shared)


@pytest.fixture(scope="session")
def solutions_site(shared) -> Site:
    return snapshot(shared, solutions=True)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a host that shows this folder."""
    with server(folder) as pages:
        Thread(target=pages.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{pages.server_port}"
        pages.shutdown()


@pytest.fixture(scope="session")
def address(site, tmp_path_factory):
    """Where the pages are served: in a folder of a host, where an address that begins with / and
    leaves the book finds nothing."""
    host = tmp_path_factory.mktemp("host")
    (host / "courses").mkdir()
    (host / "courses" / "attention").symlink_to(site.folder)
    with served(host) as there:
        yield f"{there}/courses/attention"


@pytest.fixture(scope="session")
def visits(browser, address) -> Visits:
    return Visits(browser, address)


@dataclass
class TinyBook:
    """A book of a few lines under the configuration of the real one."""

    root: Path
    pages: dict[str, str] = field(default_factory=dict)

    def build(self, **pages: str) -> str:
        self.pages |= pages
        self.write()
        return build(self.root)

    def write(self) -> None:
        chapters = self.root / "chapters"
        shutil.rmtree(chapters, ignore_errors=True)
        chapters.mkdir()
        (chapters / "references.bib").write_text("")
        (chapters / "start.md").write_text("# Start\n")
        for name, text in self.pages.items():
            (chapters / f"{name}.md").write_text(HEADER + text)
        (self.root / "_toc.yml").write_text(
            "format: jb-book\nroot: chapters/start\nchapters:\n"
            + "".join(f"  - file: chapters/{name}\n" for name in sorted(self.pages))
        )

    def html(self, page: str) -> str:
        return (self.root / "_build" / "html" / "chapters" / f"{page}.html").read_text()

    def line(self, page: str, text: str) -> int:
        """The line of the page on which the text stands."""
        source = (self.root / "chapters" / f"{page}.md").read_text()
        return source[: source.index(text)].count("\n") + 1


@pytest.fixture
def book(tmp_path) -> TinyBook:
    (tmp_path / "autograder").symlink_to(ROOT / "autograder")
    shutil.copy(ROOT / "_config.yml", tmp_path)
    return TinyBook(tmp_path)
