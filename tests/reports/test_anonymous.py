"""What is said to name nobody holds nothing of anybody: a class in which everything is a canary.

Each name, id, address, file name, folder name, answer, printed text and exception has a word of its
own that stands nowhere else, and the class goes through all that the grader can note.
"""

import copy
import json
import logging
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from traitlets.config import Config

from autograder.commands.cli import main
from autograder.grading import rebuild, referee, worker
from autograder.grading.grade_class import grade_class
from autograder.grading.journal import Journal
from autograder.grading.nbgrader_steps import Rebuild
from autograder.grading.notes import Kind, Note
from autograder.grading.pool import LocalPool
from autograder.grading.referee import Grader, Job
from autograder.roster.students import Student, write_students
from autograder.sandbox import limits
from autograder.sandbox.host import ProcessEnded, Sandbox, StudentProcess
from course_lib.checking import percent
from tests.grading.gradebook_fixtures import STEM

pytestmark = pytest.mark.whole

DOT = (  # one white pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAusB9YlR8XQAAAAASUVORK5CYII="
)
TOKEN = re.compile("zq[0-9]+qz", re.IGNORECASE)
Files = dict[str, bytes]


class Tokens:
    """Words that stand nowhere else, and what each was given to."""

    def __init__(self):
        self.given: dict[str, str] = {}

    def new(self, thing: str) -> str:
        token = f"zq{len(self.given)}qz"
        self.given[token] = thing
        return token


TOKENS = Tokens()


def token(thing: str) -> str:
    return TOKENS.new(thing)


@dataclass
class Canary:
    """One student, and what befalls the grader with this submission."""

    story: str
    student: str
    make: Callable[[nbformat.NotebookNode], Files]
    befall: Callable[[pytest.MonkeyPatch], None] = lambda patch: None
    pool: Callable[["OneByOne", Job], Iterator] | None = None
    folder: Callable[[Path], None] = lambda folder: None
    in_gradebook: bool = True


def cell(notebook, name: str):
    return next(cell for cell in notebook.cells if cell.id == name)


def as_files(notebook, name: str = f"{STEM}.ipynb") -> Files:
    return {name: json.dumps(notebook).encode()}


def answered(notebook, answer: str = "") -> nbformat.NotebookNode:
    """Wrong everywhere, with a word in each text."""
    notebook = copy.deepcopy(notebook)
    body = answer or f"    raise ValueError('{token('an exception')}')"
    cell(notebook, "row-means").source = f"def row_means(x):  # {token('an answer')}\n{body}"
    cell(notebook, "what-a-mean-forgets").source = f"what_a_mean_forgets = ['{token('a letter')}']"
    cell(notebook, "mean-of-a-shift").source = f"By {token('a proof')}."
    own = f"# {token('the first line of a cell')}\nprint('{token('a printed text')}')"
    notebook.cells.insert(0, new_code_cell(own))
    return notebook


def changed(change: Callable[[nbformat.NotebookNode], None]) -> Callable:
    def make(released) -> Files:
        notebook = answered(released)
        change(notebook)
        return as_files(notebook)

    return make


def wrong(body: str) -> Callable:
    return lambda released: as_files(answered(released, body))


def with_cell(source: str, at: int = 2) -> Callable:
    return changed(lambda notebook: notebook.cells.insert(at, new_code_cell(source)))


def setting(module: object, **values: object) -> Callable:
    def befall(patch: pytest.MonkeyPatch) -> None:
        for name, value in values.items():
            patch.setattr(module, name, value)

    return befall


def failing(module: object, name: str, error: Exception) -> Callable:
    def fail(*_: object, **__: object) -> None:
        raise error

    return lambda patch: patch.setattr(module, name, fail)


def two_files(released) -> Files:
    one, other = (f"{token('a file name')}.ipynb" for _ in range(2))
    return as_files(answered(released), one) | as_files(answered(released), other)


def damaged(released) -> Files:
    data = next(iter(as_files(answered(released)).values()))
    return {f"{token('a file name')}.IPYNB".upper(): data[:-200]}


def long_plain_file(released) -> Files:
    text = percent.as_text("", "", released.cells)
    text = percent.with_cell(text, "row-means", f"row_means = '{token('an answer')}'")
    return {f"{token('a file name')}.py": (text + "# more\n" * 1000).encode()}


