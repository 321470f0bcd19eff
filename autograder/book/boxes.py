"""The boxes of a chapter: exercises and goals taken from `solutions/`, questions, folded proofs."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias, cast

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.config import ENUM
from sphinx.domains.std import StandardDomain
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from autograder.book import try_it
from autograder.book.build_state import state_of
from autograder.book.markup import html
from autograder.book.model_answers import SHOW, model_answer, python_block
from autograder.book.proof_blocks import lines_to_order
from autograder.exercises.assignment import (
    LEVELS,
    Assignment,
    CodeExercise,
    Exercise,
    ProofBlocks,
    ProofQuestion,
    load_assignment,
)
from autograder.exercises.toml_tables import BadExercise

TaskAndAnswer: TypeAlias = tuple[list[nodes.Node], list[nodes.Node]]

HIGHEST_LEVEL = max(LEVELS)
HOW_IT_COUNTS = """
Until the core property holds, no other counts. Hidden numbers are drawn when the answer is marked;
the property is the one that stands here.
"""
TRY_IT = (
    """<div class="try" data-exercise="{stem}/{name}" data-number="{number}" data-seconds="30">""",
    """<button type="button" class="try-open">Try it here</button>
<span class="try-size">loads Python, 8 MB, the first time</span>
<p class="exercise-where try-not">To try it in this page, JavaScript has to be on.</p>
</div>""",
)
"""An opened cell is stopped after that many seconds."""
HURRY = "In a hurry: the formula, a few lines of code, one warning"
HURRY_LINES = 12


class CourseDirective(SphinxDirective):
    """What the boxes share: the chapter's assignment, and Markdown that arrives as text."""

    def assignment(self) -> Assignment:
        stem, of_this_page = Path(self.env.docname).name, self.env.temp_data
        assignment: Assignment | None = of_this_page.get("assignment")
        if assignment is None:
            try:
                assignment = load_assignment(Path(self.env.srcdir) / "solutions" / stem)
            except BadExercise as error:
                raise self.error(str(error)) from None
            of_this_page["assignment"] = assignment
        return assignment

    def blocks(self, markdown: str) -> list[nodes.Node]:
        return self.parse_text_to_nodes(markdown, offset=0)

    def inline(self, markdown: str) -> list[nodes.Node]:
        parsed, _ = self.parse_inline(" ".join(markdown.split()))
        return parsed

    def line(self, *parts: str | nodes.Node, classes: str = "") -> nodes.paragraph:
        """A paragraph of Markdown and ready nodes."""
        paragraph = nodes.paragraph(classes=classes.split())
        for part in parts:
            paragraph += part if isinstance(part, nodes.Node) else self.inline(part)
        return paragraph


