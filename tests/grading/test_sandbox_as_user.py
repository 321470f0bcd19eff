"""What root's tests show of the sandbox holds for an ordinary user, in both tiers."""

import os
from pathlib import Path

import pytest

from tests.grading.sandbox_fixtures import ROOT, run_as_ordinary_user

FILES = ("test_sandbox.py", "test_cells.py", "test_tiers.py")


@pytest.mark.skipif(not ROOT, reason="only root can be somebody else too")
@pytest.mark.parametrize("file", FILES)
def test_all_of_it_holds_for_an_ordinary_user(file):
    done = run_as_ordinary_user(str(Path(__file__).with_name(file)))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert "passed" in done.stdout
    if os.environ.get("CI"):
        assert "sandbox tests not run" not in done.stdout