def nothing_of_ours(released) -> Files:
    notebook = nbformat.v4.new_notebook(cells=[new_code_cell(f"'{token('an answer')}'")])
    return as_files(notebook, f"{token('a file name')}.ipynb")


def other_kind(notebook) -> None:
    cell(notebook, "row-means")["cell_type"] = token("a kind of cell")


def twice(notebook) -> None:
    again = copy.deepcopy(cell(notebook, "row-means"))
    notebook.cells.append(again)


def without_answer(notebook) -> None:
    notebook.cells = [cell for cell in notebook.cells if cell.id != "row-means"]


def needs_what_fails(notebook, exception: str) -> None:
    notebook.cells.insert(2, new_code_cell(f"shift = 1\nshift = int('{exception}')"))
    cell(notebook, "row-means").source = "def row_means(x):\n    return x + shift"


def needs_what_leaves(notebook, word: str) -> None:
    leave = f"def leave():\n    raise SystemExit('{word}')\nshift = leave()"
    notebook.cells.insert(2, new_code_cell(leave))
    cell(notebook, "row-means").source = "def row_means(x):\n    return x + shift"


def many_pictures(notebook) -> None:
    proof = cell(notebook, "mean-of-a-shift")
    names = [f"{token('a file name')}.png" for _ in range(3)]
    proof.source = "".join(f"![](attachment:{name})" for name in names)
    proof["attachments"] = {name: {"image/png": DOT} for name in names}


def changed_set_up(notebook) -> None:
    cell(notebook, "set-up").source += f"\n# {token('an answer')}"


class Deadly(Job):
    """Ends the process of whoever unpacks it, as a fault of ours might."""

    def __reduce__(self):
        return os._exit, (1,)


def killed_workers(pool: "OneByOne", job: Job) -> Iterator:
    with LocalPool(pool.folder, STEM, 1) as local:
        yield from local.grade([Deadly(**vars(job))])


def slow_judge(pool: "OneByOne", job: Job) -> Iterator:
    with LocalPool(pool.folder, STEM, 1, referee_seconds=0.001) as local:
        yield from local.grade([job])


def second_run(pool: "OneByOne", job: Job) -> Iterator:
    yield worker._grade(pool.grader, job).graded_again()


def killed_cluster(pool: "OneByOne", job: Job) -> Iterator:
    """A scheduler that has lost worker after worker by one submission."""
    from autograder.grading.cluster import ClusterPool

    cluster = ClusterPool("tcp://nowhere:1", pool.data, STEM)
    cluster._client = SimpleNamespace(
        scatter=lambda data, broadcast: data, submit=lambda *_, **__: LostFuture()
    )
    cluster._as_they_come = iter
    yield from cluster.grade([job])


class LostFuture:
    def result(self) -> None:
        from distributed import KilledWorker

        raise KilledWorker(token("a task"), SimpleNamespace(address="nowhere"), 3)


