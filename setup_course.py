"""Set the course up and run one verb: `make VERB`, or `python setup_course.py VERB` without make.

Only Python 3.11 has to be there. The first run makes .venv and installs requirements.lock and the
course into it; the next ones start at once. The syntax is that of Python 3.6, so that a Python
that is too old can read this file and say so.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
LOCK = ROOT / "requirements.lock"
VENV = ROOT / ".venv"
STAMP = VENV / "course-stamp"
PROGRAMS = VENV / ("Scripts" if os.name == "nt" else "bin")
SUFFIX = ".exe" if os.name == "nt" else ""
PYTHON = str(PROGRAMS / ("python" + SUFFIX))

OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 14)  # those for which the pinned PyTorch exists
SPACE = 3  # GB: 1.9 in .venv, and the downloads, which pip keeps for the next time
SPACE_WITH_CUDA = 11  # GB: 5.9 in .venv, and downloads of 2.7 that are there twice for a while

# what the tests of a file share is made once; tests/conftest.py puts the longest files first
PYTEST = "pytest -n auto --dist loadfile --no-loadscope-reorder --durations=12"
# the slow tests wait for time limits, servers and downloads half of their time
ONE_MORE = PYTEST.replace("auto", str((os.cpu_count() or 1) + 1))
LINT = ["ruff check .", "ruff format --check .", "codespell", "deptry .", "mypy"]
VERBS = {
    "site": ("build the book", ["course site"]),
    "test": (
        "all tests but the slow",
        LINT + [PYTEST + " -m 'not (slow or nightly)'", "course exercises"],
    ),
    "test-fast": ("unit tests", [PYTEST + " -m 'not (slow or nightly or browser or whole)'"]),
    "test-slow": (
        "tests with databases and whole installations",
        [ONE_MORE + " -m 'slow and not nightly'"],
    ),
    "nightly": ("the long kill loops, once a night", [PYTEST + " -m nightly"]),
    "messages": ("accept how the messages read now", ["python -m tests.messages"]),
    "bench": ("measure speed", ["python -m benchmarks", "python -m benchmarks.grading"]),
    "lint": ("style, layout and spelling", LINT),
    "lock": (
        "pin in requirements.lock what pyproject.toml wants",
        ["python -m autograder.tools.lock"],
    ),
    "setup": ("nothing but set up", []),
    "clean": ("delete what was built, but not .venv", []),
}

# what to type next
VERB = " ".join(sys.argv[1:])
if "MAKELEVEL" in os.environ:
    AGAIN, WITH_ANOTHER_PYTHON = f"make {VERB}", f"make {VERB} PYTHON=/path/to/python3"
else:
    AGAIN = f"{Path(sys.executable).name} setup_course.py {VERB}"
    WITH_ANOTHER_PYTHON = f"/path/to/python3 setup_course.py {VERB}"

CUDA_COMES_ALONG = f"""
On Linux, PyTorch brings CUDA along: a download of 2.7 GB. Without an NVIDIA GPU its CPU build,
0.2 GB, does all that the course needs. To have that one, press Ctrl-C and type
  PIP_EXTRA_INDEX_URL=ADDRESS {AGAIN}
