"""A machine says which sandbox it gives, why not a better one, and what to type about it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.commands.sandbox import sandbox as command
from autograder.sandbox import probes, tiers
from autograder.sandbox.host import NoSandbox
from autograder.sandbox.probes import Attempt
from autograder.sandbox.tiers import best_tier, choose
from tests.grading.sandbox_fixtures import NOT_ROOT, ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes are Linux's")

CHECKOUT = Path(__file__).resolve().parents[2]
REFUSE = """
import os, sys
import pyseccomp
from autograder.sandbox import system
rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
for name in {names}:
    rules.add_rule(pyseccomp.ERRNO({error}), name)
system.no_new_privileges()
rules.load()
"""
NO_MORE_NAMESPACES = """
import os, sys
from autograder.sandbox import system
uid, gid = os.getuid(), os.getgid()
system.unshare("user")
system.map_ids(uid, gid)
with open("/proc/sys/user/max_user_namespaces", "w") as setting:
    setting.write("0")
"""
SAY = """
from autograder.sandbox.tiers import *
print(best_tier().tier)
try:
    print(choose())
except NoSandbox as reason:
    print(reason)
print(choose(trust=True))
"""
NAMESPACES, LANDLOCK = ["unshare", "setns"], ["landlock_create_ruleset"]


def say(before: str) -> str:
    """What a machine says on which this has been done before."""
    done = subprocess.run(
        [sys.executable, "-c", before + SAY], capture_output=True, text=True, cwd=CHECKOUT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_this_machine_gives_a_sandbox():
    machine = best_tier()
    if not machine.tier and not os.environ.get("CI"):
        pytest.skip(f"sandbox tests not run: {machine}")
    assert machine.tier
    assert choose() == choose(trust=True) == machine.tier


@NOT_ROOT
def test_where_namespaces_are_refused_landlock_holds():
    """As Docker's default rules do it."""
    said = say(REFUSE.format(names=NAMESPACES, error=1)).split()
    assert said == ["landlock"] * 3


@NOT_ROOT
def test_where_a_setting_switches_namespaces_off_the_remedy_is_that_setting():
    before = (
        NO_MORE_NAMESPACES + "from autograder.sandbox.tiers import best_tier\nprint(best_tier())"
    )
    said = say(before)
    assert "sudo sysctl user.max_user_namespaces=15000" in said
    assert said.split()[-1] == "landlock"


@pytest.mark.parametrize(
    "error, words",
    [(1, "the kernel refuses Landlock"), (38, "no Landlock"), (95, "not switched on")],
)
def test_where_there_is_none_grading_refuses_and_names_the_flag(error, words):
    before = REFUSE.format(names=NAMESPACES, error=1) + REFUSE.format(names=LANDLOCK, error=error)
    said = say(before)
    assert said.startswith("None\nthis machine gives no sandbox")
    assert "docker run --security-opt seccomp=unconfined" in said
    assert ("Landlock does not hold root" if ROOT else words) in said
    assert "--trust-submissions" in said
    assert said.split()[-1] == "trusted"


@pytest.mark.parametrize(
    "setting, words",
    [
        ("user/max_user_namespaces=0", "sudo sysctl user.max_user_namespaces=15000"),
        ("kernel/unprivileged_userns_clone=0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
        ("kernel/apparmor_restrict_unprivileged_userns=1", "sudo apparmor_parser -r"),
    ],
)
def test_each_known_refusal_has_its_remedy(monkeypatch, setting, words):
    name, value = setting.split("=")
    monkeypatch.setattr(tiers, "_setting", lambda asked: value if asked == name else None)
    monkeypatch.setattr(tiers, "_try", lambda tier: "unshare: Operation not permitted")
    machine = best_tier()
    assert machine.tier is None
    assert words in str(machine)
    if "apparmor" in setting:
        assert os.path.realpath(sys.executable) in str(machine)


def test_a_missing_library_is_named_once(monkeypatch):
    monkeypatch.setattr(tiers, "_try", lambda tier: "RuntimeError: Unable to find libseccomp")
    (refusal,) = best_tier().refusals
    assert "apt install libseccomp2" in refusal.remedy


@pytest.mark.parametrize("system, name", [("darwin", "macOS"), ("win32", "Windows")])
def test_other_systems_have_neither_and_are_told_where_to_go(monkeypatch, system, name):
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(NoSandbox, match=f"{name} has neither"):
        choose()


def course_sandbox(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    return result.exit_code, result.output


def test_course_sandbox_proves_that_it_holds():
    code, said = course_sandbox("--json")
    told = json.loads(said)
    assert code == 0
    assert len(told["attempts"]) == len(probes.ATTEMPTS)
    assert all(attempt["held"] for attempt in told["attempts"])


def test_course_sandbox_says_what_is_open(monkeypatch):
    """Shown with an attempt that is no crime."""
    by = {"namespaces": "nothing", "landlock": "nothing"}
    monkeypatch.setattr(
        probes, "ATTEMPTS", [Attempt("files", "write in scratch", "open('a', 'w')", by)]
    )
    code, said = course_sandbox()
    assert code == 1
    assert "OPEN" in said
    assert "Do not grade here" in said


def test_course_sandbox_without_a_sandbox_says_so(monkeypatch):
    monkeypatch.setattr(tiers, "_try", lambda tier: "unshare: Operation not permitted")
    code, said = course_sandbox()
    assert code == 2
    assert "No sandbox on this machine" in said
    assert "--trust-submissions" in said
    assert json.loads(course_sandbox("--json")[1])["tier"] is None


def test_its_output_fits_one_screen():
    code, said = course_sandbox()
    assert code == 0
    assert len(said.splitlines()) <= 40
