"""Set-up from nothing: each prerequisite is really missing here, and is named.

How it is told is in tests/messages/test_set_up.py.
"""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDED = ["setup_course.py", "Makefile", "requirements.lock", "pyproject.toml"]
NOBODY_LISTENS = "http://127.0.0.1:9"
OUTSIDE_OF_REACH = {"PIP_INDEX_URL": NOBODY_LISTENS, "PIP_RETRIES": "1"}


# a few seconds each, which the unit tests had better not spend
makes_a_venv = pytest.mark.slow


def load_setup():
    spec = importlib.util.spec_from_file_location("setup_course", ROOT / "setup_course.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def failure(complaint):
    """The first line of what is told where pip complains like this."""
    return next(told[0] for words, told in load_setup().FAILURES.items() if complaint in words)


NO_INDEX, FULL, NO_BUILD = map(failure, ("timed out", "No space left", "for torch"))
ANY_OTHER = load_setup().FAILURES[""][0]


@pytest.fixture
def folder(tmp_path):
    """What set-up needs of the course, in a folder with a space in its name."""
    folder = tmp_path / "my course"
    folder.mkdir()
    for name in NEEDED:
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def environment(tmp_path):
    """An empty home, no settings of pip, no other Python on the path."""
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home), "PATH": str(home), "PIP_CONFIG_FILE": os.devnull}


@pytest.fixture
def venv(folder, venv_with_pip):
    """The .venv of a course into which nothing is installed yet."""
    venv = folder / ".venv"
    return shutil.copytree(venv_with_pip, venv, symlinks=True, copy_function=os.link)


@pytest.fixture
def stamped(folder, venv):
    """A course whose stamp says that all is installed."""
    setup = load_setup()
    setup.ROOT, setup.LOCK = folder, folder / "requirements.lock"
    (venv / "course-stamp").write_bytes(setup.stamp())
    return folder


def install_program(venv, name, script):
    program = venv / "bin" / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def run(folder, environment, *, python=sys.executable, verb="setup"):
    command = [python, "setup_course.py", verb]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def pythons(*minors):
    """The real Pythons of these versions on this machine, from the path or from pyenv."""
    found = []
    for minor in minors:
        kept = sorted((Path.home() / ".pyenv/versions").glob(f"3.{minor}.*/bin/python3"))
        found += map(str, kept[:1]) if kept else filter(None, [shutil.which(f"python3.{minor}")])
    # a shim of pyenv stands on the path for every version, also for one that is switched off
    found = [p for p in found if subprocess.run([p, "-V"], capture_output=True).returncode == 0]
    return found or [pytest.param(None, marks=pytest.mark.skip("no Python before 3.11 here"))]


@pytest.mark.parametrize("python", pythons(6, 7, 8, 9, 10))
def test_an_old_python_is_told_which_one_is_needed(folder, environment, python):
    outcome = run(folder, environment, python=python)
    assert outcome.returncode == 1
    assert "3.11 to 3.14" in outcome.stderr
    assert "python3 setup_course.py setup" in outcome.stderr, "what to type then"
    assert "Traceback" not in outcome.stderr
    assert not (folder / ".venv").exists()


@makes_a_venv
@pytest.mark.parametrize("python", pythons(8, 9, 10)[:1])
def test_an_old_python_finds_a_new_one_on_the_path(folder, environment, python):
    programs = Path(environment["PATH"])
    newer = f"python3.{sys.version_info[1]}"
    (programs / newer).symlink_to(os.path.realpath(sys.executable))
    outcome = run(folder, environment | OUTSIDE_OF_REACH, python=python)
    assert "3.11 to 3.14" not in outcome.stderr
    assert os.path.realpath(folder / ".venv/bin/python") == os.path.realpath(sys.executable)


