"""One student's process: it runs cells, answers calls, and trusts nobody to believe it."""

import base64
import builtins
import contextlib
import gc
import getpass
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from typing import Any

import numpy as np
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.history import HistoryManager
from IPython.core.interactiveshell import InteractiveShell

from autograder.sandbox import codec, limits, messages
from course_lib.checking.answers import Cells, NoAnswer, RebuiltAnswer, without_timing
from course_lib.checking.findings import Cause, FailureKind
from course_lib.checking.nested import map_leaves
from course_lib.checking.perform import CallResult, perform
from course_lib.checking.returned import Callback, Handle
from course_lib.checking.terms import Terms
from course_lib.checking.withheld import withheld

WARM_UP = (
    """%matplotlib inline
import numpy as np, torch, matplotlib.pyplot as plt
plt.plot(np.arange(5.0)); plt.title("a"); plt.show()""",
    "def f(x):\n    return 1 / x\nf(0)",
)

SHOWN = ("text/plain", "text/latex", "image/png")
"""What an output keeps. HTML and scripts would run in the browser of whoever marks."""

MORE_SHOWN = b"\n... and more was shown than is kept of a cell\n"
LINE, LINES = 2000, 40
"""Of a traceback."""
STOPPED = 20
"""So many statements that were left out of an answer are told."""

_outputs: list[dict[str, Any]] = []


class _Hook(DisplayHook):
    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict, md_dict: dict | None = None) -> None:
        _keep("execute_result", format_dict)

    def finish_displayhook(self) -> None:
        pass


