"""Nested values as JSON and back: one walk, in two settings.

`Codec` keeps what tests record (record.json): whoever reads it wrote it, so it is trusted. What
comes from a student's process is not: autograder/sandbox/codec.py puts limits on the same walk.
"""

import base64
from dataclasses import asdict
from typing import Any

import numpy as np

from course_lib.checking.findings import Cause, Failure
from course_lib.checking.returned import Handle

RECORDED_DTYPES = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "|b1"}


class Codec:
    """Of each coded container or array the first key says what it is."""

    def encode(self, value: Any, depth: int = 0) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, (np.ndarray, np.generic)):
            return self.encode_array(value)
        if isinstance(value, (list, tuple)):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [self.encode(item, depth + 1) for item in value]}
        if isinstance(value, dict):
            return {"dict": self.encode_dict(value, depth + 1)}
        return self.encode_other(value)

    def decode(self, coded: Any, depth: int = 0) -> Any:
        """Raises ValueError, TypeError, KeyError or OverflowError for what is malformed."""
        if type(coded) is not dict:
            return coded
        kind, content = next(iter(coded.items()))
        if kind == "array":
            return self.decode_array(coded)
        if kind in ("list", "tuple") and type(content) is list:
            items = [self.decode(item, depth + 1) for item in content]
            return items if kind == "list" else tuple(items)
        if kind == "dict":
            return self.decode_dict(content, depth + 1)
        return self.decode_other(kind, coded)

    def encode_array(self, value: Any) -> Any:
        """Every bit of it, within the JSON."""
        array = np.asarray(value)
        dtype = RECORDED_DTYPES[array.dtype.kind]
        raw = base64.b64encode(array.astype(dtype).tobytes()).decode()
        return {"array": raw, "dtype": dtype, "shape": list(array.shape)}

    def decode_array(self, coded: dict[str, Any]) -> Any:
        raw = base64.b64decode(coded["array"])
        return np.frombuffer(raw, coded["dtype"]).reshape(coded["shape"]).copy()

    def encode_dict(self, value: dict[Any, Any], depth: int) -> Any:
        return {key: self.encode(item, depth) for key, item in value.items()}

    def decode_dict(self, content: Any, depth: int) -> dict[Any, Any]:
        return {key: self.decode(item, depth) for key, item in content.items()}

    def encode_other(self, value: Any) -> Any:
        if isinstance(value, float):
            return self.encode_array(value)
        if isinstance(value, Failure):
            return {"failure": value.evidence, "cause": asdict(value.cause)}
        return None if isinstance(value, Handle) else value  # what is held stays where it was made

    def decode_other(self, kind: str, coded: dict[str, Any]) -> Any:
        if kind != "failure":
            raise ValueError(f"a value of unknown kind: {kind}")
        message, cause = coded["failure"], coded.get("cause")
        return Failure(
            message, cause=Cause.from_dict(cause) if cause else Cause.from_words(message)
        )


RECORDED = Codec()
