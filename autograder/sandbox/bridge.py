"""A student's process that keeps a real Jupyter kernel beside it and passes on what is asked.

Slower than a fork, and for the referee the same: one question, one answer, one signal. It lives
in the sandbox with its kernel and is believed as little. The kernel's own end is in_kernel.py.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from matplotlib.font_manager import fontManager, json_dump

from autograder.sandbox import child, codec, limits

FOLDER = Path("/scratch/.kernel")
"""Out of the way of a student's own files; sockets are names in it, as there is no network."""
SOCKETS = "COURSE_SOCKETS"
QUESTION, ANSWER = "course_request", "course_reply"
KERNEL = "-m", "ipykernel_launcher", "--ext=autograder.sandbox.in_kernel"
SETTINGS = "--HistoryManager.enabled=False", "--InteractiveShell.colors=nocolor"

POLL_SECONDS = 0.1
KNOCK_SECONDS = 0.5
LAST_WORDS_SECONDS = 2.0
"""For what was shown before an answer and arrives after it, if it arrives at all."""


def serve(connection: socket.socket, memory: int) -> None:
    """Do what the referee asks until it hangs up, kills us, or the kernel ends."""
    kernel = Kernel(connection)
    signal.signal(signal.SIGINT, lambda *_: kernel.interrupt())
    while True:
        request, buffers = codec.receive(connection)
        if "seed" in request:
            request["memory"] = memory
        kernel.ask(request, buffers)
        if "cell" in request:
            codec.send(connection, *kernel.run(request["cell"]))


def inherited() -> Iterator[socket.socket]:
    """In the kernel: where questions come from, and the referee, whom it answers itself."""
    for number in os.environ.pop(SOCKETS).split():
        connection = socket.socket(fileno=int(number))
        connection.set_inheritable(False)
        yield connection


class Kernel:
    """A real kernel, started with nothing of the student's in it."""

    def __init__(self, connection: socket.socket):
        FOLDER.mkdir()
        file = str(FOLDER / "connection.json")
        key = os.urandom(16).hex().encode()
        write_connection_file(file, ip=str(FOLDER / "socket"), transport="ipc", key=key)
        json_dump(fontManager, FOLDER / f"fontlist-v{fontManager.__version__}.json")
        at_home = dict.fromkeys(("IPYTHONDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME"), str(FOLDER))
        self._questions, theirs = socket.socketpair()
        sockets = theirs.fileno(), connection.fileno()
        self._process = subprocess.Popen(
            [sys.executable, *KERNEL, "-f", file, *SETTINGS],
            env=os.environ | at_home | {SOCKETS: " ".join(map(str, sockets))},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=sockets,
        )
        theirs.close()
        self._client = BlockingKernelClient(connection_file=file, context=zmq.Context())
        self._client.context.rcvhwm = 0  # what is dropped would be waited for
        self._client.load_connection_file()
        self._client.start_channels(stdin=False, hb=False, control=False)
        self._poller = zmq.Poller()
        for channel in (self._client.iopub_channel, self._client.shell_channel):
            self._poller.register(channel.socket, zmq.POLLIN)
        while not any(map(_is_idle, self._messages(KNOCK_SECONDS))):
            self._client.kernel_info()  # until it hears us, and we what it shows

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def ask(self, request: dict[str, Any], buffers: Sequence[bytes] = ()) -> None:
        """Have in_kernel.py see to it."""
        self._converse(self._put(request, buffers), lambda message: None)

    def run(self, source: str) -> tuple[dict[str, Any], list[bytes]]:
        """Run a cell and answer as a forked process does."""
        shows = _Shows(mark=os.urandom(16).hex())
        asked = self._client.execute(source, allow_stdin=False, stop_on_error=False)
        reply = self._converse(asked, shows.hear)
        asked = self._put({"mark": shows.mark})
        self._converse(asked, shows.hear)
        until = time.monotonic() + LAST_WORDS_SECONDS
        while not shows.all_heard() and time.monotonic() < until:
            for message in filter(_about(asked), self._messages()):
                shows.hear(message)
        failed = reply["status"] == "error"
        return shows.answer([reply["ename"], reply["evalue"]] if failed else None)

    def _put(self, request: dict[str, Any], buffers: Sequence[bytes] = ()) -> str:
        message = self._client.session.msg(QUESTION)
        self._client.shell_channel.send(message)
        codec.send(self._questions, request, buffers)  # as it came, or it would take more memory
        identity: str = message["header"]["msg_id"]
        return identity

    def _converse(self, asked: str, hear: Callable[[dict], None]) -> dict[str, Any]:
        """The reply, once the kernel says that it has no more to show."""
        reply: dict[str, Any] | None = None
        idle, until = False, float("inf")
        while (reply is None or not idle) and time.monotonic() < until:
            for message in filter(_about(asked), self._messages()):
                hear(message)
                idle |= _is_idle(message)
                if message["msg_type"] in ("execute_reply", ANSWER):
                    reply = message["content"]
                    until = time.monotonic() + LAST_WORDS_SECONDS
        return reply or {}

    def _messages(self, seconds: float = POLL_SECONDS) -> Iterator[dict[str, Any]]:
        """What arrives within this time; if the kernel has ended, so do we."""
        ready = self._poller.poll(int(1000 * seconds))
        if self._process.poll() is not None:
            raise EOFError
        for channel, _ in ready:
            yield self._client.session.recv(channel)[1]