class ExerciseBox(CourseDirective):
    """One exercise of the chapter, as its folder says it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        try:
            exercise = self.assignment()[self.arguments[0]]
        except KeyError as error:
            raise self.error(error.args[0]) from None
        box = nodes.admonition(classes=["exercise"])
        box["ids"].append(self._target(exercise))
        self.set_source_info(box)
        box += nodes.title("", f"Exercise {exercise.number}", classes=[])
        box[0] += [nodes.Text(" · "), *self.inline(exercise.title)]
        box += self._facts(exercise)
        task, answer = self._task_and_answer(exercise)
        box += task
        stem = self.assignment().stem
        bundle = nodes.reference("", f"{stem}.zip", refuri=f"../bundles/{stem}.zip", internal=True)
        notebook = f"Answer it in the notebook `{stem}.ipynb`, under *Exercise {exercise.number}*;"
        ends = nodes.Text(" it is in "), bundle, nodes.Text(".")
        box += self.line(notebook, *ends, classes="exercise-where")
        if self.config.course_solutions:
            box += fold(self.inline("Model answer"), answer, "solution")
        elif self.config.answers == "open":
            opened = list(model_answer(exercise, self.blocks, self.inline))
            box += fold(self.inline(SHOW[exercise.kind]), opened, "model-answer")
        return [box]

    def _target(self, exercise: Exercise) -> str:
        """Make {ref}`ex-...` print "Exercise 3.1"."""
        target = f"ex-{exercise.slug}"
        labels = cast(StandardDomain, self.env.get_domain("std"))
        labels.anonlabels[target] = self.env.docname, target
        labels.labels[target] = self.env.docname, target, f"Exercise {exercise.number}"
        return target

    def _facts(self, exercise: Exercise) -> nodes.paragraph:
        level, goal = exercise.level, self.assignment().goals[exercise.goal]
        facts = nodes.paragraph(classes=["exercise-facts"])
        facts += level_dots(level)
        facts += nodes.Text(f" {LEVELS[level]}, about {exercise.minutes} minutes")
        if exercise.required:
            facts += [nodes.Text(", "), _for_eyes("★", ""), nodes.Text(" on the required path")]
        facts += [nodes.Text(". Practises: "), *self.inline(goal.rstrip(".")), nodes.Text(".")]
        return facts

    def _task_and_answer(self, exercise: Exercise) -> TaskAndAnswer:
        if isinstance(exercise, CodeExercise):
            return self._code(exercise)
        if isinstance(exercise, ProofBlocks):
            return self._proof_blocks(exercise)
        assert isinstance(exercise, ProofQuestion)
        return self._proof(exercise)

    def _code(self, exercise: CodeExercise) -> TaskAndAnswer:
        tests = nodes.bullet_list(classes=["properties"])
        for test in exercise.tests:
            marks = [_mark("core")] * test.core + [_mark("hidden numbers")] * test.hidden
            tests += nodes.list_item("", self.line(f"{test.property} ", *marks))
            if test.statement:
                tests[-1] += self.blocks(test.statement)
        line = self.inline(f"What is checked: {len(exercise.tests)} properties")
        checked = fold(line, [tests, self.line(HOW_IT_COUNTS, classes="exercise-where")], "checked")
        task = [*self.blocks(exercise.prompt), *self._starter(exercise), checked]
        return task, [python_block(exercise.solution)]

    def _starter(self, exercise: CodeExercise) -> list[nodes.Node]:
        """What the answer begins with; exercise.js puts a cell in its place when asked to."""
        starter = python_block(exercise.starter)
        if not try_it.can_be_tried(exercise):
            return [starter]
        stem = self.assignment().stem
        state_of(self.env.app).tried.add(stem)
        before, after = TRY_IT
        before = before.format(stem=stem, name=exercise.name, number=exercise.number)
        return [html(before), starter, html(after)]

    def _proof_blocks(self, exercise: ProofBlocks) -> TaskAndAnswer:
        task = [*self.blocks(exercise.statement), *lines_to_order(exercise, self.inline)]
        answer = [self.line(f"One valid order: {', '.join(exercise.solution)}.")]
        if why_not := exercise.blocks.why_not:
            answer += [self.line("These do not belong:"), self._lettered(why_not.items())]
        return task, answer

    def _proof(self, exercise: ProofQuestion) -> TaskAndAnswer:
        rubric = nodes.bullet_list(
            "", *(nodes.list_item("", self.line(r)) for r in exercise.rubric)
        )
        answer = [*self.blocks(exercise.model), self.line("One point each, yes or no:"), rubric]
        return self.blocks(exercise.prompt), answer

    def _lettered(self, lines: Iterable[tuple[str, str]]) -> nodes.bullet_list:
        shown = nodes.bullet_list(classes=["lettered"])
        for letter, text in lines:
            item = nodes.paragraph("", "", nodes.strong("", letter), nodes.Text(" "))
            item += nodes.inline("", "", *self.inline(text))
            shown += nodes.list_item("", item)
        return shown


class GoalsBox(CourseDirective):
    """What the reader can do afterwards, each with the exercises that practise it."""

    def run(self) -> list[nodes.Node]:
        assignment = self.assignment()
        box = nodes.admonition(classes=["goals"])
        box += nodes.title("", "After this chapter you can")
        listed = nodes.bullet_list()
        for key, goal in assignment.goals.items():
            practised = [e for e in assignment.exercises if e.goal == key]
            links = ", ".join(f"{{ref}}`{e.number} <ex-{e.slug}>`" for e in practised)
            word = "Exercise" if len(practised) == 1 else "Exercises"
            listed += nodes.list_item("", self.line(goal.rstrip(".") + f" ({word} {links})"))
        box += listed
        return [box]


class QuestionBox(CourseDirective):
    """A question whose answer opens when something has been chosen; `---` stands between them."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    heading = "Quick question"

    def run(self) -> list[nodes.Node]:
        lines = list(self.content)
        if "---" not in lines:
            raise self.error("a question has an answer, below a line that holds only ---")
        border = lines.index("---")
        asked = self.blocks("\n".join(lines[:border]))
        answer = self.parse_text_to_nodes("\n".join(lines[border + 1 :]), offset=border + 1)
        box = nodes.admonition(classes=["question"])
        box += nodes.title(
            "", "", *self.inline(self.arguments[0] if self.arguments else self.heading)
        )
        if isinstance(asked[-1], nodes.bullet_list):
            group = f"question-{self.env.new_serialno('course-question')}"
            box += [*asked[:-1], *self._choices(asked[-1], group)]
            box += nodes.container("", *answer, classes=["answer"])
        else:
            box += [*asked, fold([nodes.Text("Answer")], answer, "answer")]
        return [box]

    def _choices(self, offered: nodes.bullet_list, group: str) -> Iterator[nodes.Node]:
        yield html('<fieldset class="choices"><legend class="visually-hidden">Your answer</legend>')
        for letter, item in zip("abcdefgh", offered, strict=False):
            # a formula alone is no name that every screen reader can say
            spoken = f'<span class="visually-hidden">{letter}: </span>'
            yield html(f'<label><input type="radio" name="{group}">{spoken}')
            yield nodes.inline("", "", *item[0].children, classes=["choice"])
            yield html("</label>")
        yield html("</fieldset>")


