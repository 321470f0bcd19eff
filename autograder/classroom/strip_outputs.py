"""A notebook without its outputs, on standard output: `python strip_outputs.py FILE`.

A program of its own, so that what a notebook of 200 MB takes to read is not taken from the grader.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path

MEMORY = 1 << 30


def without_outputs(path: Path, seconds: float) -> bytes | None:
    """None if it is too large, takes longer, or is no notebook."""
    command = [sys.executable, "-I", __file__, str(path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout if done.returncode == 0 else None


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    notebook = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8-sig"))
    for cell in notebook["cells"]:
        if cell.get("cell_type") == "code":
            cell["outputs"] = []
    json.dump(notebook, sys.stdout)


if __name__ == "__main__":
    main()
