"""Proofs that hold, kept by what they depend on: an unchanged exercise is not proved again.

A proof depends on the exercise's folder and entry, on the code that proves, on what of course_lib
the folder imports, on the versions of Python and its libraries, and on the seeds. That no library
call answers the exercise depends on the whole of course_lib besides, and is kept apart.
"""

import ast
import json
import platform
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from autograder.exercises.assignment import CodeExercise, Exercise
from autograder.exercises.new import unfilled
from autograder.exercises.proof import Proof
from autograder.exercises.prove import CodeProof, prove
from autograder.files import digest_of, files_below, write_atomically
from autograder.paths import ROOT

PACKAGES = ("numpy", "torch", "scipy", "array-api-compat", "jaxtyping")


class ProofCache:
    """One file for each exercise and number of seeds: what is proved anew takes its place."""

    def __init__(self, folder: Path, root: Path = ROOT):
        """`root` holds course_lib and autograder."""
        self.folder, self.root = folder, root

    def find(self, exercise: Exercise, seeds: int) -> Proof | None:
        """What it came to when nothing that it depends on was different, or None."""
        kept = self._read(exercise, seeds)
        return Proof(**kept["proof"]) if kept and kept["course_lib"] == self._course_lib else None

    def prove(self, exercise: Exercise, seeds: int, afresh: bool = False) -> Proof:
        """Anew, or only whether a call of course_lib is an answer where all else is as it was."""
        kept = None if afresh else self._read(exercise, seeds)
        if kept:
            proof = Proof(**kept["proof"])
            if isinstance(exercise, CodeExercise):
                proof.faults = CodeProof(exercise, seeds).library_calls()
        else:
            proof = prove(exercise, seeds)
        self.keep(exercise, seeds, proof)
        return proof

    def keep(self, exercise: Exercise, seeds: int, proof: Proof) -> None:
        """Only if it holds: what is refused may have been too slow, or be told anew."""
        if proof.holds:
            kept = {
                "depends_on": self.depends_on(exercise),
                "course_lib": self._course_lib,
                "proof": asdict(proof),
            }
            write_atomically(self._path(exercise, seeds), json.dumps(kept, indent=1) + "\n")

    def _read(self, exercise: Exercise, seeds: int) -> dict[str, Any] | None:
        """What is kept, if the exercise and what proves it are as they were."""
        try:
            kept: dict[str, Any] = json.loads(self._path(exercise, seeds).read_text())
            return kept if kept["depends_on"] == self.depends_on(exercise) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None  # there is none, or it is damaged

    def _path(self, exercise: Exercise, seeds: int) -> Path:
        return self.folder / f"{exercise.folder.parent.name}.{exercise.name}.{seeds}.json"

    def depends_on(self, exercise: Exercise) -> str:
        """A digest; equal ones, equal proofs."""
        folder = exercise.folder
        own = files_below(folder) if folder.is_dir() else []
        entry = {key: value for key, value in asdict(exercise).items() if key != "folder"}
        places = [str(path.relative_to(folder.parent)) for path, _ in unfilled(exercise)]
        return digest_of(
            own,
            folder.parent,
            json.dumps(entry, sort_keys=True, default=str),
            *places,
            self._machinery,
            digest_of(self._imported_by(own), self.root),
        )

    @cached_property
    def _course_lib(self) -> str:
        files = files_below(self.root / "course_lib")
        return digest_of((path for path in files if path.suffix == ".py"), self.root)

    @cached_property
    def _machinery(self) -> str:
        folders = (self.root / "course_lib" / "checking", self.root / "autograder" / "exercises")
        blank = self.root / "autograder" / "exercises" / "blank"
        files = (path for folder in folders for path in files_below(folder))
        sources = (path for path in files if path.suffix == ".py" and blank not in path.parents)
        return digest_of(sources, self.root, *_versions())

    def _imported_by(self, files: Iterable[Path]) -> list[Path]:
        """The modules of course_lib that these files use, and all that those use."""
        waiting = [path for path in files if path.suffix == ".py"]
        used: set[Path] = set()
        while waiting:
            for module in _modules_of(waiting.pop(), self.root):
                if module not in used:
                    used.add(module)
                    waiting.append(module)
        return sorted(used)


def _modules_of(path: Path, root: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.partition(".")[0] == "course_lib" and "checking" not in name.split("."):
                yield from _files_of(name, root)


def _files_of(name: str, root: Path) -> Iterator[Path]:
    """Where a dotted name comes from; if that cannot be told, everything."""
    library = root / "course_lib"
    *packages, last = name.split(".")
    folder = root.joinpath(*packages)
    for path in (folder / f"{last}.py", folder / last / "__init__.py", folder.with_suffix(".py")):
        if path.is_file() and path != library / "__init__.py":
            yield path
            return
    module = _exported(library / "__init__.py").get(last)
    if packages == ["course_lib"] and module:
        yield root / module
    else:
        yield from (path for path in files_below(library) if path.suffix == ".py")


@cache
def _exported(init: Path) -> dict[str, Path]:
    """Name in course_lib -> the file below its parent that defines it."""
    nodes = [n for n in ast.parse(init.read_text()).body if isinstance(n, ast.ImportFrom)]
    return {
        alias.asname or alias.name: Path(*(node.module or "").split(".")).with_suffix(".py")
        for node in nodes
        for alias in node.names
    }


@cache
def _versions() -> tuple[str, ...]:
    return (platform.python_version(), platform.machine(), *map(_version, PACKAGES))


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} is not here"