def _about(asked: str) -> Callable[[dict[str, Any]], bool]:
    return lambda message: message["parent_header"].get("msg_id") == asked


def _is_idle(message: dict[str, Any]) -> bool:
    return bool(message["content"].get("execution_state") == "idle")


class _Shows:
    """What one cell shows, from the messages about it."""

    def __init__(self, mark: str):
        self.mark = mark
        """The last that either stream says."""
        self._outputs: list[dict[str, Any]] = []
        self._streams = {"stdout": _Stream(mark), "stderr": _Stream(mark)}

    def hear(self, message: dict[str, Any]) -> None:
        content = message["content"]
        match message["msg_type"]:
            case "stream":
                self._streams[content["name"]].hear(content["text"])
            case "error":
                shown = content["ename"], content["evalue"], content["traceback"]
                self._outputs.append(child.error_output(*shown))
            case "execute_result" | "display_data" | "update_display_data" as kind:
                kind = "display_data" if kind != "execute_result" else kind
                self._outputs += child.output(kind, content["data"])
            case "clear_output":
                self._outputs.clear()
                for stream in self._streams.values():
                    stream.clear()

    def all_heard(self) -> bool:
        return all(stream.ended for stream in self._streams.values())

    def answer(self, error: list[str] | None) -> tuple[dict[str, Any], list[bytes]]:
        kept = child.those_that_fit(self._outputs)
        if len(kept) < len(self._outputs):
            self._streams["stderr"].keep(child.MORE_SHOWN)
        texts = [stream.all() for stream in self._streams.values()]
        return {"outputs": kept, "error": error}, texts


class _Stream:
    """The beginning of a stream, until it says that it has ended."""

    def __init__(self, mark: str):
        self._mark, self.ended = mark, False
        self.clear()

    def clear(self) -> None:
        self._text, self._size, self._tail = bytearray(), 0, ""

    def hear(self, text: str) -> None:
        if self.ended:
            return
        before, mark, _ = (self._tail + text).partition(self._mark)
        self.ended = bool(mark)
        sure = len(before) if mark else max(0, len(before) - len(self._mark))
        self._tail = before[sure:]  # it may begin the mark
        self.keep(before[:sure].encode(errors="replace"))

    def keep(self, data: bytes) -> None:
        self._size += len(data)
        self._text += data[: limits.CELL_OUTPUT - len(self._text)]

    def all(self) -> bytes:
        self.keep(self._tail.encode(errors="replace"))
        return child.cut(bytes(self._text), self._size)