class _Publisher(DisplayPublisher):
    def publish(
        self,
        data: dict,
        metadata: dict | None = None,
        source: Any = None,
        *,
        transient: Any = None,
        update: Any = None,
        **more: Any,
    ) -> None:
        _keep("display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        _outputs.clear()
        for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
            stream.flush()
            _empty(descriptor)


class Shell(InteractiveShell):
    """IPython as a notebook has it, without terminal, history or event loop of a window."""

    displayhook_class, display_pub_class = _Hook, _Publisher

    def enable_gui(self, gui: str | None = None) -> None:
        pass

    def init_io(self) -> None:
        pass

    def system_piped(self, command: str) -> None:
        """!command, without a terminal."""
        try:
            expanded = self.var_expand(command, depth=1)  # type: ignore[no-untyped-call]  # IPython's
            done = subprocess.run(expanded, shell=True)
        except PermissionError:
            raise PermissionError("no other program can be started while this is graded") from None
        self.user_ns["_exit_code"] = done.returncode

    system = system_piped

    def ask_exit(self) -> None:
        """exit() is no reason to lose the cells after it."""

    def _showtraceback(self, kind: type, value: BaseException, lines: list[str]) -> None:
        _outputs.append(error_output(kind.__name__, _text_of(value), lines))


def error_output(name: str, words: str, lines: list[str]) -> dict[str, Any]:
    lines = [line[:LINE] for line in lines[-LINES:]]
    return {"output_type": "error", "ename": name, "evalue": words[:500], "traceback": lines}


def warm_shell() -> Shell:
    """A shell that has drawn a figure and met an error once, so that its forks need not load it."""
    HistoryManager.enabled = False
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    shell: Shell = Shell.instance()
    shell.colors = "nocolor"
    standard = sys.stdout, sys.stderr
    with open(os.devnull, "w") as nowhere:
        sys.stdout = sys.stderr = nowhere
        for cell in WARM_UP:
            shell.run_cell(cell)  # type: ignore[no-untyped-call]  # IPython's
        sys.stdout, sys.stderr = standard
    shell.reset(new_session=True)  # type: ignore[no-untyped-call]  # IPython's
    packages = next(n for n, path in enumerate(sys.path) if path.endswith("-packages"))
    sys.path.insert(packages, "")  # as Jupyter does: a student's own modules lie in scratch
    _outputs.clear()
    return shell


def capture_descriptors() -> None:
    """Whatever writes to 1 or 2, from Python or not, lands in files that have no name."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    for standard in (1, 2):
        with tempfile.TemporaryFile(dir=os.getcwd()) as file:
            os.dup2(file.fileno(), standard)
    print_to_descriptors()
    builtins.input = nobody_answers
    vars(getpass)["getpass"] = nobody_answers


def print_to_descriptors() -> None:
    sys.stdout, sys.stderr = map(_line_by_line, (1, 2))


def _line_by_line(descriptor: int) -> Any:
    return os.fdopen(descriptor, "w", buffering=1, closefd=False, errors="replace")


def nobody_answers(prompt: object = "", *_: object) -> str:
    raise EOFError("nobody can answer input() while a notebook is graded: write the value instead")


class Respondent:
    """Answers the referee's questions about the cells, in a forked process or in a kernel."""

    def __init__(self, shell: InteractiveShell):
        import torch

        torch.set_num_threads(1)
        self._shell, self._cells = shell, Cells()
        self._built: dict[str, Any] = {}
        self._ours = frozenset(sys.modules)

    def note(self, name: str, source: str) -> None:
        """This cell is about to run."""
        source = without_timing(source)
        self._cells.ran(name, self._shell.transform_cell(source))

    def _loaded(self) -> list[str]:
        """The modules that the student's code, or a library for it, has imported so far."""
        return [name for name in sys.modules if type(name) is str and name not in self._ours]

    def _take_unrun(self, cells: dict[str, str], modules: list[str], memory: int) -> None:
        """Count these cells as run; of them nothing will run but what an answer needs.

        Libraries are imported first: what they take is no part of the memory that is left.
        """
        for name in modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        for name, source in cells.items():
            self.note(name, source)
        gc.collect()
        limits.leave_memory(memory)

    def answer(
        self, request: dict, buffers: list[bytes], connection: Any
    ) -> tuple[Any, list[bytes]]:
        match request:
            case {"seed": seed}:
                np.random.seed(seed % 2**32)  # noqa: NPY002  (students may use it)
                _seed_torch(seed)
                return None, []
            case {"loaded": _}:
                return self._loaded(), []
            case {"unrun": cells, "modules": modules, "memory": memory}:
                self._take_unrun(cells, modules, memory)
                return None, []
            case {"answer": name, "terms": terms, "above": above}:
                return _prepare(self._cells, above, self._built, name, Terms.from_dict(terms)), []
            case {"call": _}:
                return _call(self._built, request, buffers, connection)
        raise ValueError("a question of no known kind")


def serve(connection: Any, shell: Shell) -> None:
    """Do what the referee asks until it hangs up or kills us."""
    respondent = Respondent(shell)
    while True:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # one that comes late meets nobody
        request, buffers = codec.receive(connection)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        answer, out = interrupted()
        with contextlib.suppress(KeyboardInterrupt):  # between the work and its answer
            match request:
                case {"cell": source, "id": name}:
                    respondent.note(name, source)
                    answer, out = _run(shell, source)
                case _:
                    answer, out = respondent.answer(request, buffers, connection)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        codec.send(connection, answer, out)


def interrupted() -> tuple[dict[str, Any], list[bytes]]:
    header, _ = messages.write_result(_was_interrupted())
    return header, [b"", b""]


def _was_interrupted() -> CallResult:
    return CallResult(failure="it was interrupted", cause=Cause(FailureKind.INTERRUPTED))


def _run(shell: Shell, source: str) -> tuple[dict[str, Any], list[bytes]]:
    _outputs.clear()
    for descriptor in (1, 2):  # what threads and processes wrote since belongs to no cell
        _empty(descriptor)
    result = shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]  # IPython's
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    error = result.error_before_exec or result.error_in_exec
    kept = those_that_fit(_outputs)
    if len(kept) < len(_outputs):
        os.write(2, MORE_SHOWN)
    answer = {"outputs": kept, "error": [type(error).__name__, _text_of(error)] if error else None}
    return answer, [_written(1), _written(2)]


def those_that_fit(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    left = limits.CELL_OUTPUT
    for number, output in enumerate(outputs):
        left -= len(json.dumps(output, ensure_ascii=False).encode(errors="replace"))
        if left < 0:
            return outputs[:number]
    return outputs[:]


def _written(descriptor: int) -> bytes:
    """What the cell wrote, cut by bytes; the file begins anew, so that it never fills scratch."""
    size = os.fstat(descriptor).st_size
    text = os.pread(descriptor, limits.CELL_OUTPUT, 0)
    _empty(descriptor)
    return cut(text, size)


def cut(text: bytes, size: int) -> bytes:
    """The beginning of something that was so long."""
    if size > len(text):
        more = f"\n... and {size - len(text)} bytes more".encode()
        text = text[: limits.CELL_OUTPUT - len(more)] + more
    return text


def _empty(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)[:500]
    except Exception:
        return "an error that cannot be put into words"


def _keep(kind: str, data: dict[str, Any]) -> None:
    _outputs.extend(output(kind, data))


def output(kind: str, data: dict[str, Any]) -> list[dict[str, Any]]:
    """What is kept of something shown, if anything is."""
    kept = {
        mime: base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
        for mime, value in data.items()
        if mime in SHOWN
    }
    return [{"output_type": kind, "data": kept}] if kept else []


def _seed_torch(seed: int) -> None:
    """torch.manual_seed would first write down its traceback for each kind of device."""
    import torch

    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)


