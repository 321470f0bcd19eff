"""What the files of the set-up promise: pins for everybody, one copy of them, no dead pointer."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml

from autograder.commands.cli import main
from autograder.tools.lock import CUDA, objections

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text()
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_lock_installs_the_course_everywhere():
    assert objections(LOCK, PYPROJECT) == []


def test_the_citation_is_of_this_version_and_names_nobody_who_does_not_exist():
    """Its fields are those that the Citation File Format 1.2.0 asks for; no identifier is made up.

    Persons have family-names, an entity has a name.
    """
    given = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert given["version"] == PYPROJECT["project"]["version"]
    assert {"cff-version", "message", "title", "authors"} <= set(given)
    assert given["authors"] == [{"name": "The Mathematics of Attention contributors"}]
    assert isinstance(given["date-released"], date)
    assert not {"doi", "identifiers"} & set(given)


def without(name):
    return re.sub(rf"^{name}==.*\n", "", LOCK, flags=re.MULTILINE)


TORCH = re.search("^torch==.*", LOCK, re.MULTILINE).group()
BAD_LOCKS = {
    "a local build of torch": (LOCK.replace(TORCH, TORCH + "+cpu"), "+cpu: not one exact version"),
    "an nvidia pin": (
        LOCK + "nvidia-cublas==13.1.1.3\n",
        "nvidia-cublas==13.1.1.3: PyTorch brings",
    ),
    "a cuda pin": (LOCK + "cuda-toolkit==13.0.3.0\n", "cuda-toolkit==13.0.3.0: PyTorch brings"),
    "a triton pin": (LOCK + "triton==3.7.1\n", "triton==3.7.1: PyTorch brings"),
    "an option": ("--find-links /wheels\n" + LOCK, "--find-links /wheels: an option"),
    "an address": (LOCK + "six @ https://example.org/six.whl\n", "six.whl: not one exact version"),
    "a hash": (LOCK + "    --hash=sha256:00\n", "--hash=sha256:00: an option, a hash"),
    "a range": (LOCK + "six>=1\n", "six>=1: not one exact version"),
    "a wildcard": (LOCK + "six==1.*\n", "six==1.*: not one exact version"),
    "no pin of a dependency": (
        without("matplotlib"),
        "matplotlib>=3.9: in pyproject.toml, but not",
    ),
    "no pin of a tool": (without("codespell"), "codespell>=2.3: in pyproject.toml, but not pinned"),
    "a pin out of range": (
        without("jupyterlab") + "jupyterlab==5.0.0\n",
        "jupyterlab==5.0.0: outside",
    ),
    "no pin for Windows": (without("pywinpty"), "pywinpty: has no pin with a marker"),
    "a pin of Macs for all": (
        without("appnope") + "appnope==1.0.0\n",
        "appnope: has no pin with a",
    ),
}


@pytest.mark.parametrize("lock, objection", BAD_LOCKS.values(), ids=BAD_LOCKS)
def test_a_bad_lock_is_refused(lock, objection):
    assert [found for found in objections(lock, PYPROJECT) if objection in found]


def test_the_filter_takes_cuda_and_nothing_else():
    names = [line.split("==")[0] for line in LOCK.splitlines() if "==" in line]
    assert not [name for name in names if CUDA.match(name)]
    assert all(CUDA.match(name) for name in ("nvidia-cudnn-cu13", "cuda-bindings", "triton"))


def undeclared_imports(folder, module):
    """What `make lint` finds, with these settings, in a package that imports the module."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "autograder").mkdir(exist_ok=True)
    (folder / "autograder" / "__init__.py").write_text(f"import {module}\n")
    report = folder / "found.json"
    command = [sys.executable, "-m", "deptry", ".", "--ignore", "DEP002", "--json-output", report]
    subprocess.run(command, cwd=folder, capture_output=True)
    return {(found["error"]["code"], found["module"]) for found in json.loads(report.read_text())}


def test_lint_refuses_an_import_that_pyproject_does_not_declare(tmp_path):
    """One that comes along with another package, one that is nowhere, one for tests only."""
    assert undeclared_imports(tmp_path, "nh3") == set()
    assert undeclared_imports(tmp_path, "bleach") == {("DEP003", "bleach")}
    assert undeclared_imports(tmp_path, "no_such_package") == {("DEP001", "no_such_package")}
    assert undeclared_imports(tmp_path, "hypothesis") == {("DEP004", "hypothesis")}


def test_conda_installs_the_same_pins():
    """Conda itself is not at hand here: the file is read, and pip's part is tried below."""
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    python, pip, packages = conda["dependencies"]
    assert (python, pip) == ("python=3.11", "pip")
    assert packages == {"pip": ["-r requirements.lock", "-e ."]}


def tracked(pattern):
    command = ["git", "ls-files", "--", pattern]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:
        pytest.skip("this is not a clone: git does not know which files are tracked")
    return listing.stdout.splitlines()


@pytest.mark.parametrize("pattern", ["*.ipynb", "_build/*", ".venv/*", "*node_modules/*", "*.whl"])
def test_nothing_that_is_made_is_kept_in_git(pattern):
    assert tracked(pattern) == []


PAGES = ["README.md", "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_a_page_names_exists(page):
    text = (ROOT / page).read_text()
    verbs = re.search("^VERBS = (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE).group(1)
    named = set(re.findall(r"\bmake ([a-z][a-z-]+)", text))
    assert named
    assert named <= set(verbs.split())
    assert set(re.findall(r"^course ([a-z]+)", text, re.MULTILINE)) <= set(main.list_commands(None))


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page):
    named = re.findall(r"`([\w.]+/[\w./-]*|[\w-]+\.\w+)`", (ROOT / page).read_text())
    kept = {name for name in named if "NN" not in name and not name.startswith("_build")}
    assert kept
    assert [
        name for name in kept if not [*ROOT.glob(name), *ROOT.glob(f"solutions/**/{name}")]
    ] == []


def test_every_module_in_a_drawing_of_contributing_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    drawn = "".join(re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    named = set(re.findall(r"[\w/]+\.py\b", drawn))
    modules = [f"/{p.relative_to(ROOT).as_posix()}" for p in ROOT.glob("autograder/**/*.py")]
    assert named
    assert [name for name in named if not any(m.endswith(f"/{name}") for m in modules)] == []


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash on this machine")
def test_ci_runs_what_everybody_runs():
    script = ROOT / ".ci" / "run"
    assert subprocess.run(["bash", "-n", script]).returncode == 0
    assert re.findall("^make ([a-z-]+)", script.read_text(), re.MULTILINE) == ["test", "test-slow"]
