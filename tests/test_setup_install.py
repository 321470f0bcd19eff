"""The whole installation from requirements.lock, into an empty folder with an empty home."""

import os
import shutil
import signal
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.waiting import wait_until

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    home = tmp_path_factory.mktemp("home")
    environment = kept | {"HOME": str(home), "PATH": os.defpath}
    command = [sys.executable, "-m", "pip", "config", "list"]
    settings = subprocess.check_output(command, env=environment, text=True)
    if sys.platform == "linux" and "find-links" not in settings and "index-url" not in settings:
        pytest.skip("no whole installation: without a PIP_ setting it would download 2.7 GB")
    return environment


@pytest.fixture(scope="module")
def course(tmp_path_factory, environment):
    """Set up in one run after three that were killed, each in the middle of another package."""
    folder = tmp_path_factory.mktemp("fresh") / "my course"
    folder.mkdir()
    for name in ["setup_course.py", "requirements.lock", "pyproject.toml"]:
        shutil.copy(ROOT / name, folder)
    for name in ["course_lib", "autograder"]:
        shutil.copytree(ROOT / name, folder / name)
    command = [sys.executable, "setup_course.py", "setup"]
    for victim in ["pip", "torch", "matplotlib"]:
        setup = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True)

        def it_is_installing(victim=victim, setup=setup):
            assert setup.poll() is None, f"set-up ended before it was seen to install {victim}"
            return is_half_installed(folder, victim)

        wait_until(it_is_installing, 1200)
        os.killpg(setup.pid, signal.SIGKILL)
        setup.wait()
    assert is_half_installed(folder, "matplotlib")
    assert subprocess.run(command, cwd=folder, env=environment).returncode == 0
    return folder


def is_half_installed(folder, package):
    metadata = folder.glob(f".venv/lib/*/site-packages/{package}-*.dist-info")
    return any(not (path / "INSTALLER").exists() for path in metadata)


def packages_of(folder):
    path = [str(path) for path in folder.glob(".venv/lib/*/site-packages")]
    return {canonicalize_name(package.name): package for package in distributions(path=path)}


def test_nothing_stays_half_installed(course):
    assert not is_half_installed(course, "*")
    for package in packages_of(course).values():
        for script in package.entry_points.select(group="console_scripts"):
            assert (course / ".venv/bin" / script.name).exists(), package.name


def test_every_pin_is_installed_and_nothing_is_missing(course):
    packages = packages_of(course)
    lock = (ROOT / "requirements.lock").read_text().splitlines()
    pins = [Requirement(line) for line in lock if not line.startswith("#")]
    pins = [pin for pin in pins if pin.marker is None or pin.marker.evaluate()]
    assert all(
        pin.specifier.contains(packages[canonicalize_name(pin.name)].version) for pin in pins
    )
    python = course / ".venv/bin/python"
    check = subprocess.run([python, "-m", "pip", "check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout


def test_the_course_can_be_called(course, environment):
    command = [course / ".venv/bin/course", "--help"]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr


def test_conda_would_install_what_is_already_there(course, environment):
    """Pip's part of environment.yml, as conda hands it over: a file in the course's folder."""
    python = course / ".venv/bin/python"
    (course / "conda.txt").write_text("-r requirements.lock\n-e .\n")
    command = [python, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-"]
    command += ["--no-build-isolation", "-r", "conda.txt"]
    answer = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