def _prepare(
    cells: Cells, above: list[str], built: dict, name: str, terms: Terms
) -> dict[str, Any]:
    """Rebuild an answer from the cells above its check, as `check` does; else from all of them."""
    try:
        with withheld(terms.withholds):
            rebuilt = _rebuild(cells, above, name)
    except NoAnswer as nothing:
        return {"nothing": str(nothing)}
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return {"error": f"your cells stop with {_named(error)}"}
    value, stopped = rebuilt.value, rebuilt.stopped[:STOPPED]
    built[name] = value
    kind = "function" if callable(value) else type(value).__name__
    plain = value if isinstance(value, (list, tuple, str)) and len(value) < 1000 else None
    answer = {
        "kind": kind,
        "library": rebuilt.library,
        "stopped": [[one.cell, _named(one.error)] for one in stopped],
    }
    try:
        return answer | {"value": codec.encode(plain, [])}
    except codec.Unacceptable:
        return answer | {"value": None}


def _rebuild(cells: Cells, above: list[str], name: str) -> RebuiltAnswer:
    """From the cells above its check, unless one of them needs what stands below."""
    try:
        rebuilt = cells.among(above).rebuild(name)
        if not any(isinstance(one.error, NameError) for one in rebuilt.stopped):
            return rebuilt
    except (NoAnswer, NameError):
        return cells.rebuild(name)
    with contextlib.suppress(Exception):
        return cells.rebuild(name)
    return rebuilt


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {_text_of(error)[:200]}"


def _call(
    built: dict[str, Any], request: dict[str, Any], buffers: list[bytes], connection: Any
) -> tuple[Any, list[bytes]]:
    payload = messages.payload_of(Terms.from_dict(request["terms"]))
    try:
        asked = messages.read_request((request, buffers), lambda name: _find(built, name))
        args, kwargs = _borrowed(asked.args, connection), _borrowed(asked.kwargs, connection)
        result = perform(replace(asked, args=args, kwargs=kwargs))
    except LookupError:
        words = "it is gone: the process that made it has ended"
        result = CallResult(failure=words, cause=Cause(FailureKind.ENDED))
    except KeyboardInterrupt:
        result = _was_interrupted()
    return messages.write_result(replace(result, value=_kept(result.value, built)), payload)


def _borrowed(value: Any, connection: Any) -> Any:
    """Where a function is lent, one that asks the referee."""

    def borrow(leaf: Any) -> Any:
        if not isinstance(leaf, Callback):
            return leaf
        return lambda *args, **kwargs: _ask(connection, leaf.number, args, kwargs)

    return map_leaves(borrow, value)


def _ask(connection: Any, number: int, args: tuple, kwargs: dict[str, Any]) -> Any:
    out: list[bytes] = []
    question = {"ask": number, "args": codec.encode(args, out), "kwargs": codec.encode(kwargs, out)}
    codec.send(connection, question, out)
    answer, buffers = codec.receive(connection)
    if "error" in answer:
        raise TypeError(answer["error"])
    return codec.decode(answer["value"], buffers)


def _find(built: dict[str, Any], name: str) -> Any:
    """An answer, something that one returned, or a method of that."""
    if name in built:
        return built[name]
    thing, _, method = name.rpartition(".")
    kept = built[thing]
    return lambda *args, **kwargs: getattr(kept, method)(*args, **kwargs)


def _kept(value: Any, built: dict[str, Any]) -> Any:
    """What stays here gets a name, and only the name crosses."""

    def keep(leaf: Any) -> Any:
        if not isinstance(leaf, Handle):
            return leaf
        name = f"held {len(built)}"
        built[name] = leaf.what
        return replace(leaf, what=name)

    return map_leaves(keep, value)
