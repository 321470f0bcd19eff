"""What crosses between a student's process and the referee arrives exactly, or not at all."""

import contextlib
import json
import socket
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.sandbox import codec
from autograder.sandbox.codec import (
    Receiver,
    Unacceptable,
    decode,
    encode,
    pack,
    receive,
    send,
)
from course_lib.checking.returned import Callback, Handle, Returned

DTYPES = sorted(codec.DTYPES)
SIDES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


@st.composite
def arrays(draw) -> np.ndarray:
    """Any bit pattern of any dtype: signalling NaN, minus zero, subnormal numbers."""
    dtype, shape = np.dtype(draw(st.sampled_from(DTYPES))), draw(SIDES)
    size = int(np.prod(shape, dtype=int)) * dtype.itemsize
    raw = draw(st.binary(min_size=size, max_size=size))
    if dtype.kind == "b":
        raw = bytes(byte & 1 for byte in raw)
    return np.frombuffer(raw, dtype).reshape(shape)


PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), arrays())
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.one_of(st.text(), st.integers()), inner, max_size=4),
    ),
    max_leaves=8,
)


def across(value: object) -> object:
    """Through bytes and back, a few at a time."""
    buffers: list[bytes] = []
    message = pack(encode(value, buffers), buffers)
    receiver, got = Receiver(), None
    step = max(1, len(message) // 3)
    for start in range(0, len(message), step):
        assert got is None
        got = receiver.feed(message[start : start + step])
    return decode(*got)


def same(one: object, other: object) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = (one.shape, one.dtype.newbyteorder("=")) == (other.shape, other.dtype)
        return alike and one.tobytes() == other.tobytes()
    if isinstance(one, float):
        return one.hex() == other.hex()
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return one == other


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_what_arrives_is_what_was_sent(value):
    r"""$decode(encode(x)) = x$, bit by bit."""
    try:
        coded = across(value)
    except Unacceptable as reason:
        assert "nested" in str(reason)
    else:
        assert same(value, coded)


def test_the_comparison_of_this_file_can_fail():
    nan, other_nan = (
        np.array([bits], np.uint64).view(np.float64) for bits in (0x7FF8 << 48, -1 % 2**64)
    )
    assert same(nan, nan) and not same(nan, other_nan)
    for one, other in [(0.0, -0.0), (1, 1.0), ((), []), ({1: 2}, {1: 3}), ([1], [1, 2]), (True, 1)]:
        assert not same(one, other)
    assert not same(np.zeros((0, 3)), np.zeros((3, 0)))


def test_big_endian_and_strided_arrays_arrive_by_value():
    values = np.arange(24.0).reshape(4, 6)[::2, ::-1].astype(">f8")
    assert np.array_equal(across(values), values)


def test_what_an_answer_was_there_is_told():
    came = across(Returned.of(np.float32([1, 2]), "bfloat16", "cuda"))
    assert (came.dtype_there, came.device_there, came.dtype) == ("bfloat16", "cuda", np.float64)


def message(header: object, sizes: object = (), payload: bytes = b"") -> bytes:
    text = json.dumps([header, sizes]).encode()
    return struct.pack("<I", len(text)) + text + payload


def array(dtype: object = "<f8", shape: object = (2,), *there: object) -> object:
    return {"array": [dtype, shape, *(there or ("", ""))]}


DEEP = {"list": [None]}
for _ in range(8):
    DEEP = {"list": [DEEP]}

LIES = {
    "a number without its coat": (1, [], b""),
    "a float without its coat": (1.5, [], b""),
    "a list without its coat": ([], [], b""),
    "an empty object": ({}, [], b""),
    "two kinds": ({"int": "1", "float": "0x1p0"}, [], b""),
    "a kind nobody knows": ({"pickle": "gASVAA=="}, [], b""),
    "an integer of 5000 digits": ({"int": "9" * 5000}, [], b""),
    "an integer in letters": ({"int": "one"}, [], b""),
    "an integer that is a float": ({"int": 1e308}, [], b""),
    "a float too large": ({"float": "0x1p99999"}, [], b""),
    "a float that is a list": ({"float": []}, [], b""),
    "a list that is a string": ({"list": "abc"}, [], b""),
    "a dict of triples": ({"dict": [[None, None, None]]}, [], b""),
    "a dict with a list for a key": ({"dict": [[{"list": []}, None]]}, [], b""),
    "a dict with an array for a key": ({"dict": [[array(), None]]}, [16], bytes(16)),
    "a dict of too many": ({"dict": [[{"int": str(n)}, None] for n in range(2000)]}, [], b""),
    "nested too deep": (DEEP, [], b""),
    "an object array": (array("|O8"), [16], bytes(16)),
    "a dtype with fields": (array("f8,f8"), [32], bytes(32)),
    "a dtype that calls itself not a number": (array("nan"), [16], bytes(16)),
    "dates": (array("<M8"), [16], bytes(16)),
    "complex numbers": (array("<c8"), [16], bytes(16)),
    "letters": (array("|S8"), [16], bytes(16)),
    "numbers the other way round": (array(">f8"), [16], bytes(16)),
    "a dtype that is a list": (array(["<f8"]), [16], bytes(16)),
    "a shape larger than its numbers": (array(shape=[3]), [16], bytes(16)),
    "a shape smaller than its numbers": (array(shape=[1]), [16], bytes(16)),
    "a shape that overflows to its size": (array(shape=[2**61 + 2]), [16], bytes(16)),
    "a shape that overflows twice": (array(shape=[2**32, 2**32]), [0], b""),
    "a shape of nothing, times very much": (array(shape=[0, 2**70]), [0], b""),
    "a shape of nothing, without end": (array(shape=[2**50, 0]), [0], b""),
    "a negative shape": (array(shape=[-1, -2]), [16], bytes(16)),
    "a negative axis of nothing": (array(shape=[-1, 0]), [0], b""),
    "a shape of truth": (array(shape=[True, 2]), [16], bytes(16)),
    "a shape of floats": (array(shape=[2.0]), [16], bytes(16)),
    "a shape that is a string": (array(shape="2"), [16], bytes(16)),
    "a shape of 100 axes": (array(shape=[1] * 100), [8], bytes(8)),
    "an array without numbers": (array(), [], b""),
    "an array of one word": ({"array": ["<f8"]}, [], b""),
    "an array that is a number": ({"array": 1}, [], b""),
    "an origin with a tag in it": (array("<f8", [2], "<b>float64", "cpu"), [16], bytes(16)),
    "an origin with a colour": (array("<f8", [2], "\x1b[31mfloat64", "cpu"), [16], bytes(16)),
    "an origin without end": (array("<f8", [2], "f" * 50, "cpu"), [16], bytes(16)),
    "sizes that are an object": (None, {}, b""),
    "a negative size": (None, [-1], b""),
    "a size of truth": (None, [True], b"x"),
    "a size beyond every limit": (None, [1 << 40], b""),
    "sizes that sum beyond the limit": (None, [1 << 25] * 3, b""),
    "too many sizes": (None, [0] * 20_000, b""),
    "half a letter": ("\ud800", [], b""),
    "half a letter, deep inside": ({"list": ["\udc00"]}, [], b""),
    "more than was announced": (None, [1], b"xy"),
}
TEXTS = {
    "no JSON": b"....",
    "JSON that is no pair": b"1",
    "JSON of three": b"[1,2,3]",
    "no UTF-8": b'["\xff",[]]',
    "half a letter in bytes": b'["\xed\xa0\x80",[]]',
    "UTF-16, which JSON would guess": "[null,[]]".encode("utf-16-le"),
    "nested beyond the stack": b"[" * 200_000,
    "objects beyond the stack": b'{"":' * 100_000,
    "an integer of a million digits": b"[" + b"9" * 1_000_000 + b",[]]",
}


def test_the_name_of_a_class_is_short():
    assert decode({"held": ["held 1", "Counter"]}, []).kind == "Counter"
    assert decode({"held": ["held 1", "C" * 1000]}, []).kind == "function"


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_refused(lie):
    header, sizes, payload = LIES[lie]
    with pytest.raises(Unacceptable):
        decode(*Receiver().feed(message(header, sizes, payload)))


@pytest.mark.parametrize("what", TEXTS)
def test_what_is_no_header_is_refused(what):
    with pytest.raises(Unacceptable):
        Receiver().feed(struct.pack("<I", len(TEXTS[what])) + TEXTS[what])


@pytest.mark.parametrize("length", [codec.HEADER_AT_MOST + 1, 0xFFFF_FFFF])
def test_a_header_that_announces_too_much_is_refused_at_once(length):
    with pytest.raises(Unacceptable):
        Receiver().feed(struct.pack("<I", length))


def test_a_true_message_of_the_same_make_is_accepted():
    """The two tests above refuse for the reason they name, not for how they are written."""
    for header, sizes, payload in [
        (array(), [16], bytes(16)),
        (array("<f8", [2], "float64", "cpu"), [16], bytes(16)),
        (array(shape=[0, 7]), [0], b""),
        ({"int": "9" * 1000}, [], b""),
        ({"dict": [[{"int": str(n)}, None] for n in range(1000)]}, [], b""),
        ("\ud83d\ude00", [], b""),
        ("a literal \\ud800", [], b""),
    ]:
        decode(*Receiver().feed(message(header, sizes, payload)))


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())
KINDS = st.sampled_from(["array", "int", "float", "list", "tuple", "dict"])
JSON = st.recursive(
    LEAVES | st.sampled_from(DTYPES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KINDS, inner, max_size=2),
    max_leaves=12,
)


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON, st.lists(st.integers(-1, 40), max_size=3), st.binary(max_size=60))
def test_whatever_is_sent_nothing_but_a_refusal_comes_of_it(header, sizes, payload):
    with contextlib.suppress(Unacceptable):
        if got := Receiver().feed(message(header, sizes, payload)):
            decode(*got)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_noise_is_refused_or_waits_for_more(noise):
    with contextlib.suppress(Unacceptable):
        assert Receiver().feed(noise) is None