class TeachingPlan(CourseDirective):
    """Weeks and their chapters, with minutes and points as the assignments have them.

    A line is `what is done besides | chapters`; a chapter that stands in two lines is shared out.
    """

    has_content = True
    HEADS = ("week", "chapter", "besides", "exercises", "required ★", "points")

    def run(self) -> list[nodes.Node]:
        weeks = [line.split("|") for line in self.content if line.strip()]
        plan = [(besides.strip(), stems.split()) for besides, stems in weeks]
        listed = [stem for _, stems in plan for stem in stems]
        folder = Path(self.env.srcdir) / "solutions"
        if unknown := sorted(set(listed) - {path.parent.name for path in folder.glob("*/*.toml")}):
            raise self.error(f"the plan names {unknown[0]}, which has no assignment")
        chapters = {stem: load_assignment(folder / stem) for stem in listed}
        rows = [f"| {' | '.join(self.HEADS)} |", f"|{'---|' * len(self.HEADS)}"]
        for week, (besides, stems) in enumerate(plan, start=1):
            parts = [(chapters[stem], 1 / listed.count(stem)) for stem in stems]
            minutes = sum(share * chapter.minutes for chapter, share in parts)
            required = sum(share * _required(chapter) for chapter, share in parts)
            due = [stem for stem in stems if stem not in sum((s for _, s in plan[week:]), [])]
            points = sum(e.points for stem in due for e in chapters[stem].exercises)
            halves = ", ".join(
                f"{{doc}}`{chapter.stem}`" + ("" if share == 1 else " (a part)")
                for chapter, share in parts
            )
            earned = f"{points:g}" if due else ""
            figures = f"{minutes:.0f} min | {required:.0f} min | {earned}" if parts else " | | "
            rows.append(f"| {week} | {halves} | {besides} | {figures} |")
        every = list(chapters.values())
        points = sum(e.points for chapter in every for e in chapter.exercises)
        minutes, required = sum(c.minutes for c in every), sum(map(_required, every))
        rows.append(f"| | all | | {minutes} min | {required} min | {points:g} |")
        return self.blocks("\n".join(rows))


