"""Honest hand-ins that are odd: right answers beside cells that fail, print, draw or load much, and
files as people save them. Each must earn exactly what its answers are worth.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.demo.attacks.attack import Files


@dataclass(frozen=True)
class Odd:
    """What stands beside the right answers, or how they were saved."""

    name: str
    top: str = ""
    """A cell above everything,"""
    bottom: str = ""
    """one below everything,"""
    after_first: str = ""
    """one behind the first answer."""
    first: Callable[[str], str] | None = None
    """What was done to the first answer,"""
    change: Callable[[nbformat.NotebookNode], None] | None = None
    """to the notebook,"""
    files: Callable[[Files], Files] | None = None
    """or to what is handed in."""

    def mount(self, notebook: nbformat.NotebookNode, answer: str) -> None:
        """Put it into a notebook of right answers; `answer` is the id of the first."""
        place = next(n for n, cell in enumerate(notebook.cells) if cell.id == answer)
        if self.first:
            notebook.cells[place].source = self.first(notebook.cells[place].source)
        if self.after_first:
            notebook.cells.insert(place + 1, new_code_cell(self.after_first))
        if self.top:
            notebook.cells.insert(0, new_code_cell(self.top))
        if self.bottom:
            notebook.cells.append(new_code_cell(self.bottom))
        if self.change:
            self.change(notebook)


def _saved(encode: Callable[[str], bytes]) -> Callable[[Files], Files]:
    return lambda files: {name: encode(data.decode()) for name, data in files.items()}


def _called(new: str) -> Callable[[Files], Files]:
    return lambda files: {new: next(iter(files.values()))}


def _beside(**more: bytes) -> Callable[[Files], Files]:
    return lambda files: files | {name.replace("_dot_", "."): more[name] for name in more}


def _of_format_3(files: Files) -> Files:
    (name,) = files
    old = nbformat.convert(nbformat.reads(files[name].decode(), as_version=4), 3)
    for cell in old.worksheets[0].cells:
        cell.setdefault("metadata", {})
    return {name: json.dumps(old).encode()}


def _without_ids(notebook: nbformat.NotebookNode) -> None:
    notebook.nbformat_minor = 4
    for cell in notebook.cells:
        cell.pop("id", None)


def _without_metadata(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        cell.metadata = {}


def _much_shown(notebook: nbformat.NotebookNode) -> None:
    numbers = ", ".join(map(str, range(400_000)))
    shown = nbformat.v4.new_output("stream", text=numbers)
    notebook.cells.append(new_code_cell("print(table)", outputs=[shown]))


def _table_shown(notebook: nbformat.NotebookNode) -> None:
    data = {"application/vnd.plotly.v1+json": {"x": list(range(100_000))}, "text/plain": "Figure"}
    shown = nbformat.v4.new_output("display_data", data)
    notebook.cells.append(new_code_cell("figure", outputs=[shown]))


def _two_hundred_notes(notebook: nbformat.NotebookNode) -> None:
    for number in range(200):
        notebook.cells.insert(2 * number, new_markdown_cell(f"note {number}"))


def _widgets(notebook: nbformat.NotebookNode) -> None:
    notebook.metadata["widgets"] = {"state": {str(n): {"value": n} for n in range(5000)}}


PLOT = "import matplotlib.pyplot as plt, numpy as np\n"
HELPER = "def shifted(row):\n    return row\n"

TOP = {
    "a table from the laptop that binds a parameter's name": "import numpy as np\n"
    "x = np.loadtxt('my_scores.csv')",
    "a library that is not installed binds a local's name": "import pandas as pd\n"
    "p = pd.read_csv('mine.csv')",
    "a loop that divides by zero": "for t in [0, 1, 2]:\n    print(1 / t)",
    "a name in a comprehension that fails": "s = [1 / k for k in range(3)]",
    "an assertion that fails": "x = 1\nassert x == 2",
    "a misspelt name": "x = nmupy.zeros(3)",
    "a cell that does not parse": "x = = 1",
    "a file that is not there": "with open('notes.txt') as f:\n    z = f.read()",
    "a download without a network": "import urllib.request\n"
    "x = urllib.request.urlopen('https://example.org', timeout=1)",
    "a package that is installed first": "!pip install numpy\n%pip install torch",
    "a question to the student": "x = input('how many? ')",
    "a picture of nine": PLOT + "fig, ax = plt.subplots(3, 3)\n"
    "for a in ax.flat:\n    a.imshow(np.eye(30))\nplt.show()",
    "a large picture": PLOT + "plt.figure(figsize=(16, 9))\nplt.imshow(np.eye(500))\nplt.show()",
    "25 figures": PLOT
    + "for k in range(25):\n    plt.figure()\n    plt.plot([1, 2])\n    plt.show()",
    "300,000 lines printed": "for i in range(300_000):\n    print(i, i * i)",
    "one line of ten million letters": "print('x' * 10**7)",
    "a big table in memory": "import numpy as np\ntable = np.random.rand(5000, 2000)",
    "a big table in torch": "import torch\nz = torch.randn(3000, 3000) @ torch.randn(3000, 3000)",
    "more memory than there is": "import numpy as np\nx = np.ones((10**6, 10**6))",
    "scientific libraries imported": "import scipy.special, scipy.stats, scipy.optimize, sympy",
    "torch's parts imported late": "import torch\ntorch.func.vmap(torch.sin)(torch.ones(3))\n"
    "torch.einsum('ij,jk->ik', torch.ones(2, 2), torch.ones(2, 2))",
    "sixteen threads": "import threading\nfor k in range(16):\n"
    "    threading.Thread(target=sum, args=(range(1000),)).start()",
    "warnings without end": "import warnings\nfor k in range(2000):\n    warnings.warn(str(k))",
    "warnings turned into errors": "import warnings\nwarnings.simplefilter('error')",
    "numpy's errors raised": "import numpy as np\nnp.seterr(all='raise')",
    "numpy printed otherwise": "import numpy as np\nnp.set_printoptions(precision=2, threshold=5)",
    "a recursion too deep": "def down(n):\n    return down(n + 1)\ndown(0)",
    "exit": "exit()",
    "sys.exit": "import sys\nsys.exit(1)",
    "another working folder": "import os\nos.makedirs('data', exist_ok=True)\nos.chdir('data')",
    "a random seed": "import numpy as np, torch\nnp.random.seed(0)\ntorch.manual_seed(0)",
    "float64 for all of torch": "import torch\ntorch.set_default_dtype(torch.float64)",
    "a magic that is not there": "%load_ext nowhere\n%%nothing",
    "a shell command": "!ls -la\n!nvidia-smi",
    "a progress bar": "import sys\nfor n in range(1000):\n"
    "    print(f'\\r{n}', end='', file=sys.stderr)",
    "a label that names the function": PLOT + "plt.plot([1, 2], label='softmax')\nplt.legend()",
    "a class of the same name as a local": "class p:\n    y = 1 / 0",
    "a star import of what is not there": "from my_helpers import *",
    "asynchronous code": "import asyncio\nawait asyncio.sleep(0)",
    "letters of many scripts": "print('αβγ 注意 \\u202e עברית \\U0001f642')",
}

AFTER_FIRST = {
    "an experiment that fails behind its answer": "x = softmax(x, axis=2)",
    "the answer tried with wrong arguments": "softmax()",
    "the answer wrapped by a library that is missing": "softmax = numba.jit(softmax)",
    "a result that is named as a parameter": "import numpy as np\nx = softmax(np.zeros((2, 3)))",
}

FIRST = {
    "an answer that is timed": lambda text: "%%time\n" + text,
    "an answer whose output is caught": lambda text: "%%capture\n" + text,
    "an answer that prints": lambda text: text.replace(
        "    return", "    print('here')\n    return"
    ),
    "tabs instead of blanks": lambda text: text.replace("    ", "\t"),
    "Windows' line ends in an answer": lambda text: text.replace("\n", "\r\n"),
    "a comment of many letters": lambda text: text + "\n# " + "ä" * 10_000,
    "blank lines around an answer": lambda text: "\n\n\n" + text + "\n\n\n",
    "a test of one's own below an answer": lambda text: text + "\nassert softmax(1 / 0)",
}

ODD = (
    *(Odd(name, top=cell) for name, cell in TOP.items()),
    *(Odd(name, after_first=cell) for name, cell in AFTER_FIRST.items()),
    *(Odd(name, first=change) for name, change in FIRST.items()),
    Odd("an error in the last cell", bottom="x = 1 / 0"),
    Odd("a helper at the bottom", bottom=HELPER),
    Odd("no ids of cells", change=_without_ids),
    Odd("no metadata of nbgrader", change=_without_metadata),
    Odd("a very long output", change=_much_shown),
    Odd("a figure of plotly", change=_table_shown),
    Odd("200 notes", change=_two_hundred_notes),
    Odd("the state of widgets", change=_widgets),
    Odd("a mark of the byte order", files=_saved(lambda text: b"\xef\xbb\xbf" + text.encode())),
    Odd("UTF-16", files=_saved(lambda text: text.encode("utf-16"))),
    Odd("Windows' line ends", files=_saved(lambda text: text.replace("\n", "\r\n").encode())),
    Odd("escaped letters", files=_saved(lambda text: json.dumps(json.loads(text)).encode())),
    Odd("a name with a number", files=_called("03_softmax (1).ipynb")),
    Odd("a name of one's own", files=_called("Übung drei FINAL.ipynb")),
    Odd("an ending in capitals", files=_called("03_SOFTMAX.IPYNB")),
    Odd("an empty notebook beside it", files=_beside(Untitled_dot_ipynb=b"")),
    Odd("a module beside it", files=_beside(helpers_dot_py=b"import nowhere\n")),
    Odd("nbformat 3", files=_of_format_3),
)
