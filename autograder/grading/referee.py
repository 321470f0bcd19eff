"""Grade one submission: rebuild it, run it in the sandbox, judge it from outside.

Trusted, and never loads a student's code: the tests run here and call the student's functions
through a socket. The verdict is what is computed here, never what a cell printed.
"""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_output

from autograder.exercises.cell_ids import CellIds, exercise_of_each_cell
from autograder.grading.notes import Kind, Note
from autograder.grading.outcome import Mark, Outcome, digest
from autograder.grading.rebuild import Rebuilt, Unreadable, rebuild
from autograder.grading.redact import for_student
from autograder.grading.suspicious import mentioned, suspicious
from autograder.sandbox import codec, limits
from autograder.sandbox.bounds import of_a_submission
from autograder.sandbox.host import NoSandbox, ProcessEnded, Sandbox, StudentProcess, TooSlow
from course_lib.checking import recordings
from course_lib.checking.answers import NoAnswer
from course_lib.checking.findings import Cause, FailureKind, Finding
from course_lib.checking.judge import judge, judge_proof, report
from course_lib.checking.perform import CallRequest, CallResult
from course_lib.checking.setting import DEFAULT_DTYPE, Setting
from course_lib.checking.terms import NO_LIMITS, NO_TERMS, Limits, Terms
from course_lib.checking.verdicts import Verdict, earned

MEMORY_SLACK = 12 * limits.MEBIBYTE
"""What the interpreter itself may need besides, where an exercise allows only so much memory."""
WATCH_SECONDS = 0.1
MEMORY_TRIES = 3
STATEMENTS = 20
"""So many that were left out of one answer are told."""
FOR_WANT_OF_MEMORY = (FailureKind.OUT_OF_MEMORY, FailureKind.OVER_MEMORY, FailureKind.ENDED)
EVIDENCE = 1000
"""Letters of it that are kept."""
PROOF = "The lines are a proof"
HUSHED = "nothing that could be called, once its process had ended"


@dataclass(frozen=True)
class Job:
    """One submission, as bytes: a worker may be on another machine."""

    student: str
    assignment: str
    key: str
    seed: int
    files: dict[str, bytes]
    device: str = "cpu"
    """Where answers written in torch are called."""

    def failed(self, released: nbformat.NotebookNode, reason: Note) -> Outcome:
        """No verdict was reached: no points, and a person must look."""
        marks = tuple(
            Mark(meta.grade_id, 0.0, meta.points, "not gradable")
            for meta in (cell.metadata.nbgrader for cell in _graded(released))
        )
        notebook = nbformat.writes(released)
        return Outcome(
            self.student, self.assignment, self.key, marks, (), (reason,), notebook=notebook
        )


