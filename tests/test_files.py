"""Files are there whole, the old or the new, whenever somebody looks or is killed."""

import ast
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from autograder.files import (
    UNFINISHED,
    digest_of,
    files_below,
    open_atomically,
    write_atomically,
    zip_folder,
)
from autograder.roster.csv_tables import write_sheet

ROOT = Path(__file__).parents[1]
AS_ROOT = os.geteuid() == 0


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def mask():
    """022, whatever this machine has."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_new_file_has_what_the_mask_leaves_and_an_old_one_keeps_its_own(tmp_path, mask):
    path = tmp_path / "new" / "students.csv"
    write_atomically(path, "ä\r\n")
    assert path.read_bytes() == "ä\r\n".encode()
    assert mode_of(path) == 0o644
    path.chmod(0o660)
    write_atomically(path, b"again")
    assert (path.read_bytes(), mode_of(path)) == (b"again", 0o660)
    write_atomically(path, "secret", mode=0o600)
    assert mode_of(path) == 0o600


def test_a_secret_is_one_from_the_moment_it_exists(tmp_path, mask, monkeypatch):
    created = []
    create = os.open
    monkeypatch.setattr(os, "open", lambda *given: created.append(given[2]) or create(*given))
    with open_atomically(tmp_path / "key", mode=0o600):
        (unfinished,) = tmp_path.glob(UNFINISHED)
        assert mode_of(unfinished) == 0o600
    write_atomically(tmp_path / "key", "still")
    assert mode_of(tmp_path / "key") == 0o600
    assert created == [0o600, 0o600]


def test_the_mask_of_other_threads_is_left_alone(tmp_path, mask):
    """os.umask is of the whole process: whoever sets it to look opens the files of others."""
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            write_atomically(tmp_path / "a", "x")
            (tmp_path / "a").unlink()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(300):
            (tmp_path / f"other{number}").touch()
    finally:
        stop.set()
        writer.join()
    assert {mode_of(path) for path in tmp_path.glob("other*")} == {0o644}


def test_a_link_is_replaced_except_where_it_is_the_instructors_own_table(tmp_path):
    shared, link = tmp_path / "shared.csv", tmp_path / "students.csv"
    shared.write_text("before")
    link.symlink_to(shared)
    write_sheet(link, [["id"], ["ada"]])
    assert link.is_symlink()
    assert shared.read_bytes() == b"id\r\nada\r\n"
    write_atomically(link, "ours")
    assert not link.is_symlink()
    assert (link.read_text(), shared.read_bytes()) == ("ours", b"id\r\nada\r\n")
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "nowhere")
    write_atomically(dangling, "x")
    assert not (tmp_path / "nowhere").exists()


def test_what_is_no_file_is_written_to_and_never_replaced(tmp_path):
    """course export --to /dev/stdout, as root, too."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    write_sheet(pipe, [["id"]])
    assert reader.communicate(timeout=20)[0] == b"id\r\n"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="folder"):
        write_atomically(tmp_path / "folder", "x")


