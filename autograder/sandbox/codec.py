"""What may cross between the student's process and the referee: JSON and the bytes of arrays.

No pickle, and nothing of what arrives is trusted: every size, shape, dtype and depth has a limit
here, and whatever breaks one ends the conversation with `Unacceptable`.
"""

import json
import math
import re
import socket
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.checking.codec import Codec
from course_lib.checking.returned import Callback, Handle, Returned

HEADER_AT_MOST = 4 << 20
PAYLOAD_AT_MOST = 64 << 20
"""Bytes of arrays in one message, where an exercise does not say otherwise."""
NO_LIMIT = 1 << 62
AXIS_AT_MOST = 1 << 31
ARRAYS_AT_MOST = 10_000
DEPTH = 6
AXES = 32
BITS = 4096
ENTRIES = 1000
"""Of a dict: its keys could be chosen so that each meets all the others."""
VALUES, LETTERS = 20_000, 4_000
"""In one message, and in one string: NumPy gives each string of a list the room of the longest."""
WORD = re.compile(r"[\w .:]{0,40}", re.ASCII)
"""The name of a dtype or a device."""
HELD = re.compile(r"held [0-9]{1,6}")
KIND = 80
"""Letters of the name of a class."""
DTYPES = frozenset(
    ("<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")
)
_LENGTH = struct.Struct("<I")


class Unacceptable(Exception):
    """A message that no honest process sends."""


def encode(value: Any, buffers: list[bytes]) -> Any:
    """Turn a value into JSON, its arrays into buffers beside it; Unacceptable if it cannot cross.

    For both sides: what the other would refuse is not sent.
    """
    return _Crossing(buffers).encode(value)


def decode(coded: Any, buffers: list[bytes]) -> Any:
    """Build the value again; `buffers` are used up from the front. Raises nothing but
    Unacceptable, whatever is read."""
    return _Crossing(buffers).decode(coded)


class _Crossing(Codec):
    """One value, and what it may still hold."""

    def __init__(self, buffers: list[bytes]):
        self._buffers, self._left = buffers, VALUES

    def encode(self, value: Any, depth: int = 0) -> Any:
        if depth > DEPTH:
            raise Unacceptable(f"nested more than {DEPTH} deep")
        if isinstance(value, (str, list, tuple)) and len(value) > _longest(value):
            raise Unacceptable(f"a {type(value).__name__} of {len(value)} entries")
        return super().encode(value, depth)

    def decode(self, coded: Any, depth: int = 0) -> Any:
        if depth > DEPTH:
            raise Unacceptable(f"nested more than {DEPTH} deep")
        self._left -= 1
        if self._left < 0:
            raise Unacceptable(f"more than {VALUES} values")
        if type(coded) is str and len(coded) > LETTERS:
            raise Unacceptable(f"a string of more than {LETTERS} letters")
        if coded is None or type(coded) in (bool, str):
            return coded
        if type(coded) is not dict or len(coded) != 1:
            raise Unacceptable("not a coded value")
        try:
            return super().decode(coded, depth)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise Unacceptable("a malformed value") from error

    def encode_array(self, value: Any) -> Any:
        array = np.asarray(value)
        array = np.ascontiguousarray(array).reshape(array.shape)
        dtype = array.dtype.newbyteorder("<").str if array.dtype.itemsize > 1 else array.dtype.str
        if dtype not in DTYPES:
            raise Unacceptable(f"an array of dtype {array.dtype} cannot cross")
        self._buffers.append(array.astype(dtype, copy=False).tobytes())
        there = getattr(value, "dtype_there", ""), getattr(value, "device_there", "")
        return {"array": [dtype, list(array.shape), *there]}

    def decode_array(self, coded: dict[str, Any]) -> Any:
        dtype, shape, *there = coded["array"]
        if dtype not in DTYPES or type(shape) is not list or len(shape) > AXES:
            raise Unacceptable("a malformed array")
        if any(type(n) is not int or not 0 <= n <= AXIS_AT_MOST for n in shape):
            raise Unacceptable("an array of impossible shape")
        if len(there) != 2 or any(type(w) is not str or not WORD.fullmatch(w) for w in there):
            raise Unacceptable("an array without its origin")
        if not self._buffers:
            raise Unacceptable("an array without its numbers")
        raw = self._buffers.pop(0)
        if math.prod(shape) * int(dtype[2:]) != len(raw):
            raise Unacceptable("an array whose size is not that of its shape")
        values = np.frombuffer(raw, dtype).reshape(shape).copy()
        return Returned.of(values, *there) if there[0] else values

    def encode_dict(self, value: dict[Any, Any], depth: int) -> Any:
        if len(value) > ENTRIES:
            raise Unacceptable(f"a dict of {len(value)} entries")
        return [[self.encode(k, depth), self.encode(v, depth)] for k, v in value.items()]

    def decode_dict(self, content: Any, depth: int) -> dict[Any, Any]:
        if type(content) is not list or len(content) > ENTRIES:
            raise Unacceptable("a malformed dict")
        return {self.decode(k, depth): self.decode(v, depth) for k, v in content}

    def encode_other(self, value: Any) -> Any:
        if isinstance(value, int) and value.bit_length() <= BITS:
            return {"int": str(value)}
        if isinstance(value, float):
            return {"float": value.hex()}
        if isinstance(value, Callback):
            return {"lent": value.number}
        if isinstance(value, Handle):
            return {"held": [value.what, value.kind]}
        raise Unacceptable(f"a {type(value).__name__} cannot cross")

    def decode_other(self, kind: str, coded: dict[str, Any]) -> Any:
        content = coded[kind]
        if kind == "int" and type(content) is str:
            return int(content)
        if kind == "float":
            return float.fromhex(content)
        if kind == "lent" and type(content) is int:
            return Callback(content)
        if kind == "held":
            return _decode_held(*content)
        raise Unacceptable("a value of unknown kind")


