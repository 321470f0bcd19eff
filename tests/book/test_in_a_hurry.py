"""The box of a chapter for whoever has two minutes: short, folded, and its code runs as printed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.paths import ROOT

BOX = re.compile(r"^(`{3,})\{in-a-hurry\}\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"^```python\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
PRINTED = re.compile(r"print\(.*\)\s+# (.*)")
PAGES = [page for page in sorted((ROOT / "chapters").glob("*.md")) if BOX.search(page.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_code_runs_alone_and_prints_what_its_comments_say(page: Path):
    box = BOX.search(page.read_text())[2]
    code = "\n".join(CODE.findall(box))
    said = PRINTED.findall(code)
    assert said
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.split() == " ".join(said).split()
