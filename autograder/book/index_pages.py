"""Pages that find things: every exercise, every numbered statement, how to cite the course."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

from autograder.book import bundles
from autograder.book.boxes import CourseDirective, level_dots
from autograder.book.markup import html
from autograder.book.numbering import chapter_number
from autograder.exercises.assignment import (
    LEVELS,
    Assignment,
    CodeExercise,
    Exercise,
    ProofBlocks,
    ProofQuestion,
    load_course,
)

KINDS = {CodeExercise: "function", ProofBlocks: "proof to build", ProofQuestion: "proof to write"}
MY_STATE = """
<noscript><style>.my-state { display: none !important; }</style></noscript>
<div class="my-state waiting">
<p class="my-progress"></p>
<p class="my-next"></p>
<p class="my-buttons"><button type="button" class="save-state">Save my state as a file</button>
<label class="load-state">Take in a saved file <input type="file" accept="application/json"></label>
<button type="button" class="clear-state">Clear my state</button></p>
<p role="status"></p>
</div>
"""
TAKE_ALONG = """
<p class="take-along">{what} for JupyterLab or any editor:
<a href="../bundles/{zip}" download>{zip}</a></p>
"""


class ExerciseList(CourseDirective):
    """All exercises, chapter by chapter; a reader's own state is added in the page."""

    def run(self) -> list[nodes.Node]:
        course = load_course(Path(self.env.srcdir) / "solutions")
        read = [a for a in course if f"chapters/{a.stem}" in self.env.found_docs]
        *zips, zip_of_all = bundles.offer(self.env.app, read)
        pairs = zip(read, zips, strict=True)
        whole = html(TAKE_ALONG.format(zip=zip_of_all, what="All chapters"))
        return [html(MY_STATE), whole, *(self._chapter(*pair) for pair in pairs)]

    def _chapter(self, assignment: Assignment, zip_: str) -> nodes.section:
        section = nodes.section(ids=[f"exercises-{assignment.number}"])
        section += nodes.title("", "", *self.inline(f"{assignment.number}. {assignment.title}"))
        section += html('<ul class="exercise-list" role="list">')
        for exercise in assignment.exercises:
            section += html(
                f'<li data-exercise="{assignment.stem}/{exercise.name}"'
                f' data-minutes="{exercise.minutes}"{" data-required" * exercise.required}>'
            )
            for fact in self._facts(exercise):
                section += [fact, nodes.Text(" ")]
            section += html('<span class="state"></span></li>')
        section += html("</ul>" + TAKE_ALONG.format(zip=zip_, what="This chapter"))
        return section

    def _facts(self, exercise: Exercise) -> Iterator[nodes.Node]:
        star = "\u00a0★" if exercise.required else ""
        link = self.inline(f"{{ref}}`{exercise.number} {exercise.title} <ex-{exercise.slug}>`")
        yield nodes.inline("", "", *link, nodes.Text(star), classes=["exercise-title"])
        yield nodes.inline("", KINDS[type(exercise)], classes=["kind"])
        level = [level_dots(exercise.level), nodes.Text(f" {LEVELS[exercise.level]}")]
        yield nodes.inline("", "", *level, classes=["level"])
        yield nodes.inline("", f"{exercise.minutes} min", classes=["minutes"])
        one = "point" if exercise.points == 1 else "points"
        yield nodes.inline("", f"{exercise.points:g} {one}", classes=["points"])


class statement_list(nodes.General, nodes.Element):
    """Stands where the statements go, once every page has been read and numbered."""


class StatementList(CourseDirective):
    def run(self) -> list[nodes.Node]:
        return [statement_list()]


class FillStatementLists(SphinxPostTransform):
    """The numbered statements of the book, as its pages have them."""

    default_priority = 5  # before references and formulas are resolved

    def run(self, **kwargs: Any) -> None:
        for placeholder in list(self.document.findall(statement_list)):
            placeholder.replace_self(list(self._chapters()))

    def _chapters(self) -> Iterator[nodes.section]:
        for docname in sorted(self.env.found_docs):
            if chapter_number(docname) is None:
                continue
            statements = [*self._statements(docname)]
            if statements:
                section = nodes.section(ids=[f"statements-{chapter_number(docname)}"])
                title = f"{chapter_number(docname)}. {self.env.titles[docname].astext()}"
                section += [nodes.title("", title), nodes.bullet_list("", *statements)]
                section[-1]["classes"] = ["statements"]
                yield section

    def _statements(self, docname: str) -> Iterator[nodes.list_item]:
        for statement in self.env.get_doctree(docname).findall(_is_numbered):
            number = number_of(self.env, docname, statement)
            link = nodes.reference("", f"{statement['realtype'].title()} {number}", internal=True)
            link["refuri"] = self.app.builder.get_relative_uri(self.env.docname, docname)
            link["refuri"] += "#" + statement["ids"][0]
            line = nodes.paragraph("", "", link, nodes.Text(" "), _title_of(statement))
            yield nodes.list_item("", line, classes=[statement["realtype"]])


def _title_of(statement: nodes.Element) -> nodes.inline:
    """Without the brackets that stand around it after "Theorem 3.3"."""
    title = nodes.inline("", "", *(child.deepcopy() for child in statement[0].children))
    for text in list(title.findall(nodes.Text)):
        bare = text.removeprefix(" (") if text.startswith(" (") else text
        title.replace(text, nodes.Text(bare.removesuffix(")")))
    return title


def _is_numbered(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and "realtype" in node and "countertype" in node


def number_of(env: BuildEnvironment, docname: str, statement: nodes.Element) -> str:
    numbers = env.toc_fignumbers[docname][statement["countertype"]]
    return ".".join(map(str, numbers[statement["ids"][0]]))


class HowToCite(CourseDirective):
    """What CITATION.cff says, as a sentence and for BibTeX."""

    def run(self) -> list[nodes.Node]:
        given = citation(Path(self.env.srcdir))
        year = given["date-released"].year
        sentence = f"{given['author']} ({year}). *{given['title']}*, version {given['version']}."
        bibtex = (
            "@misc{attention-course,\n"
            f"  author = {{{{{given['author']}}}}},\n"
            f"  title = {{{given['title']}}},\n"
            f"  year = {{{year}}},\n"
            f"  note = {{Version {given['version']}}}\n}}"
        )
        return [self.line(sentence), nodes.literal_block(bibtex, bibtex, language="none")]


def citation(root: Path) -> dict[str, Any]:
    """CITATION.cff, and its one author by name."""
    given: dict[str, Any] = yaml.safe_load((root / "CITATION.cff").read_text())
    (author,) = given["authors"]
    return given | {"author": author["name"]}


def setup(app: Sphinx) -> None:
    app.add_directive("course-exercises", ExerciseList)
    app.add_directive("course-statements", StatementList)
    app.add_directive("course-citation", HowToCite)
    app.add_node(statement_list)
    app.add_post_transform(FillStatementLists)