def canaries() -> Iterator[Canary]:
    def one(story: str, make: Callable, **more: object) -> Canary:
        return Canary(story, token(f"the id of: {story}"), make, **more)

    junk = token("a file name")
    yield one("no notebook", lambda _: {f"{token('a file name')}.py": b"print(1)"})
    yield one(
        "a huge notebook",
        lambda _: {f"{token('a file name')}.ipynb": b" " * 100_001},
        befall=setting(rebuild, NOTEBOOK_AT_MOST=100_000),
    )
    yield one("no JSON", lambda _: {f"{junk}.ipynb": junk.encode()})
    yield one("another notebook", nothing_of_ours)
    yield one(
        "another name", lambda released: as_files(answered(released), f"{token('a file')}.ipynb")
    )
    yield one("two notebooks", two_files)
    yield one(
        "one of two cannot be read",
        lambda r: as_files(answered(r)) | {f"{token('a file name')}.ipynb": b"{"},
    )
    yield one("a long file", long_plain_file, befall=setting(rebuild, PLAIN_AT_MOST=5000))
    yield one("a damaged file", damaged)
    yield one(
        "many cells",
        changed(lambda n: n.cells.extend(new_code_cell(token("an answer")) for _ in range(50))),
        befall=setting(rebuild, CELLS_AT_MOST=40),
    )
    yield one("a locked cell", changed(changed_set_up))
    yield one("many letters", with_cell("'more'\n" * 100), befall=setting(rebuild, ALL_TEXT=300))
    yield one("another order", changed(lambda n: n.cells.reverse()))
    yield one("twice the same cell", changed(twice))
    yield one("another kind of cell", changed(other_kind))
    yield one(
        "a long answer",
        wrong("    return x\n" + "#" * 1000),
        befall=setting(rebuild, TEXT_AT_MOST=500),
    )
    yield one("a deleted answer", changed(without_answer))
    yield one(
        "a process that does not begin",
        wrong("    return x"),
        befall=failing(StudentProcess, "begin", ProcessEnded(token("why it ended"))),
    )
    die = f"print('{token('a printed text')}')\nimport os; os._exit(1)"
    yield one("a cell that ends the process", with_cell(die))
    yield one(
        "a cell without end",
        with_cell("while True:\n    pass"),
        befall=setting(limits, CELL_SECONDS=1),
    )
    yield one("a function that ends the process", wrong("    import os; os._exit(1)"))
    yield one("a loop", wrong("    while True: pass"), befall=setting(limits, CALL_SECONDS=1))
    yield one(
        "a library's own",
        wrong(f"    from course_lib import cross_attention as {token('an answer')}\n"),
    )
    yield one(
        "a fault of the judge",
        wrong("    return x"),
        befall=failing(referee, "judge", RuntimeError(token("an exception of ours"))),
    )
    yield one(
        "a fault of the grader",
        wrong("    return x"),
        befall=failing(Grader, "grade", RuntimeError(token("an exception of ours"))),
    )
    yield one("an answer that leaves", changed(lambda n: needs_what_leaves(n, token("a word"))))
    yield one("a line that fails", changed(lambda n: needs_what_fails(n, token("an exception"))))
    yield one(
        "many parts", lambda r: as_files(answered(r)), befall=setting(rebuild, PARTS_AT_MOST=5)
    )
    yield one("many pictures", changed(many_pictures), befall=setting(rebuild, IMAGES_AT_MOST=1))
    yield one("a slow judge", wrong("    return x"), pool=slow_judge)
    yield one("a second run", wrong("    return x"), pool=second_run)
    yield one("death of the workers", wrong("    return x"), pool=killed_workers)
    yield one("death of a cluster", wrong("    return x"), pool=killed_cluster)
    yield one("somebody who is not in the list", wrong("    return x"), in_gradebook=False)
    yield one(
        "a folder that is a link",
        lambda _: {},
        folder=lambda folder: (folder.rmdir(), folder.symlink_to("..")),
    )
    strange = token("the name of a class")
    yield one("a strange class", wrong(f"    return type('{strange}', (), {{}})()"))
    yield one("a syntax error", with_cell(f"{token('an answer')} = = 1"))


@dataclass
class OneByOne:
    """A pool in this process, so that a test can have accidents happen to it."""

    folder: Path
    data: bytes
    of: dict[str, Canary]
    grader: Grader = field(init=False)

    def __enter__(self):
        for folder in (self.folder, *self.folder.parents[:2]):
            folder.chmod(0o755)
        self.sandbox = Sandbox(self.folder / "course_lib")
        self.grader = Grader(self.folder, STEM, self.sandbox)
        return self

    def __exit__(self, *_: object) -> None:
        self.sandbox.close()

    def grade(self, jobs):
        for job in jobs:
            canary = self.of[job.student]
            with pytest.MonkeyPatch.context() as patch:
                canary.befall(patch)
                if canary.pool:
                    outcomes = list(canary.pool(self, job))
                else:
                    outcomes = [worker._grade(self.grader, job)]
            yield from outcomes


@dataclass
class Graded:
    course: Path
    members: list[Canary]
    page: str
    named: str
    told: str
    """What `course report` printed."""
    logged: str
    notes: list[Note]