class Grader:
    """Grades the submissions of one assignment, one after another, on one warm sandbox."""

    def __init__(self, package: Path, stem: str, sandbox: Sandbox):
        self.package, self.stem, self.sandbox = package, stem, sandbox

    @cached_property
    def released(self) -> nbformat.NotebookNode:
        return nbformat.read(self.package / f"{self.stem}.ipynb", as_version=4)

    @cached_property
    def exercises(self) -> dict[str, str]:
        """Cell id -> name of the exercise that is judged there."""
        return exercise_of_each_cell(path.name for path in (self.package / "checks").iterdir())

    @cached_property
    def limits(self) -> Limits:
        """Of the one process that serves all exercises of a submission."""
        records = [path.parent for path in (self.package / "checks").glob("*/record.json")]
        return of_a_submission(
            Terms.from_dict(recordings.read(folder)).limits for folder in records
        )

    def grade(self, job: Job) -> Outcome:
        """Whatever was handed in, an outcome comes back."""
        try:
            return self._grade(job)
        except NoSandbox:  # the warm parent was killed, by nobody's code that we run
            self.sandbox.start_again()
            return self._grade(job)

    def _grade(self, job: Job) -> Outcome:
        clock = _Clock()
        try:
            rebuilt = rebuild(job.files, self.released, self.stem)
        except Unreadable as reason:
            return job.failed(self.released, reason.note)
        clock.lap("rebuild")
        with Attempt(self.sandbox, rebuilt, job.seed, job.device, self.limits) as attempt:
            attempt.run()
            clock.lap("run")
            marks = tuple(self._marks(rebuilt, attempt))
            self.sandbox.check_alive()  # or the student would pay for its death
            incidents, too_slow = tuple(attempt.incidents), attempt.too_slow
        clock.lap("referee")
        notebook = nbformat.writes(rebuilt.notebook)
        clock.lap("write")
        return Outcome(
            job.student,
            job.assignment,
            job.key,
            marks,
            tuple(rebuilt.repairs),
            incidents,
            clock.seconds,
            notebook,
            too_slow,
        )

    def _marks(self, rebuilt: Rebuilt, attempt: "Attempt") -> Iterator[Mark]:
        """Visible tests of all exercises come first: what a hidden one gives to a student's
        process, no message of a visible one can carry out any more."""
        cells = [(cell, cell.metadata.nbgrader) for cell in _graded(rebuilt.notebook)]
        seen = {meta.grade_id: self._look(meta, attempt) for _, meta in cells if not meta.solution}
        attempt.hushed = True
        for cell, meta in cells:
            if meta.solution:  # a proof in words
                yield self._by_hand(cell, rebuilt)
                continue
            mark, said = self._judge(meta, rebuilt, attempt, seen[meta.grade_id])
            cell.outputs = [
                new_output("stream", name="stdout", text=said + "\n"),
                new_output("execute_result", {"text/plain": repr(mark.points)}, execution_count=1),
            ]
            cell.execution_count = 1
            yield mark

    def _by_hand(self, cell: nbformat.NotebookNode, rebuilt: Rebuilt) -> Mark:
        grade_id, most = cell.metadata.nbgrader.grade_id, cell.metadata.nbgrader.points
        answer = digest(cell.source + json.dumps(cell.get("attachments", {}), sort_keys=True))
        if grade_id not in rebuilt.attempted:
            return Mark(grade_id, 0.0, most, "not attempted", answer)
        return Mark(grade_id, None, most, "by hand", answer)

    def _look(self, meta: Any, attempt: "Attempt") -> list[Verdict] | Any | Exception:
        """What the visible tests find, or the proof that was built, or why there is neither."""
        name = self.exercises[meta.grade_id]
        folder = self.package / "checks" / name
        attempt.begin_exercise(name)
        try:
            if (folder / "blocks.json").is_file():
                return attempt.value(name, meta.grade_id)
            return self._verdicts(name, meta.grade_id, folder, attempt, hidden=False)
        except NoSandbox:
            raise
        except Exception as error:  # the reason is told when the exercise is judged
            return error

    def _verdicts(
        self, name: str, check: str, folder: Path, attempt: "Attempt", hidden: bool
    ) -> list[Verdict]:
        exercise = recordings.read(folder)
        library = attempt.prepare(name, check, Terms.from_dict(exercise))
        device = attempt.device if library == "torch" else "cpu"
        run = Setting(library, DEFAULT_DTYPE[library], device)
        return judge(name, run, folder, exercise, attempt.call, hidden=hidden)

    def _judge(
        self,
        meta: Any,
        rebuilt: Rebuilt,
        attempt: "Attempt",
        seen: list[Verdict] | Any | Exception,
    ) -> tuple[Mark, str]:
        name = self.exercises[meta.grade_id]
        answer_cell = CellIds.of(name).answer
        answer = digest(rebuilt.answers.get(answer_cell, ""))
        folder = self.package / "checks" / name
        attempt.begin_exercise(name)
        try:
            if isinstance(seen, Exception):
                raise seen
            if (folder / "blocks.json").is_file():
                data = json.loads((folder / "blocks.json").read_text())
                fault, points = judge_proof(name, seen, data)
                cause = Cause(FailureKind.DIFFERS) if fault else None
                finding = Finding(
                    name, PROOF, not fault, core=True, evidence=fault or "", cause=cause
                )
                verdict = f"{name}: {fault or 'a proof. Every line follows from those above it.'}"
                return Mark(
                    meta.grade_id, points, meta.points, answer=answer, findings=(finding,)
                ), verdict
            verdicts = seen + self._verdicts(name, meta.grade_id, folder, attempt, hidden=True)
            exercise, run = recordings.read(folder), verdicts[0].setting
            attempt.incidents += [
                Note.of(Kind.WITHHELD_NAME, exercise=name, withheld=withheld)
                for withheld in suspicious(attempt.mentioned, tuple(exercise["withholds"]))
            ]
            points = round(float(earned(verdicts, exercise["points"])), 6)
            findings = tuple(map(_finding, verdicts))
            mark = Mark(meta.grade_id, points, meta.points, answer=answer, findings=findings)
            return mark, _shown(report(name, exercise, list(map(for_student, verdicts)), run))
        except NoAnswer as nothing:
            if answer_cell in rebuilt.attempted:
                state, reason = "graded", str(nothing)
            else:
                state, reason = "not attempted", "not written yet"
        except ProcessEnded as gone:
            state, reason = "graded", str(gone)
        except NoSandbox:
            raise
        except Exception as error:  # a fault of ours costs no other exercise its verdict
            state, reason = "not gradable", "could not be judged; a person will look at it"
            told = _word(repr(error), 200)
            attempt.incidents.append(Note.of(Kind.JUDGE_FAILED, told, exercise=name))
        message = f"{name}: {reason}"
        without_findings = Mark(
            meta.grade_id, 0.0, meta.points, state, answer, comment=message, reason=reason
        )
        return without_findings, message