@pytest.mark.parametrize("python", pythons(9, 10)[:1])
def test_a_venv_of_an_old_python_is_left_alone(folder, environment, python):
    subprocess.run([python, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    outcome = run(folder, environment)
    assert outcome.returncode == 1 and ".venv" in outcome.stderr
    assert (folder / ".venv/bin/python").exists()


def test_a_python_without_venv_is_told_the_package(folder, environment, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    packages = next((tmp_path / "bare").glob("lib/*/site-packages"))
    (packages / "no_ensurepip.pth").write_text("import sys; sys.modules['ensurepip'] = None")
    outcome = run(folder, environment, python=tmp_path / "bare/bin/python")
    assert outcome.returncode == 1
    assert f" python3.{sys.version_info[1]}-venv " in outcome.stderr
    assert not (folder / ".venv").exists()


def run_on_own_disk(folder, environment, tmp_path, size, before):
    """Run set-up on a disk of that size, in a mount namespace of its own."""
    (tmp_path / "disk").mkdir()
    script = f"""
        PATH={os.defpath}:/usr/sbin:/sbin
        mount -t tmpfs -o size={size} tmpfs "$1" && cp -a "$2"/. "$1" && cd "$1" || exit 77
        {before}
        exec "$3" setup_course.py setup
    """
    unshare = shutil.which("unshare")
    if not unshare:
        pytest.skip("no small disk to try: there is no program unshare")
    command = [unshare, "--map-root-user", "--mount", shutil.which("sh"), "-c", script, "sh"]
    command += [tmp_path / "disk", folder, sys.executable]
    outcome = subprocess.run(command, env=environment, capture_output=True, text=True)
    if outcome.returncode == 77 or "unshare" in outcome.stderr:
        pytest.skip(f"no small disk to try: {outcome.stderr}")
    return outcome


def test_a_small_disk_is_refused_before_anything_is_installed(folder, environment, tmp_path):
    outcome = run_on_own_disk(folder, environment, tmp_path, "50m", before="")
    assert outcome.returncode == 1
    assert "0.1 GB" in outcome.stderr and "3 GB" in outcome.stderr


def test_a_disk_that_fills_up_is_named_as_the_cause(folder, environment, tmp_path, venv):
    fill = "rm -r .venv/lib/*/site-packages/pip*; cat /dev/zero > filler 2> /dev/null"
    outcome = run_on_own_disk(folder, environment, tmp_path, "50m", before=fill)
    assert outcome.returncode == 1
    assert FULL in outcome.stderr


def test_a_folder_that_cannot_be_written_is_named(folder, environment, tmp_path):
    read_only = 'mount -o remount,bind,ro "$1"'
    outcome = run_on_own_disk(folder, environment, tmp_path, "50m", before=read_only)
    assert outcome.returncode == 1
    assert str(tmp_path / "disk") in outcome.stderr and "Traceback" not in outcome.stderr


def test_an_index_out_of_reach_is_told_from_a_broken_pin(folder, environment, venv):
    outcome = run(folder, environment | OUTSIDE_OF_REACH)
    assert outcome.returncode == 1
    assert NO_INDEX in outcome.stderr
    assert "PIP_INDEX_URL" in outcome.stderr
    assert not (venv / "course-stamp").exists()
    assert "2.7 GB" not in outcome.stdout, "who has chosen an index needs no advice on torch"


def test_a_machine_for_which_torch_has_no_build_is_told_so(folder, environment, venv, tmp_path):
    empty = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    outcome = run(folder, environment | empty)
    assert NO_BUILD in outcome.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux builds of PyTorch bring CUDA")
def test_a_linux_user_without_settings_is_told_of_cuda(folder, environment, venv):
    outcome = run(folder, environment | {"HTTPS_PROXY": NOBODY_LISTENS, "PIP_RETRIES": "1"})
    assert "2.7 GB" in outcome.stdout
    assert "PIP_EXTRA_INDEX_URL=ADDRESS" in outcome.stdout


@pytest.fixture
def torch(venv):
    """The trace that the CPU build of PyTorch leaves in a .venv."""
    torch = next(venv.glob("lib/*/site-packages")) / "torch-2.13.0+cpu.dist-info"
    torch.mkdir()
    (torch / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0+cpu\n")
    (torch / "INSTALLER").write_text("pip\n")
    return torch


def test_a_torch_that_somebody_chose_is_kept_and_needs_no_advice(folder, environment, torch):
    outcome = run(folder, environment | {"HTTPS_PROXY": NOBODY_LISTENS, "PIP_RETRIES": "1"})
    assert "2.7 GB" not in outcome.stdout
    assert "Ignoring appnope" in outcome.stdout, "pip has gone on to the whole list of pins"
    assert torch.exists()


def test_any_other_failure_says_how_to_begin_anew(folder, environment, torch):
    (folder / "requirements.lock").write_text("no requirement at all\n")
    outcome = run(folder, environment)
    assert outcome.returncode == 1
    assert "Invalid requirement" in outcome.stderr, "pip's own words stay"
    assert ANY_OTHER in outcome.stderr


def test_an_interrupted_run_says_that_it_can_go_on(folder, environment, venv):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        index = f"http://127.0.0.1:{silent.getsockname()[1]}"
        setup = subprocess.Popen(
            [sys.executable, "setup_course.py", "setup"],
            cwd=folder,
            env=environment | {"PIP_INDEX_URL": index},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        silent.settimeout(60)
        connection, _ = silent.accept()  # pip has begun to ask for torch
        os.killpg(setup.pid, signal.SIGINT)
        _, complaints = setup.communicate()
        connection.close()
    assert setup.returncode == 130
    assert "setup_course.py setup" in complaints and "Traceback" not in complaints
    assert not (venv / "course-stamp").exists()


def test_a_second_run_starts_without_asking_pip(stamped, environment):
    shutil.rmtree(next(stamped.glob(".venv/lib/*/site-packages/pip")))
    outcome = run(stamped, environment)
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_a_changed_pin_is_installed(stamped, environment, name):
    with (stamped / name).open("a") as file:
        file.write("# changed\n")
    outcome = run(stamped, environment | OUTSIDE_OF_REACH)
    assert NO_INDEX in outcome.stderr


def test_an_update_writes_no_line_for_each_package_that_stays(stamped, environment, torch):
    (stamped / "requirements.lock").write_text("torch==2.13.0\n")
    outcome = run(stamped, environment | {"PIP_NO_INDEX": "1"})
    assert ".venv" in outcome.stdout, "that it is renewed"
    assert "already satisfied" not in outcome.stdout


@makes_a_venv
def test_a_folder_that_has_moved_gets_a_new_venv(stamped, environment):
    (stamped / ".venv" / "old").touch()
    moved = stamped.rename(stamped.with_name("my renamed course"))
    outcome = run(moved, environment | OUTSIDE_OF_REACH)
    assert NO_INDEX in outcome.stderr
    assert (moved / ".venv/bin/python").exists()
    assert not (moved / ".venv" / "old").exists()


@makes_a_venv
def test_a_venv_whose_python_is_gone_is_made_anew(stamped, environment):
    python = stamped / ".venv/bin/python"
    python.unlink()
    python.symlink_to("/nowhere/python3.11")
    outcome = run(stamped, environment | OUTSIDE_OF_REACH)
    assert NO_INDEX in outcome.stderr
    assert python.exists()


def test_a_half_installed_package_is_installed_again(folder, environment, venv):
    packages = next(venv.glob("lib/*/site-packages"))
    for name in ("whole", "half"):
        (packages / f"{name}-1.dist-info").mkdir()
    (packages / "whole-1.dist-info" / "INSTALLER").write_text("pip\n")
    run(folder, environment | OUTSIDE_OF_REACH)
    assert (packages / "whole-1.dist-info").exists()
    assert not (packages / "half-1.dist-info").exists()


@pytest.mark.parametrize("home", ["", "/nowhere"])
def test_a_verb_has_a_home_it_can_write_in(stamped, environment, home):
    """Jupyter and npm keep files there."""
    for command in load_setup().LINT:
        install_program(stamped / ".venv", command.split()[0], "exit 0")
    install_program(stamped / ".venv", "codespell", 'mkdir "$HOME/jupyter" && echo "$HOME"')
    outcome = run(stamped, environment | {"HOME": home, "PATH": os.defpath}, verb="lint")
    assert str(stamped / "_build" / "home") in outcome.stdout


def test_a_failing_step_does_not_hide_the_next(stamped, environment):
    commands = load_setup().LINT
    for command in commands:
        install_program(stamped / ".venv", command.split()[0], "exit 0")
    first, last = commands[0].split()[0], commands[-1].split()[0]
    install_program(stamped / ".venv", first, "exit 1")
    install_program(stamped / ".venv", last, "echo was here")
    outcome = run(stamped, environment | {"PATH": os.defpath}, verb="lint")
    assert outcome.returncode == 1
    assert "was here" in outcome.stdout
    failed = [command for command in commands if command.startswith(first)]
    assert outcome.stderr.strip() == f"failed: {', '.join(failed)}"
    *_, costs = outcome.stdout.rpartition("was here\n")
    assert [line.split(" s  ")[1] for line in costs.splitlines()] == commands


needs_make = pytest.mark.skipif(not shutil.which("make"), reason="no make on this machine")


def make(folder, *arguments):
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@needs_make
@pytest.mark.parametrize("verb", ["help", *load_setup().VERBS])
def test_every_verb_can_be_made(folder, verb):
    outcome = make(folder, "--dry-run", verb)
    assert outcome.returncode == 0
    assert f"setup_course.py {verb}" in outcome.stdout


@needs_make
def test_make_alone_lists_the_verbs(folder):
    outcome = make(folder, f"PYTHON={sys.executable}")
    assert outcome.returncode == 0
    assert [line.split()[0] for line in outcome.stdout.splitlines()] == list(load_setup().VERBS)


@needs_make
def test_make_without_python_says_what_to_install(folder):
    outcome = make(folder, "site", "PYTHON=/nowhere/python3")
    assert outcome.returncode != 0
    assert "/nowhere/python3" in outcome.stdout
    assert "PYTHON=/path/to/python3" in outcome.stdout, "how another one is named"


def test_an_unknown_verb_is_answered_with_the_known_ones(folder, environment):
    outcome = run(folder, environment, verb="stie")
    assert outcome.returncode == 2
    assert "site " in outcome.stdout
