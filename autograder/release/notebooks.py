"""From an assignment to nbgrader's source notebook: text in, cells with proper metadata out."""

import ast
import textwrap
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.exercises.assignment import (
    Assignment,
    CodeExercise,
    Exercise,
    ProofBlocks,
    ProofQuestion,
)
from autograder.exercises.sources import Test
from autograder.release.course_folder import nbgrader_configuration
from course_lib.checking.terms import Limits

SCHEMA = 3
PROOF_STUB = "*Write your proof here: text, LaTeX, or a photograph dropped into this cell.*"

HEAD = """# Chapter {number}: {title}

{count} exercises, about {minutes} minutes. Run the cells from the top (Shift+Enter). Under each
answer stands a check: it says which properties hold, shows where one does not, and asks a question.
Write helpers in cells of your own wherever you like; they are handed in with the rest. The first
line of an answer says in which library it is written. The last cell says what is left. To begin an
exercise anew, write `reset("{example}")` alone into its answer cell and run it.
"""
SET_UP = """from course_lib.checking.notebook import check, reset, what_is_left

import numpy as np
import torch"""
LEFT = "## What is left\n\nSave the notebook, then run the cell below. It changes nothing."


def source_notebook(assignment: Assignment) -> nbformat.NotebookNode:
    """Make the instructor's version: answers between nbgrader's solution marks."""
    shown = [exercise for exercise in assignment.exercises if _cells_of(exercise)]
    head = HEAD.format(
        number=assignment.number,
        title=assignment.title,
        count=len(shown),
        minutes=sum(exercise.minutes for exercise in shown),
        example=assignment.example,
    )
    cells = [_markdown("head", head), _code("set-up", SET_UP)]
    for exercise in assignment.exercises:
        cells += _cells_of(exercise)
    cells += [_markdown("left", LEFT), _code("what-is-left", "what_is_left()")]
    notebook = new_notebook(cells=cells)
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    notebook.metadata.language_info = {"name": "python"}
    nbformat.validate(notebook)
    return notebook


def student_notebook(assignment: Assignment) -> nbformat.NotebookNode:
    """What nbgrader releases, made without its course folder."""
    from nbgrader.preprocessors import ClearSolutions, ComputeChecksums, LockCells

    notebook, config = source_notebook(assignment), nbgrader_configuration(Path(__file__).parent)
    for step in (LockCells, ClearSolutions, ComputeChecksums):
        notebook, _ = step(config=config).preprocess(notebook, {})
    return notebook


def task(exercise: Exercise) -> str:
    """The task in words, as notebook and bundle show it."""
    dots = "●" * exercise.level + "○" * (4 - exercise.level)
    star = " ★" if exercise.required else ""
    size = f"*{exercise.minutes} minutes, level {exercise.level} of 4 {dots}*"
    head = f"## {exercise.number} {exercise.title}{star}\n\n{size}"
    match exercise:
        case CodeExercise():
            return "\n\n".join(
                [head, exercise.prompt, _properties(exercise), *_limits(exercise.limits)]
            )
        case ProofBlocks():
            lines = "\n".join(f"- **{letter}** &nbsp; {text}" for letter, text in exercise.shown)
            return (
                f"{head}\n\n{exercise.statement}\n\nPut lines in order so that they prove it. "
                f"Not every line belongs, and more than one order may be right.\n\n{lines}"
            )
        case ProofQuestion():
            return f"{head}\n\n{exercise.prompt}"
    raise TypeError(exercise)


def _properties(exercise: CodeExercise) -> str:
    def line(test: Test) -> str:
        first = " *(this one first: until it holds, the others earn nothing)*" if test.core else ""
        later = " *(checked when you hand in)*" if test.hidden else ""
        return f"- {test.property}{first}{later}"

    return "What is checked:\n\n" + "\n".join(line(test) for test in exercise.tests)