class Kept(logging.Handler):
    def __init__(self):
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory) -> Iterator[Graded]:
    course = shutil.copytree(released, tmp_path_factory.mktemp("canaries") / "course")
    notebook = nbformat.read(course / "release" / STEM / f"{STEM}.ipynb", as_version=4)
    members = list(canaries())
    for member in members:
        folder = course / "submitted" / member.student / STEM
        folder.mkdir(parents=True)
        for name, data in member.make(notebook).items():
            (folder / name).write_bytes(data)
        member.folder(folder)
    known = [m for m in members if m.in_gradebook]
    people = [
        Student(
            m.student,
            token("a name"),
            token("a name"),
            f"{token('an address')}@example.org",
            section=token("a section"),
        )
        for m in known
    ]
    write_students(course, people)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for who in people:
            gradebook.add_student(
                who.id, first_name=who.first_name, last_name=who.last_name, email=who.email
            )
    kept, root = Kept(), logging.getLogger()
    before, root.level = root.level, logging.INFO
    root.addHandler(kept)
    of = {m.student: m for m in members}
    try:
        report = grade_class(course, STEM, lambda folder, data: OneByOne(folder, data, of))
        rebuild_as_nbgrader_does(course, members[2].student)
        keep_as_an_older_grader_did(course, members[-1].student)
        told = run("report", course)
    finally:
        root.removeHandler(kept)
        root.level = before
    page = (course / "reports" / f"{STEM}.html").read_text()
    run("report", course, "--names")
    named = (course / "reports" / f"{STEM}-with-names.html").read_text()
    notes = [note for _, note in report.problems]
    with Journal(course / "grading" / "journal.db") as journal:
        for outcome in journal.recorded(STEM):
            notes += [*outcome.repairs, *outcome.incidents]
    yield Graded(course, members, page, named, told, "\n".join(kept.lines), notes)


def keep_as_an_older_grader_did(course: Path, student: str) -> None:
    with closing(sqlite3.connect(course / "grading" / "journal.db")) as db, db:
        ((text,),) = db.execute("SELECT outcome FROM outcome WHERE student = ?", [student])
        row = json.loads(text) | {
            "repairs": [f"the notebook is called {token('a file name')}; x.ipynb was expected"],
            "incidents": [f"the grader itself stopped: ValueError('{token('an exception')}')"],
        }
        db.execute("UPDATE outcome SET outcome = ? WHERE student = ?", [json.dumps(row), student])


def rebuild_as_nbgrader_does(course: Path, student: str) -> None:
    step = Rebuild(config=Config({"CourseDirectory": {"root": str(course)}}))
    nothing = nbformat.v4.new_notebook(cells=[new_code_cell(token("an answer"))])
    step.preprocess(nothing, {"nbgrader": {"notebook": STEM, "student": student}})


def run(verb: str, course: Path, *words: str) -> str:
    done = CliRunner().invoke(
        main, [verb, STEM, "--course", str(course), *words], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return done.output


def given(text: str) -> dict[str, str]:
    """The canaries in a text, each with what it was."""
    return {found: TOKENS.given[found.lower()] for found in TOKEN.findall(text)}


def test_the_grader_has_noted_all_that_it_can_note(graded):
    """Or a kind of note that is new would be shown to a class untested."""
    assert set(Kind) - {note.kind for note in graded.notes} == set()


def test_the_class_report_and_its_pictures_name_nobody(graded):
    assert "<svg" in graded.page
    assert not given(graded.page)


def test_the_page_with_names_has_all_of_them(graded):
    """Or the canaries would be dead, and their silence would prove nothing."""
    found = given(graded.named)
    assert {m.student for m in graded.members if m.in_gradebook} - set(found) <= {
        graded.members[-3].student  # whose folder was a link
    }
    private = {word for note in graded.notes for word in given(note.private)}
    of_problems = {"the name of a folder", "the id of: somebody who is not in the list"}
    assert private and {TOKENS.given[word.lower()] for word in private} <= {
        *found.values(),
        *of_problems,
    }


def test_no_file_beside_it_does(graded):
    for path in (graded.course / "reports").rglob("*"):
        if not path.stem.endswith("-with-names"):
            assert not given(path.name + path.read_text())


def test_what_the_command_prints_names_nobody(graded):
    assert not given(graded.told)


def test_no_log_of_ordinary_level_names_anybody(graded):
    assert not given(graded.logged)
