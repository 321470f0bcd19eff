"""The kernel's own end, loaded as an IPython extension before anything of a student's: answers the
referee's questions as a forked process does, and takes away what nobody is there for.
"""

import contextlib
import importlib
import os
from types import MethodType
from typing import Any

from autograder.sandbox import bridge, child, codec, limits, warm


def load_ipython_extension(shell: Any) -> None:
    for name in warm.USED_LATER:  # so that later it costs nothing of a student's memory
        importlib.import_module(name)
    questions, connection = bridge.inherited()
    respondent, kernel = child.Respondent(shell), shell.kernel

    def answer(stream: Any, ident: list[bytes], message: dict[str, Any]) -> None:
        try:
            request, buffers = codec.receive(questions)
            match request:
                case {"mark": mark}:
                    _write_through(mark)
                case {"cell": source, "id": name}:
                    respondent.note(name, source)
                case _:
                    if "seed" in request:
                        limits.impose(request["memory"], limits.PROCESSES + limits.OF_A_KERNEL)
                    codec.send(connection, *_answer(respondent, request, buffers, connection))
        except KeyboardInterrupt:  # one that came late
            pass
        except BaseException:  # what ends a forked process ends this one
            os._exit(1)
        kernel.session.send(stream, bridge.ANSWER, {}, parent=message, ident=ident)

    kernel.shell_handlers[bridge.QUESTION] = answer
    kernel.raw_input = kernel.getpass = child.nobody_answers
    shell.system = MethodType(child.Shell.system_piped, shell)  # there is no terminal, either
    shell.ask_exit = MethodType(child.Shell.ask_exit, shell)
    os.register_at_fork(after_in_child=child.print_to_descriptors)


def _answer(respondent: child.Respondent, *asked: Any) -> tuple[Any, list[bytes]]:
    answer = child.interrupted()
    with contextlib.suppress(KeyboardInterrupt):
        answer = respondent.answer(*asked)
    return answer


def _write_through(mark: str) -> None:
    """Comes out after all that processes wrote to these descriptors before."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            os.write(descriptor, mark.encode())
