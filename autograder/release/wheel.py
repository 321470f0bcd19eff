"""One file for pip that holds course_lib and the checks of one assignment, as a student gets them.

For a notebook service that somebody else runs: there is no folder to put checks beside a notebook.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from course_lib.checking.work import OUTLINE, Assignment

NAME = "attention-exercises"
PROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"
description = "{title}: checks for the student's notebook"
requires-python = ">=3.11"
# no torch: services have it, and answers in NumPy do without
dependencies = ["numpy>=2", "array-api-compat>=1.10", "jaxtyping>=0.2.34", "matplotlib>=3.9"]

[tool.setuptools.packages.find]
include = ["course_lib*"]

[tool.setuptools.package-data]
course_lib = ["checks/**/*"]
"""


def make_wheel(release: Path, target: Path, title: str) -> Path:
    """Pack what lies in the release folder; the version says of which assignment it is."""
    outline = Assignment.read(release / "checks" / OUTLINE)
    course, _, digest = outline.version.partition("+")
    label = f"ch{release.name.replace('_', '.')}"  # digits alone would lose their zero
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        shutil.copytree(release / "course_lib", project / "course_lib")
        shutil.copytree(release / "checks", project / "course_lib" / "checks")
        metadata = PROJECT.format(name=NAME, version=f"{course}+{label}.{digest}", title=title)
        (project / "pyproject.toml").write_text(metadata)
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        subprocess.run([*pip, "--wheel-dir", "out", "."], cwd=project, check=True)
        (made,) = (project / "out").glob("*.whl")
        for old in target.glob(f"*+{label}.*.whl"):
            old.unlink()
        return Path(shutil.copy(made, target))
