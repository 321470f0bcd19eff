"""What no built page may have: a picture without words, or anything loaded from elsewhere."""

import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

OUTSIDE = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
OUTSIDE_IN_CSS = re.compile(
    r"(?:@import\s+|url\()\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)", re.IGNORECASE
)
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "manifest"}
LOADING_ATTRIBUTES = {"src", "srcset", "poster", "data"}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.problems: list[tuple[int, str, str]] = []
        self.in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        line, source = self.getpos()[0], given.get("src", "")
        if tag == "img":
            alt = given.get("alt", "").strip()
            if not alt or alt.startswith("_images/") or alt == source:
                self.problems.append((line, source, "picture without alternative text"))
        loading = {name for name in LOADING_ATTRIBUTES if name in given and tag != "a"}
        if (
            tag == "link"
            and LOADED_LINKS & set(given.get("rel", "").split())
            or tag in {"use", "image"}
        ):
            loading.add("href")
        for name in loading:
            if OUTSIDE.match(given.get(name, "")):
                self.problems.append((line, given[name], "loaded from outside"))
        self._styles(given.get("style", ""))
        self.in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        if self.in_style:
            self._styles(data)

    def handle_endtag(self, tag: str) -> None:
        self.in_style = False

    def _styles(self, css: str) -> None:
        for address in outside_in_css(css):
            self.problems.append((self.getpos()[0], address, "loaded from outside"))


def problems(html: str) -> list[tuple[int, str, str]]:
    """Line, address and fault of everything on a page that readers must not meet."""
    page = _Page()
    page.feed(html)
    return page.problems


def outside_in_css(css: str) -> list[str]:
    return OUTSIDE_IN_CSS.findall(css)


def written_problems(html: bytes) -> bytes:
    return json.dumps(problems(html.decode())).encode()


def problems_of_site(
    folder: Path, written_problems: Callable[[bytes], bytes] = written_problems
) -> Iterator[tuple[Path, int, str, str]]:
    for path in sorted(folder.rglob("*.html")):
        for line, address, fault in json.loads(written_problems(path.read_bytes())):
            yield path, line, address, fault
    for path in sorted(folder.rglob("*.css")):
        for address in outside_in_css(path.read_text()):
            yield path, 1, address, "loaded from outside"
