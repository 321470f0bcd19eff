"""A folder that somebody else may write to is read by what was opened, never by a name."""

import os
import signal
from pathlib import Path

import pytest

from autograder.untrusted import (
    Fault,
    Refused,
    TooLarge,
    entries_below,
    open_beneath,
    printable,
    read_beneath,
)

SECRET = b"the teacher's own"
pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="a course folder is its owner's alone there"
)


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "private" / "secret"
    path.parent.mkdir()
    path.write_bytes(SECRET)
    return path


@pytest.fixture
def folder(tmp_path):
    """Which a student writes to."""
    path = tmp_path / "inbound"
    path.mkdir()
    path.chmod(0o777)
    (path / "own").write_bytes(b"own")
    return path


def link(folder: Path, secret: Path) -> tuple[str, ...]:
    (folder / "x").symlink_to(secret)
    return ("x",)


def link_above(folder: Path, secret: Path) -> tuple[str, ...]:
    (folder / "x").symlink_to(secret.parent)
    return ("x", secret.name)


def second_name(folder: Path, secret: Path) -> tuple[str, ...]:
    (folder / "x").hardlink_to(secret)
    return ("x",)


def pipe(folder: Path, secret: Path) -> tuple[str, ...]:
    os.mkfifo(folder / "x")
    return ("x",)


def folder_for_a_file(folder: Path, secret: Path) -> tuple[str, ...]:
    (folder / "x").mkdir()
    return ("x",)


def outwards(folder: Path, secret: Path) -> tuple[str, ...]:
    return ("..", secret.parent.name, secret.name)


def slash(folder: Path, secret: Path) -> tuple[str, ...]:
    return (f"../{secret.parent.name}/{secret.name}",)


TRICKS = {
    link: Fault.LINK,
    link_above: Fault.LINK,
    second_name: Fault.HARD_LINK,
    pipe: Fault.SPECIAL,
    folder_for_a_file: Fault.SPECIAL,
    outwards: Fault.LINK,
    slash: Fault.LINK,
}


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_no_trick_gives_another_file(folder, secret, trick):
    parts = trick(folder, secret)
    with pytest.raises(Refused) as refused, open_beneath(folder, *parts):
        pass
    assert refused.value.fault == TRICKS[trick]


def test_a_file_of_another_owner_is_refused(folder):
    with pytest.raises(Refused) as refused:
        read_beneath(folder, "own", at_most=10, owner=os.getuid() + 1)
    assert refused.value.fault == Fault.OTHER_OWNER
    assert read_beneath(folder, "own", at_most=10, owner=os.getuid()) == b"own"


def swap_for_ever(folder: Path, secret: Path) -> None:
    """A link takes the place of the file, and the file that of the link."""
    new = folder / "new"
    while True:
        new.symlink_to(secret)
        new.replace(folder / "own")
        new.write_bytes(b"own")
        new.replace(folder / "own")
        (folder / "d").rename(folder / "kept")
        (folder / "d").symlink_to(secret.parent)
        (folder / "d").unlink()
        (folder / "kept").rename(folder / "d")


def test_a_swap_between_a_look_and_a_read_gains_nothing(folder, secret):
    (folder / "d").mkdir()
    (folder / "d" / "secret").write_bytes(b"own")
    swapping = os.fork()
    if swapping == 0:
        try:
            swap_for_ever(folder, secret)
        finally:
            os._exit(1)
    seen: set[object] = set()
    try:
        for _ in range(5_000):
            for parts in (("own",), ("d", "secret")):
                try:
                    seen.add(read_beneath(folder, *parts, at_most=100))
                except Refused as refused:
                    seen.add(refused.fault)
    finally:
        os.kill(swapping, signal.SIGKILL)
        os.waitpid(swapping, 0)
    assert SECRET not in seen and {b"own", Fault.LINK} <= seen


def test_what_lies_below_is_listed_and_no_link_is_followed(folder, secret):
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "c").touch()
    (folder / "z").symlink_to(secret.parent)
    entries = list(entries_below(folder))
    assert [e for e in entries if isinstance(e, tuple)] == [("a", "b", "c"), ("own",)]
    ((refused),) = [e for e in entries if isinstance(e, Refused)]
    assert refused.parts == ("z",) and refused.fault == Fault.LINK
    faults = {e.fault for e in entries_below(folder, deep=0) if isinstance(e, Refused)}
    assert faults == {Fault.TOO_DEEP, Fault.LINK}
    last = list(entries_below(folder, at_most=2))[-1]
    assert isinstance(last, Refused) and last.fault == Fault.TOO_MANY


def test_a_file_that_has_grown_is_cut(folder):
    with pytest.raises(TooLarge):
        read_beneath(folder, "own", at_most=2)


def test_a_name_is_printable_and_cut():
    assert printable("a\x1b[2J\n\u202eb") == "a\\x1b[2J\\n\\u202eb"
    assert printable("نمی\u200cدانم") == "نمی\u200cدانم"
    assert len(printable("x" * 1000 + "y")) == 80 and printable("x" * 1000 + "y").endswith("xy")
