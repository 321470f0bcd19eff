"""The Sphinx extension of the book: boxes, numbers, formulas, and what no page may have.

The other extensions are named in `_config.yml`; here is only what is ours.
"""

import shutil
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from platform import python_version
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from pybtex.backends import plaintext
from pybtex.plugin import register_plugin
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

from autograder.book import (
    boxes,
    bundles,
    chapter_map,
    execution,
    figures,
    formulas,
    glossary_links,
    index_pages,
    markup,
    numbering,
    page_cells,
    page_checks,
    page_head,
    page_models,
    predictions,
    searching,
    take_along,
    theme,
    try_it,
)
from autograder.book.build import matching
from autograder.book.build_cache import kept
from autograder.book.build_state import state_of
from autograder.files import digest_of

EXECUTED_WITH = {"NumPy": "numpy", "PyTorch": "torch", "Matplotlib": "matplotlib"}

log = logging.getLogger(__name__)


def versions() -> str:
    packages = (f"{name} {version(package)}" for name, package in EXECUTED_WITH.items())
    return ", ".join([f"Python {python_version()}", *packages])


def keep_outputs_while_they_hold(app: Sphinx, config: Config) -> None:
    """What a cell prints depends on the code it imports; the notebook cache sees the cell alone."""
    source = Path(app.srcdir)
    imported = matching(source, ("course_lib/**/*.py", "chapters/**/*.py"))
    digest = digest_of(imported, source, versions())
    cache = source / "_build" / "executed" / digest[:16]
    config.nb_execution_cache_path = str(cache)
    for other in cache.parent.glob("*"):
        if other != cache:
            shutil.rmtree(other)


def unique_ids(app: Sphinx, doctree: nodes.document) -> None:
    """sphinx-proof gives the body of every theorem the same id."""
    for body in doctree.findall(nodes.section):
        if body["ids"] == ["proof-content"]:
            body["ids"] = [f"{body.parent['label']}-content"]


def remember_where_pictures_stand(app: Sphinx, doctree: nodes.document) -> None:
    for image in doctree.findall(nodes.image):
        state_of(app).pictures[PurePosixPath(image["uri"]).name] = formulas.with_line(image)


def say_versions(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    if doctree and NbMetadataCollector.get_exec_data(app.env, pagename):
        context["body"] += f'<p class="executed-with">This page was executed with {versions()}.</p>'


def summaries_are_called_what_they_say(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """myst-nb gives them another name, which whoever speaks to the computer would have to guess."""
    if doctree:
        context["body"] = context["body"].replace(' aria-label="Toggle hidden content"', "")


def refuse_bad_pages(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    with kept(app, "problems", page_checks.written_problems) as written_problems:
        problems = list(page_checks.problems_of_site(Path(app.outdir), written_problems))
    for page, line, address, fault in problems:
        picture = state_of(app).pictures.get(PurePosixPath(address).name)
        location = f"{page.relative_to(app.outdir)}:{line}" if picture is None else picture
        log.warning("%s: %s", fault, address, location=location)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx for each build."""
    boxes.setup(app)
    bundles.setup(app)
    chapter_map.setup(app)
    figures.setup(app)
    index_pages.setup(app)
    formulas.setup(app)
    markup.setup(app)
    page_cells.setup(app)
    execution.setup(app)
    page_head.setup(app)
    page_models.setup(app)
    predictions.setup(app)
    searching.setup(app)
    take_along.setup(app)
    theme.setup(app)
    try_it.setup(app)
    glossary_links.setup(app)
    # or each citation would look for it among all that is installed
    register_plugin("pybtex.backends", "plaintext", plaintext.Backend)
    app.add_env_collector(numbering.ChapterNumbers)
    app.connect("config-inited", keep_outputs_while_they_hold)
    app.connect("doctree-read", unique_ids)
    app.connect("doctree-read", remember_where_pictures_stand)
    app.connect("html-page-context", say_versions)
    app.connect("html-page-context", summaries_are_called_what_they_say)
    app.connect("build-finished", refuse_bad_pages)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