def _limits(limits: Limits) -> list[str]:
    """Said where an exercise has its own."""
    parts = {
        "a call of your function may take {:g} seconds": limits.call_seconds,
        "a cell may take {:g} seconds": limits.cell_seconds,
        "your code may need {:g} MiB of memory": limits.memory_mib,
        "your function may return {:g} MiB": limits.returned_mib,
    }
    stated = [words.format(value) for words, value in parts.items() if value is not None]
    return [f"When it is graded, {'; '.join(stated)}."] if stated else []


def _cells_of(exercise: Exercise) -> list[nbformat.NotebookNode]:
    name, ids = exercise.name, exercise.cells
    cells = [_markdown(ids.task, task(exercise))]
    match exercise:
        case CodeExercise():
            cells.append(_answer(ids.answer, _answer_source(exercise)))
            cells.append(_graded(ids.check, name, exercise.points))
        case ProofBlocks():
            letters = ", ".join(f'"{letter}"' for letter in exercise.solution)
            source = (
                f'# The letters of the lines, in order, such as ["c", "a"]\n{name} = [\n'
                f"    ### BEGIN SOLUTION\n    {letters}\n    ### END SOLUTION\n]"
            )
            cells.append(_answer(ids.answer, source))
            cells.append(_graded(ids.check, name, exercise.points))
        case ProofQuestion(marking="off"):
            return []
        case ProofQuestion(marking="self"):
            cells.append(_markdown(ids.answer, PROOF_STUB, locked=False))
            cells.append(_markdown(ids.rubric, _rubric(exercise)))
        case ProofQuestion():
            source = f"### BEGIN SOLUTION\n{exercise.model}\n### END SOLUTION"
            cells.append(_manual(ids.answer, source, exercise.points))
    return cells


def _rubric(exercise: ProofQuestion) -> str:
    """Folded away, so that it is read after the proof is written."""
    points = "\n".join(f"- {point}" for point in exercise.rubric)
    head = "Your proof is written? Then mark it: is each of these true of it?"
    return f"<details><summary>{head}</summary>\n\n{points}\n\n</details>"


def _answer_source(exercise: CodeExercise) -> str:
    """The starter, and the model answer between nbgrader's marks."""
    lines = exercise.solution.splitlines()
    border = exercise.signature.body[0].end_lineno
    body = textwrap.indent(textwrap.dedent("\n".join(lines[border:])).strip(), "    ")
    return f"{exercise.starter}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"


def answer_cell(exercise: CodeExercise, function_source: str, function: str) -> str:
    """What a student would hand in who wrote this other function: used to prove the grading."""
    source = "\n".join(
        ast.unparse(_undecorated(node))
        for node in ast.parse(function_source).body
        if not _is_docstring(node)
    )
    return f'library = "numpy"\n{source}\n{exercise.name} = {function}'


def _undecorated(node: ast.stmt) -> ast.stmt:
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = []
    return node


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _nbgrader(grade_id: str, **meta: object) -> dict:
    return {
        "nbgrader": {
            "grade_id": grade_id,
            "schema_version": SCHEMA,
            "grade": False,
            "solution": False,
            "locked": False,
            "task": False,
        }
        | meta
    }


def _markdown(grade_id: str, text: str, locked: bool = True) -> nbformat.NotebookNode:
    metadata = _nbgrader(grade_id, locked=True) if locked else {}
    return new_markdown_cell(text, id=grade_id, metadata=metadata)


def _code(grade_id: str, source: str) -> nbformat.NotebookNode:
    return new_code_cell(source, id=grade_id, metadata=_nbgrader(grade_id, locked=True))


def _answer(grade_id: str, source: str) -> nbformat.NotebookNode:
    return new_code_cell(source, id=grade_id, metadata=_nbgrader(grade_id, solution=True))


def _graded(grade_id: str, name: str, points: float) -> nbformat.NotebookNode:
    meta = _nbgrader(grade_id, grade=True, locked=True, points=points)
    return new_code_cell(f'check("{name}")', id=grade_id, metadata=meta)


def _manual(grade_id: str, source: str, points: float) -> nbformat.NotebookNode:
    meta = _nbgrader(grade_id, grade=True, solution=True, points=points)
    return new_markdown_cell(source, id=grade_id, metadata=meta)