@pytest.mark.parametrize(
    "header, sizes",
    [(array(shape=[1 << 40]), [0]), (array(shape=[1 << 22]), [1 << 25]), (None, [1 << 26])],
)
def test_no_memory_is_taken_for_what_is_only_announced(header, sizes):
    data = message(header, sizes)
    tracemalloc.start()
    with contextlib.suppress(Unacceptable):
        if got := Receiver().feed(data):
            decode(*got)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize(
    "value",
    [object(), {1, 2}, 1j, np.array([None]), np.array(["a"]), np.array([1j]), b"bytes", 1 << 5000],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_cross_is_not_sent(value):
    with pytest.raises(Unacceptable):
        encode(value, [])


def test_what_is_too_large_is_not_sent():
    with pytest.raises(Unacceptable):
        pack(None, [bytes(codec.PAYLOAD_AT_MOST + 1)])
    with pytest.raises(Unacceptable):
        pack("a" * codec.HEADER_AT_MOST)
    with pytest.raises(Unacceptable):
        encode(dict.fromkeys(range(2000)), [])


@pytest.mark.parametrize(
    "message",
    [
        {"list": ["a" * (codec.LETTERS + 1), ""]},
        {"list": [None] * (codec.VALUES + 1)},
        {"list": [{"list": [None] * 1000}] * (codec.VALUES // 1000)},
        {"dict": [["a", {"tuple": [True] * codec.VALUES}]]},
    ],
)
def test_strings_and_lists_are_not_long(message):
    """NumPy gives each string of a list the room of the longest: megabytes became terabytes."""
    with pytest.raises(Unacceptable):
        decode(message, [])


@pytest.mark.parametrize("value", ["a" * (codec.LETTERS + 1), [None] * codec.VALUES])
def test_what_would_be_refused_is_not_sent(value):
    with pytest.raises(Unacceptable):
        encode(value, [])


def wrapped(times: int, wrap) -> object:
    """None in as many containers; its own depth is `times`."""
    value = None
    for _ in range(times):
        value = wrap(value)
    return value


@pytest.mark.parametrize(
    ("wrap", "wrap_coded"),
    [
        (lambda inner: [inner], lambda inner: {"list": [inner]}),
        (lambda inner: (inner,), lambda inner: {"tuple": [inner]}),
        (lambda inner: {"key": inner}, lambda inner: {"dict": [["key", inner]]}),
    ],
    ids=["list", "tuple", "dict"],
)
def test_both_sides_count_the_same_depth(wrap, wrap_coded):
    deepest, coded = wrapped(codec.DEPTH, wrap), wrapped(codec.DEPTH, wrap_coded)
    assert same(across(deepest), deepest) and same(decode(coded, []), deepest)
    with pytest.raises(Unacceptable):
        encode(wrap(deepest), [])
    with pytest.raises(Unacceptable):
        decode(wrap_coded(coded), [])


def test_the_key_of_a_dict_is_one_deeper_than_the_dict():
    key = wrapped(codec.DEPTH - 1, lambda inner: (inner,))
    coded = wrapped(codec.DEPTH - 1, lambda inner: {"tuple": [inner]})
    assert same(across({key: 1}), {key: 1})
    assert same(decode({"dict": [[coded, None]]}, []), {key: None})
    with pytest.raises(Unacceptable):
        encode({(key,): 1}, [])
    with pytest.raises(Unacceptable):
        decode({"dict": [[{"tuple": [coded]}, None]]}, [])


@pytest.mark.parametrize(
    ("largest", "too_large"),
    [
        ("a" * codec.LETTERS, "a" * (codec.LETTERS + 1)),
        ([None] * (codec.VALUES // 2), [None] * (codec.VALUES // 2 + 1)),
        ((None,) * (codec.VALUES // 2), (None,) * (codec.VALUES // 2 + 1)),
        (dict.fromkeys(range(codec.ENTRIES)), dict.fromkeys(range(codec.ENTRIES + 1))),
        (1 << codec.BITS - 1, 1 << codec.BITS),
    ],
    ids=["string", "list", "tuple", "dict", "integer"],
)
def test_the_largest_that_may_cross_does_and_one_more_is_not_sent(largest, too_large):
    assert same(across(largest), largest)
    with pytest.raises(Unacceptable):
        encode(too_large, [])


@pytest.mark.parametrize(
    ("largest", "too_large"),
    [
        ("a" * codec.LETTERS, "a" * (codec.LETTERS + 1)),
        ({"list": [None] * (codec.VALUES - 1)}, {"list": [None] * codec.VALUES}),
        (
            {"dict": [[str(n), None] for n in range(codec.ENTRIES)]},
            {"dict": [[str(n), None] for n in range(codec.ENTRIES + 1)]},
        ),
        (array(shape=[2] + [1] * (codec.AXES - 1)), array(shape=[2] + [1] * codec.AXES)),
        (array(shape=[2]), {"array": ["<f8", [2], "float64"]}),
        (array(shape=[2]), {"array": ["<f8", [2], "float64", "cpu", ""]}),
        (array(shape=[2]), array("<f8", [2], "float64", 7)),
        ({"held": ["held 123456", "C"]}, {"held": ["held 1234567", "C"]}),
        ({"held": ["held 1", "C"]}, {"held": [1, "C"]}),
        ({"lent": 1}, {"lent": "1"}),
        ({"lent": 1}, {"lent": True}),
    ],
)
def test_the_largest_that_may_arrive_does_and_one_more_is_refused(largest, too_large):
    decode(largest, [bytes(16)])
    with pytest.raises(Unacceptable):
        decode(too_large, [bytes(16)])


def test_an_axis_has_a_limit_also_where_nothing_is_in_the_array():
    assert decode(array(shape=[codec.AXIS_AT_MOST, 0]), [b""]).shape == (codec.AXIS_AT_MOST, 0)
    with pytest.raises(Unacceptable):
        decode(array(shape=[codec.AXIS_AT_MOST + 1, 0]), [b""])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("C" * codec.KIND, "C" * codec.KIND), ("C" * (codec.KIND + 1), "function")]
    + [(kind, "function") for kind in ("<b>", "a b", "", 7, None)],
)
def test_a_class_has_a_name_that_a_class_can_have(kind, expected):
    held = decode({"held": ["held 7", kind]}, [])
    assert (held.what, held.kind) == ("held 7", expected)


def test_functions_cross_as_numbers_and_names():
    lent, held = across([Callback(12), Handle("held 3", "Counter")])
    assert lent == Callback(12) and held == Handle("held 3", "Counter")


def test_a_message_is_packed_up_to_each_limit_and_read_again():
    letters = "a" * (codec.HEADER_AT_MOST - len(json.dumps(["", []])))
    many = [b""] * codec.ARRAYS_AT_MOST
    for header, buffers, payload in [(letters, [], 0), (None, many, 0), (None, [b"ab", b"c"], 3)]:
        packed = pack(header, buffers, payload)
        assert Receiver(payload).feed(packed) == (header, buffers)
    for header, buffers, payload in [
        (letters + "a", [], 0), (None, [*many, b""], 0), (None, [b"ab", b"c"], 2)
    ]:  # fmt: skip
        with pytest.raises(Unacceptable):
            pack(header, buffers, payload)


@pytest.mark.parametrize("sizes", [[0] * (codec.ARRAYS_AT_MOST + 1), [2, 2], [4], [3, -1], [1.0]])
def test_sizes_beyond_what_the_receiver_allows_are_refused(sizes):
    with pytest.raises(Unacceptable):
        Receiver(payload=3).feed(message(None, sizes))


def test_a_message_waits_for_its_last_byte():
    data, receiver = pack("x", [b"ab", b"", b"cde"]), Receiver()
    for start in range(len(data) - 1):
        assert receiver.feed(data[start : start + 1]) is None
    assert receiver.feed(data[-1:]) == ("x", [b"ab", b"", b"cde"])


def test_the_students_side_sends_and_waits_for_whole_messages():
    here, there = socket.socketpair()
    with there:
        with here:
            for message in [({"x": 1}, [bytes(100_000), b"ab"]), ("last", [])]:
                send(here, *message)
                assert receive(there) == message
        with pytest.raises(EOFError):
            receive(there)
