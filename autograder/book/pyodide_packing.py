"""Python files as a reader's browser gets them: compiled for its Python, and packed.

Pyodide's own library, NumPy's wheel and our files hold sources, and to compile them was half of
what a start took. Pyodide compiles them here, under node, for the very Python that reads them.
"""

import gzip
import io
import json
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import files, version
from pathlib import Path

from filelock import FileLock

from autograder.book import runtime
from autograder.files import digest_of
from autograder.typeset.katex import node_binary

LIBRARIES = ("array-api-compat", "jaxtyping", "wadler-lindig")
"""What course_lib imports beside NumPy."""
STANDARD, OTHERS = "standard.packed", "libraries.packed"
COURSE = "/course"
FOR_COMPILERS = (".pyi", ".pxd", ".h", ".a", ".c", ".pyx")
COMPILE = """
import { pathToFileURL } from "node:url";
const [pyodide, trees] = JSON.parse(process.argv[1]);
const { loadPyodide } = await import(pathToFileURL(pyodide));
const python = await loadPyodide();
const { compile_dir } = python.pyimport("compileall");
const unchecked = python.pyimport("py_compile").PycInvalidationMode.UNCHECKED_HASH;
for (const [number, { folder, home, alone }] of trees.entries()) {
  const tree = `/tree${number}`;
  python.mountNodeFS(tree, folder);
  const how = { quiet: 1, ddir: home, legacy: alone, invalidation_mode: unchecked };
  if (!compile_dir.callKwargs(tree, how)) process.exitCode = 1;
}
"""
COMPILING = "Compiling Python's library and NumPy for the pages, once."


@dataclass(frozen=True)
class Tree:
    """Files that are compiled; with `alone`, the compiled ones take the place of the sources."""

    folder: Path
    home: str = COURSE  # where the browser will have them
    alone: bool = False


def pack(trees: dict[Path, Tree]) -> None:
    """Write each tree to its archive, a zip file that gzip has compressed as a whole.

    A browser undoes that while it loads, far faster than Python in it unpacks a compressed zip.
    """
    asked = [vars(tree) | {"folder": str(tree.folder)} for tree in trees.values()]
    pyodide = str(runtime.FOLDER / "pyodide.mjs")
    done = subprocess.run(
        [node_binary(), "--input-type=module", "--eval", COMPILE, json.dumps([pyodide, asked])],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"Pyodide could not compile:\n{done.stdout}{done.stderr}")
    for archive, tree in trees.items():
        for compiled in tree.folder.rglob("*.pyc") if tree.alone else ():
            compiled.with_suffix(".py").unlink()
        _write_zip(tree.folder, archive)


def packed_once(tell: Callable[[str], None] = lambda message: None) -> Path:
    """The folder with what all chapters share, made anew when what it is made from has changed."""
    folder = runtime.FOLDER / "packed"
    made_from = folder / "made-from"
    with FileLock(f"{runtime.FOLDER}.lock"):
        if not (made_from.is_file() and made_from.read_text() == digest()):
            tell(COMPILING)
            made_from.unlink(missing_ok=True)
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory() as temporary:
                standard, others = Path(temporary, "standard"), Path(temporary, "others")
                _unzip("python_stdlib.zip", standard)
                _unzip(runtime.NUMPY, others)
                _copy_libraries(others)
                pack(
                    {
                        folder / STANDARD: Tree(standard, "/lib/python314.zip", alone=True),
                        folder / OTHERS: Tree(others, alone=True),
                    }
                )
            made_from.write_text(digest())
    return folder


def digest() -> str:
    """Of all that the shared archives are made from; equal digests, equal archives."""
    versions = [version(library) for library in LIBRARIES]
    here = Path(__file__)
    return digest_of([here], here.parent, *runtime.SHA256.values(), *versions)


def _unzip(name: str, folder: Path) -> None:
    with zipfile.ZipFile(runtime.FOLDER / name) as archive:
        wanted = [file for file in archive.namelist() if not file.endswith(FOR_COMPILERS)]
        archive.extractall(folder, wanted)


def _copy_libraries(folder: Path) -> None:
    for library in LIBRARIES:
        for file in files(library) or ():
            code = file.suffix == ".py" and "tests" not in file.parts
            if code or ".dist-info" in file.parts[0]:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), folder / file)


def _write_zip(folder: Path, archive: Path) -> None:
    """With __pycache__, which is what it is about, and stored: gzip compresses the whole."""
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_STORED) as into:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                into.write(path, path.relative_to(folder).as_posix())
    archive.write_bytes(gzip.compress(stored.getvalue(), mtime=0))
