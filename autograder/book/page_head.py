"""What a page says of itself to machines and in its foot: description, preview, licence, contact.

Author, address, repository and contact are settings of `_config.yml`; what is not set is left out.
"""

import re
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from xml.sax.saxutils import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from autograder.book import notices
from autograder.book.index_pages import citation

DESCRIPTION_AT_MOST = 160
"""Characters: search engines and chat programs cut what is longer."""
NO_PAGES = ("search", "404")


def describe_page(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Fill what layout.html shows in <head> and in the foot of a page."""
    config, settings = app.config, app.config.html_theme_options
    given = citation(Path(app.srcdir)) if Path(app.srcdir, "CITATION.cff").is_file() else {}
    if doctree and "description" not in context.get("meta", {}):
        context["description"] = description_of(doctree)
    if doctree and config.html_baseurl:
        context["preview"] = _preview(app, doctree)
    context["foot"] = {
        "author": config.author if config.author != "unknown" else "",
        "version": given.get("version", ""),
        "date": _in_words(given["date-released"]) if given else "",
        "notices": notices.FILE,
        "edit": _address_of_source(settings, app, pagename) if doctree else "",
        "contact": contact_address(config.course_contact),
    }
    if pagename == "404":
        context["site"] = urlsplit(config.html_baseurl).path or "/"


def description_of(doctree: nodes.document) -> str:
    """The first sentences of the page, without formulas, as far as they go into a preview."""
    first = next((p for p in doctree.findall(nodes.paragraph) if _is_running_text(p)), None)
    text = " ".join(first.astext().split()) if first else ""
    if len(text) <= DESCRIPTION_AT_MOST:
        return text
    sentences = re.match(rf".{{40,{DESCRIPTION_AT_MOST}}}[.?!](?= )", text)
    return sentences[0] if sentences else text[:DESCRIPTION_AT_MOST].rpartition(" ")[0] + " ..."


def _is_running_text(paragraph: nodes.paragraph) -> bool:
    return isinstance(paragraph.parent, nodes.section) and not any(paragraph.findall(nodes.math))


def _preview(app: Sphinx, doctree: nodes.document) -> str:
    """The first picture of the page; others can fetch it only where the site has an address."""
    images = (image["uri"] for image in doctree.findall(nodes.image))
    picture = next((uri for uri in images if uri.endswith(".png")), None)
    if picture is None or not isinstance(app.builder, StandaloneHTMLBuilder):
        return ""
    name = str(app.builder.images.get(picture, Path(picture).name))
    return urljoin(str(app.config.html_baseurl), f"{app.builder.imagedir}/{name}")


def _address_of_source(settings: dict[str, Any], app: Sphinx, pagename: str) -> str:
    repository = str(settings.get("repository_url", "")).rstrip("/")
    if not repository:
        return ""
    source = app.env.doc2path(pagename, base=False)
    return f"{repository}/edit/{settings.get('repository_branch') or 'main'}/{source}"


def contact_address(contact: str) -> str:
    """An e-mail address becomes a link that writes to it."""
    return f"mailto:{contact}" if "@" in contact and ":" not in contact else contact


def _in_words(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def write_for_search_engines(app: Sphinx, exception: Exception | None) -> None:
    """sitemap.xml and robots.txt, which need whole addresses."""
    base = app.config.html_baseurl
    if exception or app.builder.name != "html" or not base:
        return
    pages = [urljoin(base, app.builder.get_target_uri(page)) for page in sorted(app.env.found_docs)]
    lines = "".join(f"<url><loc>{escape(page)}</loc></url>\n" for page in pages)
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    Path(app.outdir, "sitemap.xml").write_text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{schema}">\n{lines}</urlset>\n'
    )
    sitemap = urljoin(base, "sitemap.xml")
    Path(app.outdir, "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {sitemap}\n")


def setup(app: Sphinx) -> None:
    app.add_config_value("course_contact", "", "html", [str])
    app.config.html_additional_pages["404"] = "404.html"
    app.connect("html-page-context", describe_page)
    app.connect("build-finished", write_for_search_engines, priority=400)
    app.connect("build-finished", notices.write_notices, priority=400)
