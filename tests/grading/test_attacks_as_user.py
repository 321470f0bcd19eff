"""The whole corpus of attacks against a grader that is an ordinary user, in both tiers.

A file of its own: most of its minutes are time limits running out, beside the work of other files.
"""

from pathlib import Path

import pytest

from tests.grading.sandbox_fixtures import ROOT, run_as_ordinary_user


@pytest.mark.slow
@pytest.mark.skipif(not ROOT, reason="only root can be somebody else too")
@pytest.mark.parametrize("tier", ["whole", "landlock"])
def test_all_of_it_holds_for_an_ordinary_user(tier):
    attacks = Path(__file__).with_name("test_attacks.py")
    done = run_as_ordinary_user(str(attacks), "-m", "slow", "-k", tier)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert "passed" in done.stdout
