"""Do the exercises: this one file sets up what is missing, opens JupyterLab, checks, hands in.

    python course.py                    set up, the first time; then open the notebook
    python course.py check softmax      say what holds in one answer, without JupyterLab
    python course.py left               what is done, what is not, what was never attempted
    python course.py reset softmax      put one starter back; the others stay
    python course.py submit             make the file to hand in

It needs Python 3.11 to 3.14 and nothing else. In the folder of the whole course name the
assignment, too:  python course.py submit 03_softmax
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 14)
VERBS = ("lab", "check", "left", "reset", "submit")
TO_CHECK = ("numpy", "array_api_compat", "jaxtyping")
TO_OPEN = (*TO_CHECK, "torch", "matplotlib", "jupyterlab", "ipykernel", "nbgrader")

NO_SUCH_WORD = """\
{word} is no command, and the assignment here is {here}. Nothing was done.
After  python course.py  may stand:  {verbs}"""
FIRST_TIME = """
Setting up in {venv}. This happens once, takes some minutes, and needs the network; afterwards
nothing does."""
CUDA_COMES_ALONG = """
On Linux, PyTorch brings CUDA along: a download of 2.7 GB. Without an NVIDIA GPU its CPU build,
0.2 GB, does all that is needed. To have that one, press Ctrl-C and type
  PIP_EXTRA_INDEX_URL=ADDRESS python course.py
where ADDRESS is what PyTorch's own page "Get Started" shows after --index-url when you have
chosen Linux, Pip and CPU there.
"""


def main(words):
    if words and words[0] in ("-h", "--help", "help"):
        print(__doc__)
        return 0
    verb = words.pop(0) if words and words[0] in VERBS else "lab"
    folder = assignment(words)
    if verb == "lab" and words and not words[0].startswith("-"):  # no option of JupyterLab's
        sys.exit(NO_SUCH_WORD.format(word=words[0], here=folder.name, verbs="  ".join(VERBS)))
    python = interpreter(TO_OPEN if verb == "lab" else TO_CHECK)
    if verb == "lab":
        return lab(python, folder, words)
    known = {**os.environ, "PYTHONPATH": str(folder)}
    command = [python, "-m", "course_lib.checking", verb, *words]
    return subprocess.call(command, cwd=str(folder), env=known)


def assignment(words):
    """The folder of the assignment: this one, or the one that is named."""
    if (HERE / "checks").is_dir():
        if words and words[0] == HERE.name:
            words.pop(0)
        return HERE
    there = sorted(path.parent.name for path in HERE.glob("*/checks"))
    meant = [stem for stem in there if words and stem.startswith(words[0].strip("/\\"))]
    if len(meant) == 1:
        words.pop(0)
        return HERE / meant[0]
    said = "Which assignment? "
    if words:
        said = f"No assignment is called {words[0]}; its name comes first. "
    sys.exit(f"{said}Name one of:  {'  '.join(there)}")


def interpreter(needed):
    """This Python if it has all that is needed, or that of .venv, which is made when missing."""
    if all(find_spec(name) for name in needed):
        return sys.executable
    if not OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON:
        sys.exit(
            f"This is Python {sys.version.split()[0]}; the exercises need 3.11 to 3.14.\n"
            "Install one of these and type its name instead of python, such as  python3.12"
        )
    places = [HERE, HERE.parent, *sorted(HERE.parent.glob("*/"))]  # one for all assignments
    venv = next((place / ".venv" for place in places if is_set_up(place / ".venv")), None)
    if venv is None:
        venv = HERE / ".venv"
        set_up(venv)
    return program(venv)


def program(venv):
    windows = os.name == "nt"
    return str(venv / ("Scripts" if windows else "bin") / ("python.exe" if windows else "python"))


def is_set_up(venv):
    stamp = venv / "course-stamp"
    return stamp.is_file() and stamp.read_bytes() == (HERE / "requirements.txt").read_bytes()


def set_up(venv):
    print(FIRST_TIME.format(venv=venv))
    if sys.platform == "linux" and not os.environ.get("PIP_EXTRA_INDEX_URL"):
        print(CUDA_COMES_ALONG)
    for command in (
        [sys.executable, "-m", "venv", str(venv)],
        [program(venv), "-m", "pip", "install", "-r", str(HERE / "requirements.txt")],
    ):
        try:
            status = subprocess.call(command)
        except KeyboardInterrupt:
            sys.exit("\nStopped. What is installed so far stays.")
        if status != 0:
            sys.exit(
                "\nThe set-up did not finish; the lines above say why. What is installed stays.\n"
                "Remove the cause (no network? a full disk?) and type  python course.py  again."
            )
    (venv / "course-stamp").write_bytes((HERE / "requirements.txt").read_bytes())


def lab(python, folder, words):
    """JupyterLab at the notebook, without questions about news that need the network."""
    known = dict(os.environ)
    paths = [str(HERE / "lab_settings"), known.get("JUPYTER_CONFIG_PATH", "")]
    known["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    known["PATH"] = os.pathsep.join([str(Path(python).parent), known.get("PATH", "")])
    print("JupyterLab opens in your browser. To end it, press Ctrl-C here.", flush=True)
    quiet = "--ServerApp.log_level=ERROR"
    command = [python, "-m", "jupyterlab", folder.name + ".ipynb", quiet, *words]
    if os.name == "posix":  # what ends this program ends JupyterLab
        os.chdir(str(folder))
        os.execve(python, command, known)
    try:
        return subprocess.call(command, cwd=str(folder), env=known)
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
