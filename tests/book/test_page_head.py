"""What a page says of itself: licence, version, preview; nothing where nothing is set."""

import tomllib
from pathlib import Path

import pytest
import yaml

from autograder.book import notices, page_head
from autograder.book.index_pages import citation
from tests.book.built_pages import every_page, soup

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text())


def test_one_author_one_version_one_licence_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    given = citation(ROOT)
    assert given["author"] == CONFIG["author"]
    assert CONFIG["author"] in (ROOT / "LICENSE").read_text()
    assert given["version"] == project["version"]
    assert given["license"] == [project["license"], "CC-BY-4.0"]
    assert "BSD 3-Clause" in (ROOT / "LICENSE").read_text()
    assert (ROOT / "LICENSES" / "CC-BY-4.0.txt").is_file()


@pytest.mark.browser
@every_page
def test_every_page_says_what_one_may_do_with_it(site, page):
    foot = soup(site, page).select_one("footer.foot")
    assert foot.find("a", rel="license")["href"].endswith("/by/4.0/")
    assert (
        (site.folder / page)
        .parent.joinpath(foot.find("a", string="Work of others in these pages")["href"])
        .is_file()
    )
    assert CONFIG["author"] in foot.text


@pytest.mark.browser
@every_page
def test_a_page_describes_itself_in_one_line(site, page):
    if page == "search.html":
        return
    described = soup(site, page).find("meta", attrs={"name": "description"})["content"]
    assert 40 <= len(described) <= page_head.DESCRIPTION_AT_MOST + len(" ...")
    assert "$" not in described


@pytest.mark.browser
def test_every_file_of_others_has_its_notice(site, tmp_path):
    assert list(notices.without_notice(site.folder / "_static")) == []
    (tmp_path / "jquery.js").touch()
    assert list(notices.without_notice(tmp_path)) == ["jquery.js"]
    told = (site.folder / notices.FILE).read_text()
    for part in notices.PARTS:
        assert part.text().strip() in told


def set_addresses(book) -> None:
    path = book.root / "_config.yml"
    config = yaml.safe_load(path.read_text())
    config["html"]["baseurl"] = "https://example.org/attention/"
    config["repository"]["url"] = "https://example.org/source"
    config["sphinx"]["config"]["course_contact"] = "course@example.org"
    path.write_text(yaml.safe_dump(config))


@pytest.mark.browser
def test_what_is_not_set_is_not_there(book):
    assert book.build(page="# A page\n\nWords that describe it.\n") == ""
    for sign in ("Suggest a change", "Ask a question", "og:image", "og:url", "canonical"):
        assert sign not in book.html("page")
    assert not (book.root / "_build" / "html" / "sitemap.xml").exists()


@pytest.mark.browser
def test_what_is_set_is_shown(book):
    set_addresses(book)
    assert book.build(page="# A page\n\nWords.\n") == ""
    html = book.html("page")
    assert 'rel="canonical" href="https://example.org/attention/chapters/page.html"' in html
    assert 'href="https://example.org/source/edit/main/chapters/page.md"' in html
    assert 'href="mailto:course@example.org"' in html
    built = book.root / "_build" / "html"
    assert "https://example.org/attention/chapters/page.html" in (built / "sitemap.xml").read_text()
    assert "sitemap.xml" in (built / "robots.txt").read_text()
    assert 'href="/attention/_static/course.css"' in (built / "404.html").read_text()


def test_a_description_ends_where_a_sentence_ends():
    from docutils import nodes

    def page(text: str) -> nodes.document:
        document = nodes.document(None, None)  # type: ignore[arg-type]
        section = nodes.section()
        section += nodes.paragraph("", text)
        document += section
        return document

    short = "A short page."
    long = "One sentence of forty characters and more. " * 6
    endless = "word " * 100
    assert page_head.description_of(page(short)) == short
    assert page_head.description_of(page(long)).endswith("more.")
    assert page_head.description_of(page(endless)).endswith("word ...")
