"""What the tests share is made once, whole, and watched."""

import pytest

from tests.shared import SharedFolders
from tests.waiting import wait_until


def make(folder):
    (folder / "file").write_text("made")


def test_a_second_worker_finds_what_the_first_has_made(tmp_path):
    first = SharedFolders(tmp_path).get("course", make)
    again = SharedFolders(tmp_path).get("course", lambda _: pytest.fail("made twice"))
    assert again == first and (again / "file").read_text() == "made"


def test_what_was_not_finished_is_made_anew(tmp_path):
    def breaks_off(folder):
        (folder / "half").touch()
        raise KeyboardInterrupt

    folders = SharedFolders(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        folders.get("course", breaks_off)
    assert [path.name for path in folders.get("course", make).iterdir()] == ["file"]


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "file").write_text("changed"),
        lambda folder: (folder / "file").unlink(),
        lambda folder: (folder / "new").touch(),
    ],
)
def test_a_change_is_seen(tmp_path, change):
    folders = SharedFolders(tmp_path)
    folder = folders.get("course", make)
    assert folders.changed() == []
    change(folder)
    assert folders.changed() != []


def test_waiting_ends_with_the_state_or_with_the_time():
    states = iter([0, None, "ready"])
    assert wait_until(lambda: next(states), 5) == "ready"
    with pytest.raises(AssertionError, match="after 0.05 s"):
        wait_until(lambda: False, 0.05)