@dataclass
class Attempt:
    """A student's process, started again where it dies, without the cell that killed it."""

    sandbox: Sandbox
    rebuilt: Rebuilt
    seed: int
    device: str = "cpu"
    own: Limits = NO_LIMITS
    """Where the exercises ask for others than the grader's."""
    incidents: list[Note] = field(default_factory=list)
    too_slow: bool = False
    hushed: bool = False
    """It may know hidden inputs: no word of its own is passed on any more."""
    _student: StudentProcess = field(init=False)
    _fatal: set[str] = field(default_factory=set)
    _restarts: int = 0
    _deaths: Counter[str] = field(default_factory=Counter)
    """How often the process ended in the hands of an exercise."""
    _exercise: str = ""
    _in_use_by: str = ""
    _prepared: tuple[str, Terms, list[str]] | None = None
    _libraries: dict[str, str] = field(default_factory=dict)
    """Of the answers that the process has at hand."""
    _output_left: int = limits.ALL_OUTPUT
    _deadline: float = field(default_factory=lambda: time.monotonic() + limits.SUBMISSION_SECONDS)

    def run(self) -> None:
        """Run the cells; a cell that kills the process is left out of the next."""
        self._student = self._new_process()
        self._begin(self._student, keep=True)

    @cached_property
    def mentioned(self) -> set[str]:
        return mentioned([cell.source for cell in self.rebuilt.code()])

    def _new_process(self, memory: int | None = None) -> StudentProcess:
        """One that has only the time that those before it left."""
        student = self.sandbox.student(memory, self.own)
        student.deadline = self._deadline
        return student

    def _cells(self) -> list[nbformat.NotebookNode]:
        return [cell for cell in self.rebuilt.code() if cell.id not in self._fatal]

    def _begin(self, student: StudentProcess, keep: bool = False) -> None:
        try:
            student.begin(_seed_to_tell(self.seed))
            self._deadline = student.deadline
        except ProcessEnded as gone:  # pragma: no cover  (nothing of the student's has run)
            self.incidents.append(Note.of(Kind.NOT_STARTED, str(gone), cause=gone.kind))
            return
        for number, cell in enumerate(self._cells(), start=1):
            try:
                answer = student.run_cell(cell.id, cell.source)
            except ProcessEnded as gone:
                self._fatal.add(cell.id)
                self._tell(Note.of(Kind.CELL_LEFT_OUT, str(gone), cell=cell.id, cause=gone.kind))
                if keep:
                    cell.outputs = [new_output("stream", name="stderr", text=f"{gone}\n")]
                self._start_again(keep)
                return
            if student.interrupted:
                limit, cause = student.cell_seconds, FailureKind.TOO_SLOW
                self._tell(Note.of(Kind.CELL_TOO_SLOW, cell=cell.id, limit=limit, cause=cause))
            if keep:
                self._keep_outputs(cell, number, answer)

    def _start_again(self, keep: bool = False) -> None:
        if self._restarts == limits.RESTARTS:
            return
        self._restarts += 1
        self._libraries.clear()
        self._student = self._new_process()
        self._begin(self._student, keep)

    def begin_exercise(self, name: str) -> None:
        self._exercise, self._prepared = name, None

    def _alive(self) -> StudentProcess:
        if not self._student.alive:
            self._deaths[self._in_use_by] += 1
            self._in_use_by = ""
        often = self._deaths[self._exercise] >= limits.DEATHS_OF_AN_EXERCISE
        if not self._student.alive and not often:
            self._start_again()
            if self._student.alive and self._prepared:
                self._student.prepare(*self._prepared)
        if often or not self._student.alive:
            raise ProcessEnded(
                "it was not run any more: your code has ended the Python process too often"
            )
        self._in_use_by = self._exercise
        return self._student

    def prepare(self, name: str, check: str, terms: Terms) -> str:
        """Have the answer rebuilt in the student's process, if need be, and say its library."""
        request = name, terms, self.rebuilt.above(check)
        if name in self._libraries and self._student.alive:
            self._prepared = request
            return self._libraries[name]
        answer = self._answer(*request)
        if answer.get("kind") != "function":
            raise NoAnswer(f"{name} is a {self._its_word(answer.get('kind'))}, not a function")
        library = answer.get("library")
        if type(library) is not str or library not in DEFAULT_DTYPE:
            raise NoAnswer("its library is neither numpy nor torch")
        self._prepared, self._libraries[name] = request, library
        return library

    def value(self, name: str, check: str) -> Any:
        try:
            return codec.decode(
                self._answer(name, NO_TERMS, self.rebuilt.above(check)).get("value"), []
            )
        except codec.Unacceptable:
            raise NoAnswer(f"{name} is not a list of letters") from None

    def _answer(self, *request: Any) -> dict[str, Any]:
        answer = self._alive().prepare(*request)
        if nothing := answer.get("nothing") or answer.get("error"):
            reason = self._its_word(nothing, 300)
            if answer.get("error"):
                self._tell(Note.of(Kind.CELLS_STOPPED, reason, exercise=self._exercise))
            raise NoAnswer(reason)
        self._tell_of_statements(answer.get("stopped"))
        return answer

    def _tell_of_statements(self, stopped: Any) -> None:
        """Those that the answer was rebuilt without; a process that knows hidden inputs tells
        nothing."""
        if self.hushed or not isinstance(stopped, list):
            return
        cells = {cell.id for cell in self.rebuilt.code()}
        for told in stopped[:STATEMENTS]:
            match told:
                case [str(cell), reason] if cell in cells:
                    exercise, reason = self._exercise, _word(reason, 200)
                    kind = Kind.STATEMENT_LEFT_OUT
                    self._tell(Note.of(kind, reason, exercise=exercise, cell=cell))

    def _its_word(self, text: Any, *at_most: int) -> str:
        return HUSHED if self.hushed else _word(text, *at_most)

    def call(self, request: CallRequest) -> CallResult:
        """The transport of every call that a test makes."""
        try:
            student = self._alive()
            if request.at_most is not None:
                return self._call_in_little_memory(request, request.at_most)
            return self._call(student, request)
        except ProcessEnded as gone:
            self._tell(self._call_failed(str(gone), gone.kind))
            return CallResult(failure=str(gone), cause=Cause(gone.kind))

    def _call(self, student: StudentProcess, request: CallRequest) -> CallResult:
        result = student.call(request)
        if student.interrupted:
            self._tell(self._call_failed(result.failure, FailureKind.TOO_SLOW))
        return result

    def _call_failed(self, reason: str, cause: FailureKind) -> Note:
        return Note.of(Kind.CALL_FAILED, reason, exercise=self._exercise, cause=cause)

    def _tell(self, note: Note) -> None:
        hidden = replace(note, fact=replace(note.fact, hidden=True))
        if note not in self.incidents and hidden not in self.incidents:
            self.incidents.append(hidden if self.hushed else note)
        self.too_slow |= note.fact.cause is FailureKind.TOO_SLOW

    def _call_in_little_memory(self, request: CallRequest, at_most: int) -> CallResult:
        """In a process in which nothing of the notebook has run but what the answer needs.

        Once is enough: an answer that fits into so little has shown that it can.
        """
        modules = self._student.loaded()
        for _ in range(MEMORY_TRIES):
            with self._new_process() as student:
                try:
                    result = self._call_alone(student, request, modules, at_most + MEMORY_SLACK)
                except TooSlow:
                    raise
                except ProcessEnded as gone:
                    result = CallResult(failure=str(gone), cause=Cause(gone.kind))
            if not result.cause or result.cause.kind not in FOR_WANT_OF_MEMORY:
                return result
        if result.cause is None or result.cause.kind is FailureKind.OVER_MEMORY:
            return result
        message = f"needed more than {at_most / limits.MEBIBYTE:.3g} MiB"
        return CallResult(failure=message, cause=Cause(FailureKind.OVER_MEMORY))

    def _call_alone(
        self, student: StudentProcess, request: CallRequest, modules: list[str], memory: int
    ) -> CallResult:
        assert self._prepared is not None
        cells = {cell.id: cell.source for cell in self._cells()}
        student.begin(_seed_to_tell(self.seed))
        student.take_unrun(cells, modules, memory)
        if student.prepare(*self._prepared).get("kind") == "function":
            result = self._call(student, request)
            if not result.cause or result.cause.kind is not FailureKind.RAISED:
                return result
        return self._call_after_cells(cells, request, memory)

    def _call_after_cells(
        self, cells: dict[str, str], request: CallRequest, memory: int
    ) -> CallResult:
        """Where the answer needs what its cells do, such as a file that one of them writes."""
        assert self._prepared is not None
        with self._new_process(memory) as student:
            student.begin(_seed_to_tell(self.seed))
            for cell, source in cells.items():
                student.run_cell(cell, source)
            student.prepare(*self._prepared)
            return self._call(student, request)

    def _keep_outputs(self, cell: nbformat.NotebookNode, number: int, answer: dict) -> None:
        cell.execution_count = number
        cell.outputs = []
        for output in _outputs(answer, number):
            self._output_left -= len(json.dumps(output))
            if self._output_left < 0:
                cell.outputs.append(new_output("stream", text="... more than is kept\n"))
                return
            cell.outputs.append(output)

    def _watch(self) -> None:
        """What the student's processes take while we compute."""
        while not self._done.wait(WATCH_SECONDS):
            if hasattr(self, "_student"):
                self._student.watch()

    def __enter__(self) -> "Attempt":
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()
        if hasattr(self, "_student"):
            self._student.kill()


