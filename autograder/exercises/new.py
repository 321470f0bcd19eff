"""`course new exercise NN_topic/name`: the files of an exercise, and what is to be written there.

Each place is marked FILL. `course exercises` names those that are left, and once there are none it
proves the exercise like every other.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from string import Template

from autograder.exercises.assignment import Assignment, Exercise, load_assignment
from autograder.exercises.toml_tables import BadExercise
from autograder.files import write_atomically

BLANK = Path(__file__).with_name("blank")
ENTRY = "entry.toml"
MARK = "FILL"
NAME_IN_BLANK = "the_function"


def make_exercise(solutions: Path, where: str, kind: str) -> list[tuple[Path, int]]:
    """Make it, and list each place that is to be filled."""
    stem, _, name = where.partition("/")
    folder, toml = solutions / stem, solutions / stem / "assignment.toml"
    if not re.fullmatch(r"\d\d_[a-z0-9_]+", stem) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise BadExercise(folder / name, "is no name", "write NN_topic/name, as 03_softmax/softmax")
    before = toml.read_text() if toml.is_file() else (BLANK / "assignment.toml").read_text()
    if (folder / name).exists() or re.search(rf'^name = "{name}"', before, re.MULTILINE):
        raise BadExercise(folder / name, "is there already", "choose another name")
    goal = load_assignment(folder).exercises[0].goal if toml.is_file() else "first"
    of_its_kind = BLANK / kind / ENTRY
    entry = (BLANK / ENTRY).read_text()
    entry += of_its_kind.read_text() if of_its_kind.is_file() else ""
    title = name.replace("_", " ").capitalize()
    write_atomically(toml, before.rstrip() + "\n" + _filled(entry, kind, name, title, goal))
    written = [toml]
    if kind != "proof":
        for blank in sorted(set((BLANK / kind).iterdir()) - {of_its_kind}):
            path = folder / name / blank.name
            write_atomically(path, blank.read_text().replace(NAME_IN_BLANK, name))
            written.append(path)
    return [(path, line) for path in written for line in _marked(path.read_text())]


def _filled(entry: str, kind: str, name: str, title: str, goal: str) -> str:
    return Template(entry).substitute(kind=kind, name=name, title=title, goal=goal)


def unfilled(exercise: Exercise) -> Iterator[tuple[Path, int]]:
    """File and line of each place that `course new exercise` marked and nobody has filled: of the
    exercise, its entry, and the head of its chapter."""
    toml = exercise.folder.parent / "assignment.toml"
    position = int(exercise.number.partition(".")[2])
    entry = 0
    marked = _marked(toml.read_text())
    for number, line in enumerate(toml.read_text().splitlines(), start=1):
        entry += bool(re.match(r"\s*\[\[\s*exercise\s*\]\]", line))
        if number in marked and entry in (0, position):
            yield toml, number
    for path in sorted(exercise.folder.glob("*")):
        if path.suffix in (".py", ".md", ".toml"):
            yield from ((path, line) for line in _marked(path.read_text()))


def demand_filled(assignment: Assignment) -> None:
    """Students would read what is left."""
    places = dict.fromkeys(p for exercise in assignment.exercises for p in unfilled(exercise))
    if places:
        (path, line), more = next(iter(places)), len(places) - 1
        where = path.relative_to(assignment.folder.parents[1])
        besides = f", and {more} more place{'s' * (more > 1)}" if more else ""
        raise ValueError(f"{where}:{line} is still to be filled in{besides}")


def _marked(text: str) -> list[int]:
    return [n for n, line in enumerate(text.splitlines(), start=1) if f"{MARK}:" in line]