def _longest(value: str | list[Any] | tuple[Any, ...]) -> int:
    return LETTERS if isinstance(value, str) else VALUES // 2


def _decode_held(name: Any, kind: Any) -> Handle:
    """A name under which the student's process keeps something; never the thing."""
    if type(name) is not str or not HELD.fullmatch(name):
        raise Unacceptable("a name that is none")
    is_class = type(kind) is str and kind.isidentifier() and len(kind) <= KIND
    return Handle(name, kind if is_class else "function")


def pack(header: Any, buffers: Sequence[bytes] = (), payload: int = PAYLOAD_AT_MOST) -> bytes:
    """A whole message: how long the JSON is, the JSON, the buffers."""
    sizes = [len(buffer) for buffer in buffers]
    text = json.dumps([header, sizes], ensure_ascii=False).encode(errors="replace")
    if len(text) > HEADER_AT_MOST or sum(sizes) > payload or len(sizes) > ARRAYS_AT_MOST:
        raise Unacceptable("larger than what may cross")
    return b"".join([_LENGTH.pack(len(text)), text, *buffers])


def send(connection: socket.socket, header: Any, buffers: Sequence[bytes] = ()) -> None:
    """For the student's side, which need not limit itself: whoever receives this does."""
    connection.sendall(pack(header, buffers, NO_LIMIT))


class Receiver:
    """Puts a message together from what has arrived so far; never waits."""

    def __init__(self, payload: int = PAYLOAD_AT_MOST):
        self._payload = payload
        self._data = bytearray()
        self._message: tuple[Any, list[int]] | None = None
        self._needed = _LENGTH.size
        self._in_header = False

    def feed(self, data: bytes) -> tuple[Any, list[bytes]] | None:
        """Add bytes; the whole message once it is there. One request, one answer: no rest."""
        self._data += data
        while len(self._data) >= self._needed:
            if self._message is not None:
                return self._finish(*self._message)
            if not self._in_header:
                (length,) = _LENGTH.unpack_from(self._data)
                if length > HEADER_AT_MOST:
                    raise Unacceptable("a header that is too long")
                self._in_header, self._needed = True, _LENGTH.size + length
            else:
                self._message = _read_header(
                    bytes(self._data[_LENGTH.size : self._needed]), self._payload
                )
                self._needed += sum(self._message[1])
        return None

    def _finish(self, header: Any, sizes: list[int]) -> tuple[Any, list[bytes]]:
        if len(self._data) > self._needed:
            raise Unacceptable("more than one answer")
        buffers, end = [], self._needed
        for size in reversed(sizes):
            buffers.append(bytes(self._data[end - size : end]))
            end -= size
        return header, buffers[::-1]


def _read_header(text: bytes, payload: int) -> tuple[Any, list[int]]:
    try:
        header, sizes = json.loads(text.decode())  # by itself json would guess at the encoding
        if b"\\u" in text:
            json.dumps(header, ensure_ascii=False).encode()  # halves of letters break files later
    except (ValueError, TypeError, RecursionError) as error:
        raise Unacceptable("a header that is no JSON pair") from error
    if type(sizes) is not list or len(sizes) > ARRAYS_AT_MOST:
        raise Unacceptable("a malformed list of sizes")
    if any(type(n) is not int or n < 0 for n in sizes) or sum(sizes) > payload:
        raise Unacceptable("a payload that is too large")
    return header, sizes


def receive(connection: socket.socket) -> tuple[Any, list[bytes]]:
    """Wait for one message; for the student's side, which trusts the referee."""
    receiver = Receiver()
    while True:
        data = connection.recv(1 << 16)
        if not data:
            raise EOFError
        if message := receiver.feed(data):
            return message