def test_an_exception_on_the_way_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "moodle.zip"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), open_atomically(path) as file:
        file.write(b"%d" % (file.write(b"half") // 0))
    with pytest.raises(FileNotFoundError, match="page.html"), open_atomically(path):
        (tmp_path / "page.html").read_bytes()  # the message names what is missing
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["moodle.zip"]


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path):
    """A limit on the size of files stands for the disk."""
    path = tmp_path / "students.csv"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=r"File too large: .*students\.csv"):
            write_atomically(path, "x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["students.csv"]


@pytest.mark.parametrize("letter", ["x", "ü", "𝔵"])
def test_a_name_may_be_as_long_as_the_system_allows_and_no_longer(tmp_path, letter):
    width = len(letter.encode())
    longest = tmp_path / (letter * (255 // width))
    write_atomically(longest, "x")
    assert longest.read_text() == "x"
    too_long = tmp_path / (letter * (255 // width + 1))
    with pytest.raises(OSError, match="File name too long") as failure:
        write_atomically(too_long, "x")
    assert failure.value.filename == str(too_long)
    assert os.listdir(tmp_path) == [longest.name]


def test_where_one_may_not_write_the_error_names_the_file(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=str(tmp_path / "file")):
        write_atomically(tmp_path / "file" / "students.csv", "x")
    if AS_ROOT:  # who may write everywhere, but not here
        folder = Path("/proc/self/task")
    else:
        folder.chmod(0o500)
    with pytest.raises(OSError, match="students.csv") as failure:
        write_atomically(folder / "students.csv", "x")
    assert failure.value.filename == str(folder / "students.csv")


LOOP = """
import sys
from itertools import cycle
from pathlib import Path
from autograder.files import write_atomically, zip_folder
folder = Path(sys.argv[2])
print("writing", flush=True)
for letter in cycle("ab"):
    if sys.argv[1] == "table":
        write_atomically(folder / "table.csv", letter * 2_000_000)
    else:
        zip_folder(folder / "pages", folder / "feedback.zip")
"""


@pytest.mark.parametrize("looks", [1, 5, 25])
@pytest.mark.parametrize("what", ["table", "zip"])
def test_killed_at_any_moment_it_leaves_the_old_file_or_the_new(tmp_path, what, looks):
    """And whoever reads meanwhile meets one of them."""
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "page.html").write_bytes(os.urandom(1_000_000))
    write_atomically(tmp_path / "table.csv", "a" * 2_000_000)
    zip_folder(pages, tmp_path / "feedback.zip")
    command = [sys.executable, "-c", LOOP, what, tmp_path]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as writer:
        try:
            assert writer.stdout.readline() == b"writing\n"
            for _ in range(looks):
                _is_whole(tmp_path)
        finally:
            writer.send_signal(signal.SIGKILL)
    _is_whole(tmp_path)


def _is_whole(folder: Path) -> None:
    table = (folder / "table.csv").read_bytes()
    assert table in (b"a" * 2_000_000, b"b" * 2_000_000), len(table)
    with zipfile.ZipFile(folder / "feedback.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["pages/page.html"]


def test_a_zip_holds_each_file_once_under_the_folders_name_and_no_cache(tmp_path):
    folder = tmp_path / "03_softmax"
    for name in ("a.py", "data/b.txt", "__pycache__/a.pyc", "data/.ipynb_checkpoints/b.ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "empty").mkdir()
    assert files_below(folder) == [folder / "a.py", folder / "data" / "b.txt"]
    target = zip_folder(folder, tmp_path / "made" / "a.zip")
    with zipfile.ZipFile(target) as archive:
        assert archive.namelist() == ["03_softmax/a.py", "03_softmax/data/b.txt"]
        assert archive.read("03_softmax/data/b.txt") == b"data/b.txt"


def test_a_digest_tells_names_contents_order_and_words_apart(tmp_path):
    def digest(files: dict[str, str], *besides: str) -> str:
        folder = tmp_path / str(len(os.listdir(tmp_path)))
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        folder.mkdir(exist_ok=True)
        return digest_of(files_below(folder), folder, *besides)

    some = [
        digest({}),
        digest({"a": "b"}),
        digest({"ab": ""}),
        digest({"a": "", "b": ""}),
        digest({"a": "b"}, "c"),
        digest({"a": "b"}, "c", ""),
        digest({"x/a": "b"}),
    ]
    assert len(set(some)) == len(some)
    assert digest({"a": "b"}, "c") == some[4]  # wherever the folder lies


WRITERS = {"write_text", "write_bytes", "open", "ZipFile", "copy", "copyfile", "copytree", "move"}
WRITERS |= {"fdopen", "mkstemp", "NamedTemporaryFile", "to_csv", "savefig"}
MAY_WRITE_PLAINLY = {
    "autograder/files.py": "it is what the others use",
    "autograder/book": "the site is made in a folder of its own, which is moved when it is whole",
    "autograder/sandbox": "a student's world, made for one submission and thrown away",
    "autograder/demo": "a made-up class, made anew each time",
    "autograder/tools": "pins of this project, kept in git",
    "autograder/release/bundle.py": "into a release's temporary folder, moved when whole",
    "autograder/release/rubric.py": "the same",
    "autograder/release/wheel.py": "the same",
    "autograder/release/build.py": "the same",
    "autograder/release/handout": "a program of the student's",
    "autograder/grading/package.py": "in memory",
    "autograder/reports/figures.py": "in memory",
    "autograder/exercises/mutants.py": "a copy of a tree in memory",
    "autograder/classroom/collect.py": "into a temporary folder, before the best of them is put",
    "autograder/classroom/exchange.py": "into a copy, which is moved when it is whole",
    "autograder/classroom/feedback_zip.py": "through open_atomically",
    "autograder/typeset/katex.py": "what npm installs from, in a folder that it makes anew",
}


def may_write_plainly(path: Path) -> bool:
    name = path.relative_to(ROOT).as_posix()
    return any(f"{name}/".startswith(f"{allowed}/") for allowed in MAY_WRITE_PLAINLY)


def plain_writes(source: str) -> list[str]:
    return [ast.unparse(node) for node in ast.walk(ast.parse(source)) if _writes(node)]


def _writes(node: ast.AST) -> bool:
    """A call that makes or changes a file; `open` and `ZipFile` only with a mode that does."""
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
    if name not in WRITERS:
        return False
    if name in ("open", "ZipFile", "fdopen"):
        given = [*node.args, *(word.value for word in node.keywords if word.arg == "mode")]
        modes = [each.value for each in given if isinstance(each, ast.Constant)]
        return any(
            isinstance(mode, str) and set(mode) <= set("wax+bt") and set(mode) & set("wax+")
            for mode in modes
        )
    return True


SOURCES = [
    path for path in sorted((ROOT / "autograder").rglob("*.py")) if "blank" not in path.parts
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_kept_is_written_whole(path):
    """With autograder.files; whatever may be written otherwise has its reason above."""
    assert may_write_plainly(path) or plain_writes(path.read_text()) == []


def test_a_reason_is_given_only_for_what_is_there():
    for allowed in MAY_WRITE_PLAINLY:
        below = [path for path in SOURCES if path.is_relative_to(ROOT / allowed)]
        assert any(plain_writes(path.read_text()) for path in below), allowed


@pytest.mark.parametrize(
    "line",
    [
        'path.write_text("x")',
        'path.open("w")',
        'open(path, mode="ab")',
        'zipfile.ZipFile(path, "w")',
        "shutil.copy(a, b)",
    ],
)
def test_a_plain_write_is_found(line):
    assert plain_writes(line) == [ast.unparse(ast.parse(line))]


@pytest.mark.parametrize("line", ['path.open("rb")', "zipfile.ZipFile(path)", "path.read_text()"])
def test_reading_is_no_write(line):
    assert plain_writes(line) == []