where ADDRESS is what PyTorch's own page "Get Started" shows after --index-url when you have
chosen Linux, Pip and CPU there.
"""

# a word in the output of venv or pip when it fails: what happened, what it means, what to type
FAILURES = {
    "connection broken|connection error|timed out|ConnectionError": (
        "The package index did not answer; pip's own words are above.",
        "What is installed stays: the next run goes on from here.",
        "Check the network, or set what pip needs for a proxy or a mirror (HTTPS_PROXY, "
        f"PIP_INDEX_URL), then type  {AGAIN}",
    ),
    "No space left on device": (
        "The disk is full.",
        f"The course takes {SPACE} GB, or {SPACE_WITH_CUDA} GB with PyTorch's CUDA build.",
        f"Make room, then type  {AGAIN}  (what is installed stays).",
    ),
    "No matching distribution found for torch|Cannot install torch": (
        "PyTorch has no build of the pinned version for this machine.",
        "It has them for Linux, for Windows on Intel and AMD, and for macOS 14 on Apple silicon.",
        f"On a machine of one of these kinds, type  {AGAIN}",
    ),
    "Permission denied": (
        "Part of .venv belongs to another user, perhaps from a run with sudo.",
        "Nothing can be installed there. No part of the course needs root.",
        f"Delete .venv as that user, then type  {AGAIN}",
    ),
    "": (
        "The installation failed; the lines above say where.",
        "The course is not set up yet. What is installed stays.",
        f"Remove the cause, or delete .venv to begin anew, then type  {AGAIN}",
    ),
}


class Stop(SystemExit):
    def __init__(self, what_happened, what_it_means, what_to_type):
        super().__init__(f"\n{what_happened}\n{what_it_means}\n{what_to_type}")


def main(verb):
    if verb not in VERBS:
        print("\n".join(f"{name:10} {says}" for name, (says, _) in VERBS.items()))
        return 0 if verb in ("", "help") else 2
    if not os.access(str(ROOT), os.W_OK):
        raise Stop(
            f"This user may not write in {ROOT}.",
            "The course keeps everything it makes in its own folder.",
            f"Copy it to a folder of your own and type there  {AGAIN}",
        )
    if verb == "clean":
        shutil.rmtree(str(ROOT / "_build"), ignore_errors=True)
        return 0
    for name in ("PYTHONPATH", "PYTHONHOME"):  # would mix in packages that are not pinned
        os.environ.pop(name, None)
    if not (os.path.exists(PYTHON) and STAMP.exists() and STAMP.read_bytes() == stamp()):
        set_up()
    return run(VERBS[verb][1])


def stamp():
    """The folder, which the programs in .venv have inside them, and what has to be installed."""
    wanted = LOCK.read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    return os.fsencode(str(ROOT)) + b"\n" + hashlib.sha256(wanted).hexdigest().encode()


def set_up():
    moved = STAMP.exists() and STAMP.read_bytes().splitlines()[0] != os.fsencode(str(ROOT))
    if moved or not version_of(PYTHON):
        make_venv()
    elif not fits(PYTHON):
        raise Stop(
            "The Python in .venv does not fit: the course needs 3.11 to 3.14.",
            "This script did not put it there and leaves it alone.",
            f"Delete the folder .venv and type  {AGAIN}",
        )
    forget_half_installed_packages()
    if not is_installed("pip"):
        install_step([PYTHON, "-m", "ensurepip", "--default-pip"])
    if not is_installed("torch"):
        warn_of_cuda()
        # first and alone: the longest download is not lost when a later one fails
        torch = re.search("^torch==.*", LOCK.read_text(), re.MULTILINE).group()
        pip_install("-c", "requirements.lock", torch)
    quiet = []
    if STAMP.exists():  # of 180 packages that are there, pip would write 180 lines
        print("requirements.lock or pyproject.toml has changed: .venv is brought up to date.")
        quiet = ["--quiet"]
    pip_install(*quiet, "-r", "requirements.lock")
    pip_install(*quiet, "--no-deps", "--no-build-isolation", "--editable", ".")
    STAMP.write_bytes(stamp())  # last: an interrupted run leaves none


def make_venv():
    python = find_python()
    if not runs(python, "import ensurepip, venv"):
        package = "python{}.{}-venv".format(*version_of(python))
        raise Stop(
            f"{python} has no modules venv and ensurepip.",
            "They belong to Python, but Debian and Ubuntu ship them in a package of their own.",
            f"Type  sudo apt install {package}  and then  {AGAIN}\n"
            f"Without root rights take another Python:  {WITH_ANOTHER_PYTHON}",
        )
    require_space(SPACE)
    print("Setting up .venv, once: a minute or two.", flush=True)
    install_step([python, "-m", "venv", "--clear", str(VENV)])


def find_python():
    """This Python if it fits, else one from the path."""
    minors = range(OLDEST_PYTHON[1], NEWEST_PYTHON[1] + 1)
    others = [shutil.which(f"python3.{minor}") for minor in minors]
    for python in filter(None, [sys.executable, *others]):
        if fits(python):
            return python
    raise Stop(
        f"Python {sys.version.split()[0]} does not fit: the course needs 3.11 to 3.14.",
        "There is none of those on the path.",
        f"Install one, from python.org or your system's packages, then type  {AGAIN}\n"
        f"If it is not on the path:  {WITH_ANOTHER_PYTHON}",
    )


def fits(python):
    return OLDEST_PYTHON <= version_of(python) <= NEWEST_PYTHON


def version_of(python):
    """(3, 11) for a Python 3.11, () for what does not run."""
    question = "import sys; print(*sys.version_info[:2])"
    try:
        answer = subprocess.check_output([python, "-c", question], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(map(int, answer.split()))


def runs(python, code):
    return subprocess.call([python, "-c", code], stderr=subprocess.DEVNULL) == 0


def is_installed(package):
    return runs(PYTHON, f"import importlib.metadata as m; m.version('{package}')")


def forget_half_installed_packages():
    """pip writes INSTALLER last; without it a package counts as installed but may lack a part."""
    packages = "Lib/site-packages" if os.name == "nt" else "lib/*/site-packages"
    for metadata in VENV.glob(f"{packages}/*.dist-info"):
        if not (metadata / "INSTALLER").exists():
            shutil.rmtree(str(metadata), ignore_errors=True)


def warn_of_cuda():
    settings = subprocess.check_output([PYTHON, "-m", "pip", "config", "list"]).decode()
    if sys.platform.startswith("linux") and not re.search("index-url|find-links", settings):
        print(CUDA_COMES_ALONG, flush=True)
        require_space(SPACE_WITH_CUDA)


def require_space(needed):
    free = shutil.disk_usage(str(ROOT)).free / 1e9
    if free < needed:
        raise Stop(
            f"Too little room: {free:.1f} GB are free for {ROOT}.",
            f"Setting the course up takes {needed} GB.",
            f"Make room, or move the folder to a larger disk, then type  {AGAIN}",
        )


def pip_install(*what):
    install_step([PYTHON, "-m", "pip", "install", *what])


def install_step(command):
    step = subprocess.Popen(
        command, cwd=str(ROOT), stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
    )
    complaints = ""
    for line in step.stderr:
        sys.stderr.write(line)
        complaints += line
    if step.wait() != 0:
        raise Stop(*next(FAILURES[words] for words in FAILURES if re.search(words, complaints)))


def run(commands):
    """Run them all, so that one failure does not hide the next."""
    environment = dict(os.environ, VIRTUAL_ENV=str(VENV))
    environment["PATH"] = os.pathsep.join([str(PROGRAMS), os.environ.get("PATH", os.defpath)])
    if not os.access(os.environ.get("HOME", ""), os.W_OK):  # Jupyter and npm cannot do without
        environment["HOME"] = str(ROOT / "_build" / "home")
        os.makedirs(environment["HOME"], exist_ok=True)
    failed, costs = [], []
    for command in commands:
        print("$", command, flush=True)
        begin = time.time()
        program, *arguments = shlex.split(command)
        program = str(PROGRAMS / (program + SUFFIX))
        if subprocess.call([program, *arguments], cwd=str(ROOT), env=environment) != 0:
            failed.append(command)
        costs.append(f"{time.time() - begin:6.0f} s  {command}")
    if costs:
        print("\n".join(costs), flush=True)
    if failed:
        print("\nfailed: " + ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(VERB))
    except KeyboardInterrupt:
        print(f"\nStopped. What is installed stays; {AGAIN} goes on from here.", file=sys.stderr)
        sys.exit(130)