def _required(chapter: Assignment) -> int:
    return sum(exercise.minutes for exercise in chapter.exercises if exercise.required)


class Proof(CourseDirective):
    """A proof in two layers: its first paragraph is the idea and stays, the rest is folded."""

    has_content = True
    option_spec = {"class": directives.class_option}

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        idea, *steps = self.parse_content_to_nodes()
        if not isinstance(idea, nodes.paragraph):
            raise self.error("a proof begins with a paragraph: its idea in one sentence")
        first = [nodes.emphasis("", "Proof."), nodes.Text(" "), *idea.children]
        if not steps:
            return [nodes.paragraph("", "", *first, classes=["proof-text"])]
        return [fold(first, steps, "proof-text")]


class Hurry(CourseDirective):
    """The chapter in one box: formula, code that runs as it is printed, one warning; folded.

    A reader takes the code away, so it is short and imports nothing of the course.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        content = self.parse_content_to_nodes()
        blocks = [b for node in content for b in node.findall(nodes.literal_block)]
        code = [line for block in blocks for line in block.astext().splitlines() if line.strip()]
        if len(code) > HURRY_LINES:
            raise self.error(f"{len(code)} lines of code; keep to {HURRY_LINES}")
        if any("course_lib" in line for line in code):
            raise self.error("its code imports course_lib; a reader takes it away without the book")
        return [fold([nodes.Text(HURRY)], content, "hurry")]


class folded(nodes.General, nodes.Element):
    """HTML's <details>: closed on the screen, open in print."""


class fold_line(nodes.General, nodes.TextElement):
    """The line of a fold that is always visible."""


def fold(line: list[nodes.Node], hidden: list[nodes.Node], kind: str) -> folded:
    return folded("", fold_line("", "", *line), nodes.container("", *hidden), classes=[kind])


def _mark(text: str) -> nodes.inline:
    return nodes.inline("", text, classes=["mark"])


def level_dots(level: int) -> nodes.raw:
    dots = "●" * level + "○" * (HIGHEST_LEVEL - level)
    return _for_eyes(dots, f"level {level} of {HIGHEST_LEVEL}:")


def _for_eyes(sign: str, spoken: str) -> nodes.raw:
    """A sign that is drawn, and the words that a screen reader says in its place."""
    aloud = f'<span class="visually-hidden">{spoken}</span>' if spoken else ""
    return html(f'<span class="sign" aria-hidden="true">{sign}</span>{aloud}')


def _open(tag: str) -> Callable[[HTML5Translator, nodes.Element], None]:
    return lambda self, node: self.body.append(self.starttag(node, tag, ""))


def _close(tag: str) -> Callable[[HTML5Translator, nodes.Element], None]:
    return lambda self, node: self.body.append(f"</{tag}>\n")


def _plain(self: nodes.NodeVisitor, node: nodes.Element) -> None:
    """Other builders print the contents and nothing around them."""


def setup(app: Sphinx) -> None:
    app.add_config_value("course_solutions", False, "env", bool)
    app.add_config_value("answers", "open", "env", ENUM("open", "never"))
    app.add_directive("in-a-hurry", Hurry)
    app.add_directive("course-exercise", ExerciseBox)
    app.add_directive("course-goals", GoalsBox)
    app.add_directive("course-question", QuestionBox)
    app.add_directive("course-plan", TeachingPlan)
    app.add_directive_to_domain("prf", "proof", Proof, override=True)
    others: Any = dict.fromkeys(("latex", "text", "man", "texinfo"), (_plain, _plain))
    for node, tag in ((folded, "details"), (fold_line, "summary")):
        app.add_node(node, html=(_open(tag), _close(tag)), **others)
