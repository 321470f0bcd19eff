"""The pages of the book by name, and what is written in them once they are built."""

from functools import cache
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

from autograder.book.build import Site

ROOT = Path(__file__).parents[2]
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
CHAPTERS = [TOC["root"], *(entry["file"] for entry in TOC["chapters"])]
PAGES = [*(f"{name}.html" for name in CHAPTERS), "search.html"]

every_page = pytest.mark.parametrize("page", PAGES)


def soup(site: Site, page: str) -> BeautifulSoup:
    """A page as a tree, which no test may change: it is made once for all."""
    return _parsed(site.folder / page)


def names_on(path: Path) -> list[str]:
    """What an address can point to."""
    return _names_on(path.resolve())


@cache
def _parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(), "html.parser")


@cache
def _names_on(path: Path) -> list[str]:
    return [element["id"] for element in _parsed(path).find_all(id=True)]
