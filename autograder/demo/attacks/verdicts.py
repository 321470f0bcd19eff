"""Forge a verdict: patch what judges, or answer in its place."""

from autograder.demo.attacks.attack import Attack

THE_CHANNEL = """
import os, socket, stat, struct, threading, time
fd = next(n for n in range(3, 200) if os.path.exists(f"/proc/self/fd/{n}")
          and stat.S_ISSOCK(os.fstat(n).st_mode))
def message(header, sizes=()):
    import json
    text = json.dumps([header, list(sizes)]).encode()
    return struct.pack("<I", len(text)) + text
FULL = message({"value": {"float": "0x1p+0"}, "failure": "", "cause": None, "changed": [],
                "printed": 0, "kind": "function", "library": "numpy", "passed": True, "points": 4})
"""

ATTACKS = (
    Attack(
        "modules that are none are said to be loaded",
        "names alone are read",
        """
import autograder.sandbox.child as s
s.Respondent._loaded = lambda self: ['x' * 10**5, 3, None, '../a', 'this'] * 50
""",
    ),
    Attack(
        "statements without number are said to be left out",
        "twenty are read, of cells that there are",
        """
import autograder.sandbox.child as s
prepare = s._prepare
def tell(*given):
    answer = prepare(*given)
    return answer | {'stopped': 1000 * [['\\x1b[2J', '<script>'], ['setup', 3], None, ['a']]}
s._prepare = tell
""",
    ),
    Attack(
        "NumPy's comparisons always agree",
        "the referee compares",
        """
import numpy as np
np.allclose = np.isclose = np.array_equal = lambda *a, **k: True
np.testing.assert_allclose = lambda *a, **k: None
""",
    ),
    Attack(
        "the points are handed out freely",
        "the referee counts",
        """
import course_lib.checking.examine as e, course_lib.checking.verdicts as v
e.earned = v.earned = lambda verdicts, points: points
""",
    ),
    Attack(
        "the judge finds that everything holds",
        "the referee judges",
        """
import course_lib.checking.judge as j, course_lib.checking.examine as e
e.judge = j.judge = lambda *a, **k: []
e.earned = lambda verdicts, points: points
""",
    ),
    Attack(
        "nothing is ever compared",
        "the referee compares",
        """
import course_lib.checking.expect as e, course_lib.checking as c
for m in (e, c):
    m.expect_close = m.expect_true = m.expect_equal = print
e._as_array = lambda got, expected, hint: expected
""",
    ),
    Attack(
        "check is another function",
        "the checks are the grader's own",
        """
import builtins
check = builtins.check = lambda *a, **k: 1.0
import course_lib.checking.notebook as n
n.check = check
""",
    ),
    Attack(
        "perform gives what it likes",
        "the referee compares",
        """
import autograder.sandbox.child as s
from course_lib.checking.perform import CallResult
import numpy as np
s.perform = lambda *a, **k: CallResult(value=np.ones((2, 3, 5)))
""",
    ),
    Attack(
        "bring_back and Returned are patched",
        "the codec makes its own arrays",
        """
import course_lib.checking.returned as r, course_lib.checking.perform as p
class Liar:
    __eq__ = __lt__ = __gt__ = lambda *a: True
r.bring_back = p.bring_back = lambda value, library: Liar()
r.Returned = Liar
""",
    ),
    Attack(
        "the codec claims other sizes",
        "the codec checks every size",
        """
import autograder.sandbox.codec as c
c.encode = lambda value, buffers, depth=0: (buffers.append(b'x' * 8),
    {'array': ['<f8', [10**30, 0, 2**62], 'float64', 'cpu']})[1]
""",
    ),
    Attack(
        "the codec claims negative and floating sizes",
        "the codec checks every size",
        """
import autograder.sandbox.codec as c
c.encode = lambda value, buffers, depth=0: (buffers.append(b'x' * 8),
    {'array': ['<f8', [-1, -1.0, True], 'float64', 'cpu']})[1]
""",
    ),
    Attack(
        "the codec sends objects",
        "the codec knows a few dtypes",
        """
import autograder.sandbox.codec as c
c.encode = lambda value, buffers, depth=0: (buffers.append(b'x' * 8),
    {'array': ['|O', [1], 'object', 'cpu']})[1]
""",
    ),
    Attack(
        "one string long enough for terabytes",
        "the codec limits letters",
        """
import autograder.sandbox.codec as c
c.encode = lambda *a: {'list': ['a' * 3_000_000] + [''] * 1000}
""",
    ),
    Attack(
        "numbers of a million digits",
        "the codec limits digits",
        """
import autograder.sandbox.codec as c
c.encode = lambda *a: {'int': '9' * 1_000_000}
""",
    ),
    Attack(
        "lists in lists in lists",
        "the codec limits depth",
        """
import autograder.sandbox.codec as c
def deep(n):
    return {'list': [deep(n - 1)]} if n else None
c.encode = lambda *a: deep(300)
""",
    ),
    Attack(
        "a proof of a million lines",
        "the judge of proofs",
        """
import autograder.sandbox.child as s
s._prepare = lambda *a: {'kind': 'list', 'library': 'numpy',
                         'value': {'list': ['a', 'b', 'c'] * 6000}}
""",
    ),
    Attack(
        "an answer that is of no known kind",
        "the referee believes no word",
        """
import autograder.sandbox.child as s
s._prepare = lambda *a: {'kind': ['function'], 'library': {'numpy': []}, 'value': 1}
""",
    ),
    Attack(
        "words without end and with markup",
        "the referee cuts and cleans",
        """
import autograder.sandbox.child as s
s._prepare = lambda *a: {'nothing': '\\x1b[2J<script>alert(1)</script>\\x9b' * 10**4}
""",
    ),
    Attack(
        "asserts are dropped from the syntax tree",
        "no check runs in this process",
        """
import ast
class Full(ast.NodeTransformer):
    def visit_Call(self, node):
        if getattr(node.func, 'id', '') == 'check':
            return ast.copy_location(ast.Constant(1.0), node)
        return self.generic_visit(node)
    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(Full())
""",
    ),
    Attack(
        "the source of later cells is replaced",
        "no check runs in this process",
        """
get_ipython().input_transformers_cleanup.append(
    lambda lines: ['1.0'] if lines and lines[0].startswith('check(') else lines)
""",
    ),
    Attack(
        "a result is published before the check",
        "cell output is no verdict",
        """
ip = get_ipython()
def before(info):
    if info.raw_cell.startswith('check('):
        ip.displayhook.write_format_data({'text/plain': '1.0'}, {})
        session = getattr(getattr(ip, 'kernel', None), 'session', None)
        if session:
            session.send(ip.kernel.iopub_socket, 'execute_result',
                {'data': {'text/plain': '1.0'}, 'metadata': {}, 'execution_count': 1},
                parent=ip.kernel.get_parent('shell'))
ip.events.register('pre_run_cell', before)
""",
    ),
    Attack(
        "errors are shown nowhere",
        "cell output is no verdict",
        """
get_ipython().showtraceback = lambda *a, **k: None
import sys
sys.excepthook = lambda *a: None
""",
    ),
    Attack(
        "the marks are printed",
        "cell output is no verdict",
        """
from IPython.display import display, HTML
print('4.0')
display(HTML('<b>4.0</b>'))
print('softmax: all 7 properties looked at here hold  (numpy float64)')
4.0
""",
    ),
    Attack(
        "an answer lies there before the question",
        "one question, one answer",
        THE_CHANNEL + "os.write(fd, FULL)",
    ),
    Attack(
        "a thread answers faster",
        "the referee compares",
        THE_CHANNEL
        + """
def again():
    for _ in range(400):
        time.sleep(0.02)
        try:
            os.write(fd, FULL)
        except OSError:
            return
threading.Thread(target=again, daemon=True).start()
""",
    ),
    Attack(
        "a thread that listens in and answers every call",
        "the referee compares",
        THE_CHANNEL
        + """
def answer():
    while True:
        os.read(fd, 1 << 16)
        os.write(fd, FULL)
threading.Thread(target=answer, daemon=True).start()
""",
    ),
    Attack(
        "another process answers",
        "one question, one answer",
        THE_CHANNEL
        + """
if os.fork() == 0:
    for _ in range(100):
        time.sleep(0.05)
        os.write(fd, FULL)
    os._exit(0)
""",
    ),
    Attack(
        "every answer is sent twice",
        "one question, one answer",
        """
import autograder.sandbox.codec as c
send = c.send
def twice(connection, header, buffers=()):
    for _ in range(2):
        send(connection, header, buffers)
c.send = twice
""",
    ),
    Attack(
        "a header longer than the world",
        "the codec limits headers",
        THE_CHANNEL
        + """
import autograder.sandbox.codec as c
c.send = lambda *a: os.write(fd, b'\\xff\\xff\\xff\\xff' + b'[' * 1000)
""",
    ),
    Attack(
        "an answer in a million pieces",
        "limits of time",
        THE_CHANNEL
        + """
import autograder.sandbox.codec as c
def drop_by_drop(connection, header, buffers=()):
    for byte in c.pack(header, buffers):
        os.write(fd, bytes([byte])); time.sleep(0.0005)
c.send = drop_by_drop
""",
    ),
    Attack(
        "the channel is closed",
        "later exercises are judged anew",
        THE_CHANNEL + "os.close(fd)",
    ),
    Attack(
        "the expected values are looked for in memory",
        "they are in no process of a student",
        "",
        """
import gc, sys
library = 'numpy'
def NAME(*args, **kwargs):
    frame = sys._getframe()
    while frame:
        for word in ('expected', 'oracle', 'answers'):
            if word in frame.f_locals:
                return frame.f_locals[word]
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing).__name__ in ('Replay', 'Arrays'):
            return thing.oracle(*args, **kwargs)
""",
    ),
    Attack(
        "the grader's own modules are imported and changed",
        "they are in another process",
        """
try:
    import autograder.grading.referee as r
    r.earned = lambda *a: 4.0
except ImportError:
    import sys, types
    sys.modules['autograder.grading.referee'] = types.ModuleType('referee')
""",
    ),
    Attack(
        "everything is traced and rewritten",
        "the referee compares",
        """
import sys
def trace(frame, event, value):
    if event == 'return' and 'failure' in frame.f_locals:
        frame.f_locals['failure'] = ''
    return trace
sys.settrace(trace)
""",
    ),
)
