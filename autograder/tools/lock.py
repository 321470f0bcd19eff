"""Pin in requirements.lock all that pyproject.toml asks for, for every system: `make lock`.

Pins are kept where they still fit; `python -m autograder.tools.lock --upgrade` renews them all.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import uv
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from autograder.paths import ROOT

LOCK = ROOT / "requirements.lock"
HEADER = "# Made from pyproject.toml by `make lock`; edit that file instead.\n"

# the release for which the sizes and the Pythons in setup_course.py are true
HELD = "torch==2.13.0"

# on Linux torch itself asks for exact versions of these; pinned here they would also be
# installed beside a CPU build, which has no use for them
CUDA = re.compile(r"(nvidia|cuda|triton)\b")

# each is installed on one system only: where one is missing, the lock was made for this one alone
ONE_SYSTEM_ONLY = ["appnope", "colorama", "pexpect", "pywinpty"]


def resolve(upgrade: bool) -> str:
    """The whole closure as uv resolves it, one version of each package for all Pythons."""
    what = "pip compile pyproject.toml - --extra test --universal --python-version 3.11"
    how = "--fork-strategy fewest --no-header --no-annotate --quiet --output-file"
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / LOCK.name
        if LOCK.exists() and not upgrade:
            shutil.copy(LOCK, pins)  # uv keeps what it finds in its output file
        command = [uv.find_uv_bin(), *what.split(), *how.split(), str(pins)]
        subprocess.run(command, input=HELD, text=True, cwd=ROOT, check=True)
        lines = pins.read_text().splitlines()
    return HEADER + "".join(f"{line}\n" for line in lines if not CUDA.match(line))


def objections(lock: str, pyproject: dict[str, Any]) -> list[str]:
    """Every reason why this lock would not install the course on somebody's machine."""
    faults: list[str] = []
    pinned: dict[str, list[Requirement]] = {}
    for line in lock.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        try:
            pin = Requirement(line)
        except InvalidRequirement:
            faults.append(f"{line}: an option, a hash or no requirement at all")
            continue
        if not re.fullmatch(r"==[^*+]+", str(pin.specifier)):
            faults.append(f"{line}: not one exact version that the public index has")
        if CUDA.match(pin.name):
            faults.append(f"{line}: PyTorch brings CUDA where it is needed")
        pinned.setdefault(canonicalize_name(pin.name), []).append(pin)

    project = pyproject["project"]
    for text in project["dependencies"] + project["optional-dependencies"]["test"]:
        wanted = Requirement(text)
        pins = pinned.get(canonicalize_name(wanted.name), [])
        if not pins:
            faults.append(f"{text}: in pyproject.toml, but not pinned")
        for pin in pins:
            version = str(pin.specifier).removeprefix("==")
            if not wanted.specifier.contains(version, prereleases=True):
                faults.append(f"{pin}: outside the range of pyproject.toml, {text}")
    for name in ONE_SYSTEM_ONLY:
        if not any(pin.marker for pin in pinned.get(name, [])):
            faults.append(f"{name}: has no pin with a marker for its system")
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--upgrade", action="store_true", help="renew every pin")
    lock = resolve(parser.parse_args().upgrade)
    if faults := objections(lock, tomllib.loads((ROOT / "pyproject.toml").read_text())):
        sys.exit("\n".join([*faults, "requirements.lock is left as it was."]))
    LOCK.write_text(lock)
    print(f"requirements.lock: {lock.count('==')} packages pinned")


if __name__ == "__main__":
    main()