def _outputs(answer: dict[str, Any], number: int) -> Iterator[nbformat.NotebookNode]:
    """What a cell showed, checked piece by piece: a stranger says it."""
    for name in ("stdout", "stderr"):
        if text := _shown(answer.get(name)):
            yield new_output("stream", name=name, text=text)
    pieces = answer.get("outputs")
    for piece in pieces[:100] if isinstance(pieces, list) else []:
        if not isinstance(piece, dict):
            continue
        if piece.get("output_type") == "error":
            lines = piece.get("traceback")
            yield new_output(
                "error",
                ename=_shown(piece.get("ename"), 80),
                evalue=_shown(piece.get("evalue"), 500),
                traceback=[_shown(line, 2000) for line in lines[:60]]
                if isinstance(lines, list)
                else [],
            )
            continue
        kept = _mime_bundle(piece.get("data"))
        if kept and piece.get("output_type") == "execute_result":
            yield new_output("execute_result", kept, execution_count=number)
        elif kept:
            yield new_output("display_data", kept)


def _mime_bundle(data: Any) -> dict[str, str]:
    if not isinstance(data, dict):
        return {}
    bundle = {mime: _shown(data[mime]) for mime in ("text/plain", "text/latex") if mime in data}
    image = data.get("image/png")
    if isinstance(image, str) and re.fullmatch(r"[A-Za-z0-9+/=\s]*", image):
        bundle["image/png"] = image
    return bundle


_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def _shown(text: Any, at_most: int = limits.CELL_OUTPUT) -> str:
    return _ESCAPES.sub("", text[:at_most]) if isinstance(text, str) else ""


def _word(text: Any, at_most: int = 60) -> str:
    return " ".join(_shown(text, at_most).split()) or "something that has no name"


def _seed_to_tell(seed: int) -> int:
    """For the student's own random numbers: the seed of the hidden inputs cannot be found from it,
    and whoever asks torch for its seed would print it."""
    return int(digest(f"of the student's process: {seed}")[:15], 16)


def _graded(notebook: nbformat.NotebookNode) -> Iterator[nbformat.NotebookNode]:
    for cell in notebook.cells:
        if cell.get("metadata", {}).get("nbgrader", {}).get("grade"):
            yield cell


def _finding(verdict: Verdict) -> Finding:
    """The whole of it, as it is kept: what of it may be shown is decided where it is shown."""
    return replace(verdict.alone(), evidence=_shown(verdict.evidence, EVIDENCE))


class _Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] = now - self._last
        self._last = now
