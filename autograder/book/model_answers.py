"""The model answer of an exercise, folded, in the edition whose answers are open.

Scripts unfold it when the exercise is solved or has been tried three times; a reader can do so at
any time.
"""

import ast
from collections.abc import Callable, Iterator

from docutils import nodes

from autograder.book.markup import html
from autograder.exercises.assignment import CodeExercise, Exercise, ProofBlocks, ProofQuestion

SHOW = {
    "code": "Show me a model answer",
    "proof blocks": "Show me a proof",
    "proof": "Show me a model proof, to mark my own by",
}
MARK_YOURSELF = "Mark your proof by these points, one for each that is true of it:"

Blocks = Callable[[str], list[nodes.Node]]


def model_answer(exercise: Exercise, blocks: Blocks, inline: Blocks) -> Iterator[nodes.Node]:
    """What is folded below an exercise. `blocks` and `inline` turn Markdown into nodes."""
    if exercise.why:
        yield from blocks(exercise.why)
    match exercise:
        case CodeExercise():
            yield python_block(exercise.solution)
            if second := second_answer(exercise):
                yield from blocks("Another way:")
                yield python_block(second)
        case ProofBlocks():
            proof = nodes.enumerated_list(enumtype="arabic", prefix="", suffix=".")
            for letter in exercise.solution:
                text = inline(exercise.blocks.text[letter])
                letters = nodes.strong("", letter), nodes.Text(" ")
                proof += nodes.list_item("", nodes.paragraph("", "", *letters, *text))
            yield proof
            for letter, why in exercise.blocks.why_not.items():
                yield from blocks(f"**{letter}** does not belong: {why}")
        case ProofQuestion():
            yield from blocks(exercise.model)
            yield from blocks(MARK_YOURSELF)
            yield html('<ul class="self-marking">')
            for point in exercise.rubric:
                yield html('<li><label><input type="checkbox"> ')
                yield nodes.inline("", "", *inline(point))
                yield html("</label></li>")
            yield html("</ul>")


def second_answer(exercise: CodeExercise) -> str | None:
    """The first right answer beside the model one that is not written as a check in loops."""
    source = (exercise.folder / "right.py").read_text()
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    for function in functions:
        marks = {ast.unparse(mark) for mark in function.decorator_list}
        if "oracle" in marks or function.name.startswith("_"):
            continue
        lines = source.splitlines()[function.lineno - 1 : function.end_lineno]
        return "\n".join(lines)
    return None


def python_block(source: str) -> nodes.literal_block:
    code = source.rstrip()
    return nodes.literal_block(code, code, language="python")
