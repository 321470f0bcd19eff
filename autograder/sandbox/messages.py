"""A call and what it gave, as messages between the grader and a student's process.

The grader writes requests and reads results, the student's process the other way round. It may
trust a request; of a result nothing is believed.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from autograder.sandbox import codec, limits
from course_lib.checking.findings import Cause, FailureKind
from course_lib.checking.perform import CallRequest, CallResult
from course_lib.checking.setting import Setting
from course_lib.checking.terms import Terms

Message = tuple[Any, list[bytes]]
"""JSON, and the bytes of arrays beside it."""
WORDS, DETAIL, NAME = 400, 200, 60
"""Letters that are kept of a failure, of its detail, and of the name of an argument."""
NAMES = 20
LARGEST = 1 << 30
"""Nothing is counted beyond this."""


def write_request(request: CallRequest) -> Message:
    """The grader's; the seed of a test's inputs is not told."""
    setting, buffers = request.setting, list[bytes]()
    header = {
        "call": request.function,
        "setting": [setting.library, setting.dtype, setting.device],
        "args": codec.encode(request.args, buffers),
        "kwargs": codec.encode(request.kwargs, buffers),
        "cotangent": codec.encode(request.cotangent, buffers),
        "terms": request.terms.to_dict(),
        "at_most": request.at_most,
    }
    return header, buffers


def read_request(message: Message, find: Callable[[str], Any]) -> CallRequest:
    """The student's process; `find` gives the function of a name, or raises LookupError."""
    header, buffers = message
    args, kwargs, cotangent = (
        codec.decode(header[part], buffers) for part in ("args", "kwargs", "cotangent")
    )
    return CallRequest(
        function=find(header["call"]),
        setting=Setting(*header["setting"]),
        args=args,
        kwargs=kwargs,
        cotangent=cotangent,
        terms=Terms.from_dict(header["terms"]),
        at_most=header["at_most"],
    )


def payload_of(terms: Terms) -> int:
    """Bytes of arrays that a function may return."""
    most = terms.limits.returned_mib
    return codec.PAYLOAD_AT_MOST if most is None else most * limits.MEBIBYTE


def write_result(result: CallResult, payload: int = codec.PAYLOAD_AT_MOST) -> Message:
    """The student's process. What may not cross is a failure of its own kind."""
    buffers: list[bytes] = []
    header = {
        "failure": result.failure,
        "cause": asdict(result.cause) if result.cause else None,
        "changed": list(result.changed),
        "printed": result.printed,
    }
    try:
        value = codec.encode(result.value, buffers)
        if (size := sum(map(len, buffers))) > payload:
            raise codec.Unacceptable(f"{size >> 20} MiB, allowed {payload >> 20} MiB")
        return header | {"value": value}, buffers
    except codec.Unacceptable as reason:
        message, cause = f"it returned something too large: {reason}", Cause(FailureKind.TOO_LARGE)
        return header | {"failure": message, "cause": asdict(cause), "value": None}, []


def read_result(message: Message) -> CallResult:
    """The grader's; raises Unacceptable for what no honest process sends."""
    header, buffers = message
    try:
        return CallResult(
            value=codec.decode(header["value"], buffers),
            failure=_words(header["failure"], WORDS),
            cause=_cause(header["cause"]),
            changed=tuple(_words(name, NAME) for name in header["changed"][:NAMES]),
            printed=min(_number(header["printed"]), LARGEST),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise codec.Unacceptable("a malformed result") from error


def _cause(data: Any) -> Cause | None:
    if data is None:
        return None
    line = data["line"] if data["line"] is None else _number(data["line"])
    return Cause(FailureKind(data["kind"]), _words(data["detail"], DETAIL), line)


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError("not a number that counts anything")
    return value


def _words(text: Any, at_most: int) -> str:
    """Plain printable words of a stranger."""
    if type(text) is not str:
        raise TypeError("not words")
    return "".join(c if c.isprintable() else " " for c in text[:at_most])
