"""Should Jupyter Book 1 end, plain Sphinx builds the same pages from what it writes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = (
    *("chapters", "solutions", "course_lib", "autograder"),
    *("_config.yml", "_toc.yml", "CITATION.cff"),
)


@pytest.mark.slow
def test_sphinx_builds_the_book_without_jupyter_book(tmp_path, site):
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    programs = Path(sys.executable).parent
    run = {"cwd": tmp_path, "check": True, "capture_output": True, "text": True}
    subprocess.run([programs / "jupyter-book", "config", "sphinx", "."], **run)
    subprocess.run([programs / "sphinx-build", "-n", "-W", "--keep-going", ".", "html"], **run)
    for page in site.pages:
        assert (tmp_path / "html" / page).is_file()
    text = (tmp_path / "html" / "chapters" / "03_softmax.html").read_text()
    assert "Theorem 3." in text
    assert 'class="katex-html"' in text
