"""What stands on the terminal of somebody who types `make` and lacks something."""

import importlib.util
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from autograder.paths import ROOT

COMPLAINTS = {
    "the index is out of reach": "Connection broken by NewConnectionError: connection error",
    "the disk is full": "[Errno 28] No space left on device",
    "no build of PyTorch": "No matching distribution found for torch==2.13.0",
    "files of another user": "[Errno 13] Permission denied: '.venv'",
    "anything else": "Invalid requirement",
}


@pytest.fixture
def setup(monkeypatch):
    """As `python3 setup_course.py setup` sees itself, on Linux."""
    monkeypatch.setattr(sys, "argv", ["setup_course.py", "setup"])
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    monkeypatch.delenv("MAKELEVEL", raising=False)
    spec = importlib.util.spec_from_file_location("setup_course", ROOT / "setup_course.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def stops(setup, reads):
    def compare(do, *arguments) -> None:
        with pytest.raises(setup.Stop) as stop:
            do(*arguments)
        reads(str(stop.value))

    return compare


@pytest.mark.parametrize("complaint", COMPLAINTS.values(), ids=COMPLAINTS)
def test_the_installation_fails(setup, stops, monkeypatch, complaint):
    pip = SimpleNamespace(stderr=[complaint], wait=lambda: 1)
    monkeypatch.setattr(setup.subprocess, "Popen", lambda command, **settings: pip)
    stops(setup.install_step, ["pip"])


def test_no_python_fits(setup, stops, monkeypatch):
    monkeypatch.setattr(setup, "fits", lambda python: False)
    monkeypatch.setattr(setup.sys, "version", "3.8.1 (of long ago)")
    stops(setup.find_python)


def test_the_python_of_venv_does_not_fit(setup, stops, tmp_path, monkeypatch):
    monkeypatch.setattr(setup, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(setup, "version_of", lambda python: (3, 8))
    stops(setup.set_up)


def test_python_has_no_venv(setup, stops, monkeypatch):
    monkeypatch.setattr(setup, "find_python", lambda: "/usr/bin/python3.12")
    monkeypatch.setattr(setup, "runs", lambda python, code: False)
    monkeypatch.setattr(setup, "version_of", lambda python: (3, 12))
    stops(setup.make_venv)


def test_there_is_too_little_room(setup, stops, monkeypatch):
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda path: SimpleNamespace(free=1e8))
    stops(setup.require_space, setup.SPACE)


def test_the_folder_cannot_be_written(setup, stops, monkeypatch):
    monkeypatch.setattr(setup.os, "access", lambda *arguments: False)
    stops(setup.main, "setup")


def test_pytorch_brings_cuda(setup, capsys, reads, monkeypatch):
    monkeypatch.setattr(setup.subprocess, "check_output", lambda command: b"")
    monkeypatch.setattr(setup.sys, "platform", "linux")
    monkeypatch.setattr(setup, "require_space", lambda needed: None)
    setup.warn_of_cuda()
    reads(capsys.readouterr().out)


def test_the_verbs(setup, capsys, reads):
    setup.main("help")
    reads(capsys.readouterr().out)


@pytest.mark.skipif(not shutil.which("make"), reason="no make on this machine")
def test_make_finds_no_python(reads):
    command = ["make", "--no-print-directory", "site", "PYTHON=/nowhere/python3"]
    reads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout)
