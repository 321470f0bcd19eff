"""Check, count, reset and hand in without JupyterLab; `course.py` in a bundle calls this."""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from course_lib.checking import percent
from course_lib.checking.answers import NoAnswer
from course_lib.checking.examine import examine
from course_lib.checking.work import Assignment, Work, WrongFile, table, why_nothing

HAND_IN, KEPT = Path("hand_in"), Path("kept")
LARGEST = 20 << 20
"""Bytes: beyond this many learning platforms refuse a file."""


def main(arguments: list[str] | None = None) -> int:
    """0: done; 1: an answer does not hold yet; 2: there is nothing that this could be done to."""
    asked = _parser().parse_args(arguments)
    assignment = Assignment.here()
    try:
        if assignment is None:
            raise WrongFile("No assignment lies in this folder. Go into the folder of one first.")
        work = Work.read(asked.file) if asked.file else Work.find(assignment)
        code: int = asked.do(assignment, work, asked)
        return code
    except WrongFile as fault:
        print(fault, file=sys.stderr)
        return 2


def check(assignment: Assignment, work: Work, asked: argparse.Namespace) -> int:
    names = asked.names or [e["name"] for e in assignment.exercises if e["kind"] != "proof"]
    cells, whole = work.code(), True
    print(f"{work.path.name}\n")
    for name in names:
        try:
            examined = examine(name, cells)
        except LookupError as unknown:
            print(unknown.args[0])
            whole = False
        except NoAnswer as nothing:
            print(f"{name}: {why_nothing(assignment.find(name), nothing, work)}\n")
            whole = False
        else:
            print(f"{examined.report}\n")
            whole = whole and examined.points == examined.most
    return 0 if whole else 1


def left(assignment: Assignment, work: Work, asked: argparse.Namespace) -> int:
    print(table(assignment, work.code(), work))
    return 0


def reset(assignment: Assignment, work: Work, asked: argparse.Namespace) -> int:
    exercise = assignment.find(asked.name)
    if exercise is None:
        names = ", ".join(e["name"] for e in assignment.exercises)
        raise WrongFile(f"No exercise is called {asked.name!r}; there are: {names}.")
    if _is_open(work.path):
        raise WrongFile(
            f"{work.path.name} is open in JupyterLab, which would not see the change. Write there\n"
            f"  reset({asked.name!r})\ninto the answer cell, alone, and run it; or close the "
            "notebook and type this again."
        )
    kept = KEPT / f"{work.path.stem}-{time.strftime('%Y-%m-%d-%H%M%S')}{work.path.suffix}"
    kept.parent.mkdir(exist_ok=True)
    shutil.copy(work.path, kept)
    text = work.path.read_text(encoding="utf-8-sig")
    change = percent.with_cell if work.path.suffix == ".py" else _with_cell
    _write(work.path, change(text, exercise["slug"], exercise["starter"]))
    print(f"{asked.name} is the starter again; the other answers are as they were.")
    print(f"The file as it was is kept in {kept}.")
    return 0


def submit(assignment: Assignment, work: Work, asked: argparse.Namespace) -> int:
    ours = {exercise["slug"] for exercise in assignment.exercises}
    if not ours & {cell["id"] for cell in work.cells}:
        raise WrongFile(
            f"{work.path} holds none of the answers of {assignment.stem}. Is it the file of "
            "another assignment?"
        )
    print(table(assignment, work.code(), work), end="\n\n")
    missing = [e["number"] for e in assignment.exercises if work.source(e) is None]
    if missing:
        print(f"The answer cells of {', '.join(missing)} are missing; they count as not written.")
    target = HAND_IN / f"{assignment.stem}.ipynb"
    target.parent.mkdir(exist_ok=True)
    _write(target, json.dumps(_to_hand_in(assignment, work), indent=1, ensure_ascii=False) + "\n")
    size = target.stat().st_size
    print(f"Hand in this file:  {target}  ({max(1, size >> 10)} kB, made from {work.path.name})")
    if work.version not in ("", assignment.version):
        print(
            f"Your file was begun in version {work.version}; the checks here are of "
            f"{assignment.version}. It is graded by the newest."
        )
    if size > LARGEST:
        print("It is large: photographs of 1600 pixels are large enough. It may be refused.")
    if not any(map(work.attempted, assignment.exercises)):
        print("Nothing is written in it yet: handed in as it is, it earns nothing.")
    return 0


def _to_hand_in(assignment: Assignment, work: Work) -> dict[str, Any]:
    """A notebook without outputs: the grader runs every cell anew."""
    text = work.path.read_text(encoding="utf-8-sig")
    if work.path.suffix == ".py":
        return percent.as_notebook(text, assignment.stem, assignment.version)
    notebook: dict[str, Any] = json.loads(text)
    for cell in notebook["cells"]:
        if cell.get("cell_type") == "code":
            cell |= {"outputs": [], "execution_count": None}
    version = work.version or assignment.version
    notebook["metadata"]["course"] = {"assignment": assignment.stem, "version": version}
    return notebook


def _with_cell(text: str, name: str, source: str) -> str:
    notebook = json.loads(text)
    cells = [
        cell
        for cell in notebook["cells"]
        if name in (cell.get("metadata", {}).get("nbgrader", {}).get("grade_id"), cell.get("id"))
    ]
    if not cells:
        raise WrongFile(
            "Its cell is not in the notebook any more. Take the notebook of the bundle anew, and "
            "copy your answers into it."
        )
    for cell in cells:
        cell["source"] = source.splitlines(keepends=True)
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _is_open(path: Path) -> bool:
    """Whether a JupyterLab of this user has a kernel for the notebook."""
    try:
        from jupyter_server.serverapp import list_running_servers
    except ImportError:
        return False
    return any(path.resolve() in _sessions(server) for server in list_running_servers())


def _sessions(server: dict[str, Any]) -> list[Path]:
    from urllib.request import Request, urlopen

    asking = Request(
        f"{server['url']}api/sessions", headers={"Authorization": f"token {server['token']}"}
    )
    try:
        with urlopen(asking, timeout=5) as answer:
            sessions = json.load(answer)
    except (OSError, ValueError):
        return []  # it has ended, or speaks to nobody
    return [(Path(server["root_dir"]) / session["path"]).resolve() for session in sessions]


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8", newline="\n")
    new.replace(path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python course.py", description=__doc__)
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(do: Any, says: str, example: str) -> argparse.ArgumentParser:
        one = verbs.add_parser(
            do.__name__, help=says, description=says, epilog=f"Example: python course.py {example}"
        )
        one.set_defaults(do=do)
        one.add_argument("--file", type=Path, help="the file with your answers, if it was renamed")
        return one

    one = verb(check, "Say what holds in one answer, or in all of them.", "check softmax")
    one.add_argument("names", nargs="*", metavar="NAME", help="as in check(...)")
    verb(left, "List the exercises: what holds, what was never attempted.", "left")
    one = verb(reset, "Put the starter back in one exercise; the file is kept.", "reset softmax")
    one.add_argument("name", metavar="NAME", help="as in check(...)")
    verb(submit, "Make the file to hand in, and say what will be graded.", "submit")
    return parser


if __name__ == "__main__":
    sys.exit(main())
