"""With a Python that has nothing: the bundle sets itself up, and the wheel brings check along."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.commands.lab import unpack
from autograder.release.wheel import make_wheel

pytestmark = pytest.mark.slow

STEM = "01_rows"
TO_CHECK = ("numpy", "array-api-compat", "jaxtyping", "wadler-lindig")

IN_A_NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in (
    "from course_lib.checking.notebook import check, reset, what_is_left",
    "def row_means(x):\\n    return x.sum(-1)",
    'first = check("row_means")',
    "def row_means(x):\\n    return x.mean(-1)",
    'second = check("row_means")',
    "what_is_left()",
):
    assert shell.run_cell(cell, store_history=True).success
assert (shell.user_ns["first"], shell.user_ns["second"]) == (0.0, 3.0)
"""


@pytest.fixture
def bare(venv_with_pip, tmp_path) -> Path:
    """A Python without a single package but pip."""
    venv = shutil.copytree(venv_with_pip, tmp_path / "bare", symlinks=True)
    return venv / ("Scripts" if os.name == "nt" else "bin") / "python"


def run(*words: object, folder: Path, home: Path) -> subprocess.CompletedProcess:
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    known = kept | {"HOME": str(home), "PATH": os.defpath}
    return subprocess.run(
        list(map(str, words)), cwd=folder, env=known, capture_output=True, text=True
    )


def test_the_first_command_sets_up_once_and_the_second_starts_at_once(released, bare, tmp_path):
    unpack(STEM, tmp_path, released)
    bundle = tmp_path / STEM
    pins = Path(__file__).parents[2] / "requirements.lock"
    lines = [li for li in pins.read_text().splitlines() if li.partition("==")[0] in TO_CHECK]
    assert len(lines) == len(TO_CHECK)
    (bundle / "requirements.txt").write_text("\n".join(lines) + "\n")  # the rest takes minutes
    first = run(bare, "course.py", "left", folder=bundle, home=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "This happens once" in first.stdout
    assert "0 of 7 points here" in first.stdout
    second = run(bare, "course.py", "left", folder=bundle, home=tmp_path)
    assert "This happens once" not in second.stdout
    assert "0 of 7 points here" in second.stdout

    shutil.move(bundle, tmp_path / "elsewhere")
    unpack(STEM, tmp_path, released)
    shutil.copy(tmp_path / "elsewhere" / "requirements.txt", bundle)
    shutil.move(tmp_path / "elsewhere", tmp_path / "another_assignment")
    beside = run(bare, "course.py", "left", folder=bundle, home=tmp_path)
    assert "This happens once" not in beside.stdout, "the set-up of the folder beside it serves"
    assert not (bundle / ".venv").exists()


def test_a_set_up_that_fails_says_what_to_type(released, bare, tmp_path):
    unpack(STEM, tmp_path, released)
    (tmp_path / STEM / "requirements.txt").write_text("no-such-package-of-this-name==1.0\n")
    done = run(bare, "course.py", "left", folder=tmp_path / STEM, home=tmp_path)
    assert done.returncode == 1
    assert "type  python course.py  again" in done.stderr
    assert "Traceback" not in done.stderr


def test_one_file_for_pip_is_enough_for_check_in_a_hosted_notebook(released, bare, tmp_path):
    wheel = make_wheel(released / "release" / STEM, tmp_path, "Rows")
    assert wheel == make_wheel(released / "release" / STEM, tmp_path, "Rows")
    assert len(list(tmp_path.glob("*.whl"))) == 1
    (tmp_path / "notebook").mkdir()
    installed = run(bare, "-m", "pip", "install", wheel, "ipython", folder=tmp_path, home=tmp_path)
    assert installed.returncode == 0, installed.stderr
    done = run(bare, "-c", IN_A_NOTEBOOK, folder=tmp_path / "notebook", home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not divided" in done.stdout, "the mistake is named"
    assert "3 of 7" in done.stdout


def test_the_wheel_holds_no_hidden_test(released, tmp_path):
    wheel = make_wheel(released / "release" / STEM, tmp_path, "Rows")
    with zipfile.ZipFile(wheel) as archive:
        everything = b"".join(map(archive.read, archive.namelist()))
    assert b"test_equal_entries" in everything
    assert b"test_a_stack_of_matrices" not in everything
    assert sys.executable.encode() not in everything
