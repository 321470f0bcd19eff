"""Use everything up: time, memory, processes, disk, output. Each bomb is bounded by itself too."""

from nbformat import NotebookNode

from autograder.demo.attacks.attack import Attack

PROCESSES = "import os, time\nfor _ in range(60):\n    "
UNTIL_REFUSED = "import contextlib\nwith contextlib.suppress(OSError, MemoryError):\n    "

ATTACKS = (
    Attack(
        "sixty processes, each with sixty",
        "limit of processes",
        """
import os, time
for _ in range(6):
    try:
        os.fork()
    except OSError:
        time.sleep(0.1)
""",
    ),
    Attack(
        "three gibibytes in steps",
        "limit of memory",
        """
held = []
for _ in range(48):
    held.append(bytearray(b'x' * (64 << 20)))
""",
    ),
    Attack(
        "memory in many processes",
        "their memory is added up",
        """
import os, time
for _ in range(10):
    if os.fork() == 0:
        held = bytearray(b'x' * (300 << 20))
        time.sleep(5)
        os._exit(0)
time.sleep(5)
""",
    ),
    Attack(
        "threads by the hundred",
        "limit of processes",
        """
import threading, time
for _ in range(300):
    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
""",
    ),
    Attack(
        "two hundred megabytes on the disk",
        "scratch is small",
        """
for n in range(200):
    open(f'f{n}', 'wb').write(b'x' * (1 << 20))
""",
    ),
    Attack(
        "one file of a terabyte",
        "limit of a file's size",
        """
with open('big', 'wb') as f:
    f.truncate(1 << 40)
    f.seek(1 << 39)
    f.write(b'x')
""",
    ),
    Attack(
        "files without number",
        "scratch is small",
        """
for n in range(20_000):
    open(f'f{n}', 'w').close()
""",
    ),
    Attack(
        "folders within folders",
        "scratch is small",
        """
import os
for _ in range(5_000):
    os.mkdir('d'); os.chdir('d')
""",
    ),
    Attack(
        "a zip that unpacks to a gigabyte",
        "scratch is small",
        """
import io, zipfile
data = io.BytesIO()
with zipfile.ZipFile(data, 'w', zipfile.ZIP_DEFLATED) as z:
    for n in range(20):
        z.writestr(f'{n}', bytes(50 << 20))
zipfile.ZipFile(data).extractall('.')
""",
    ),
    Attack(
        "fifty megabytes of output",
        "output is cut by bytes",
        """
import os
for _ in range(50):
    print('x' * (1 << 20))
    os.write(1, b'y' * (1 << 20))
""",
    ),
    Attack(
        "ten thousand outputs",
        "output is cut",
        """
from IPython.display import display, Latex
for n in range(10_000):
    display(Latex('$x$' * 100))
""",
    ),
    Attack(
        "errors with long tracebacks",
        "tracebacks are cut",
        """
def f(n):
    return f(n - 1) if n else 1 / 0
"""
        + "# "
        + "x" * 50_000
        + """

f(900)
""",
    ),
    Attack(
        "all descriptors",
        "limit of open files",
        """
import os
while True:
    os.dup(0)
""",
    ),
    Attack(
        "the process ends",
        "it is run again without that cell",
        """
import os
os._exit(0)
""",
    ),
    Attack(
        "a segmentation fault",
        "it is run again without that cell",
        """
import ctypes
ctypes.string_at(0)
""",
    ),
    Attack(
        "an overflow of the stack",
        "it is run again without that cell",
        """
import sys
sys.setrecursionlimit(10**9)
def f():
    return f() + [f for f in [f()]]
class A:
    def __repr__(self):
        return repr(self)
repr(A())
""",
    ),
    Attack(
        "abort",
        "it is run again without that cell",
        """
import os
os.abort()
""",
    ),
    Attack(
        "the process ends in every cell",
        "a few restarts",
        """
import os, sys
get_ipython().events.register('pre_run_cell', lambda i: os._exit(0))
""",
    ),
    Attack(
        "the channel is filled",
        "one question, one answer",
        """
import os, stat
fd = next(n for n in range(3, 200) if os.path.exists(f'/proc/self/fd/{n}')
          and stat.S_ISSOCK(os.fstat(n).st_mode))
for _ in range(1000):
    os.write(fd, bytes(1 << 16))
""",
    ),
    Attack(
        "a loop without end",
        "limit of a cell's time",
        """
while True:
    pass
""",
        stalls=True,
    ),
    Attack(
        "a sleep without end",
        "limit of a cell's time",
        """
import time
time.sleep(10_000)
""",
        stalls=True,
    ),
    Attack(
        "a loop that will not be interrupted",
        "it is killed",
        """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try:
        while True: pass
    except BaseException:
        pass
""",
        stalls=True,
    ),
    Attack(
        "a number that C computes for hours",
        "it is killed",
        "x = 10 ** (10 ** 9)",
        stalls=True,
    ),
    Attack(
        "each call takes a little less than is allowed",
        "one minute for all",
        answer="""
import time
library = 'numpy'
def NAME(*args, **kwargs):
    time.sleep(7)
    return args[0]
""",
        stalls=True,
    ),
    Attack(
        "each cell takes a little less than is allowed",
        "one minute for all",
        change=lambda notebook: notebook.cells.__setitem__(
            slice(0, 0), [_sleeping(n) for n in range(100)]
        ),
        stalls=True,
    ),
)


def _sleeping(number: int) -> NotebookNode:
    from nbformat.v4 import new_code_cell

    return new_code_cell("import time\ntime.sleep(30)", id=f"sleeping-{number}")
