"""Return a liar: values that are not what they say, and errors that are more than errors."""

from autograder.demo.attacks.attack import Attack

START = "import os, sys\nimport numpy as np\nlibrary = 'numpy'\n"
EQUALS_EVERYTHING = """
class Equal:
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = lambda *a: True
"""


def _does(name: str, held_by: str, statement: str, before: str = "") -> Attack:
    source = f"{START}{before}\ndef NAME(*args, **kwargs):\n    {statement}"
    return Attack(name, held_by, answer=source)


def _returns(name: str, held_by: str, value: str, before: str = "") -> Attack:
    return _does(name, held_by, f"return {value}", before)


BY_KIND, NUMBERS_ALONE = "only plain kinds come back", "numbers alone come back"
ONE_FAILURE, RESTART = "the call is one failure", "later exercises are judged anew"

ATTACKS = (
    _returns("an object that equals everything", BY_KIND, "Equal()", EQUALS_EVERYTHING),
    _returns(
        "an array that equals everything",
        NUMBERS_ALONE,
        "args[0].view(Liar)",
        EQUALS_EVERYTHING
        + """
class Liar(Equal, np.ndarray):
    __array_priority__ = 1e9
    __array_ufunc__ = __array_function__ = lambda *a, **k: True
""",
    ),
    _returns(
        "a tensor that answers for torch",
        NUMBERS_ALONE,
        "torch.ones(2, 3, 5).as_subclass(Liar)",
        """
import torch
library = 'torch'
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True
""",
    ),
    _returns(
        "an object that turns into any array",
        BY_KIND,
        "Liar()",
        """
class Liar:
    def __array__(self, *a, **k):
        return np.ones((2, 3, 5))
    __float__ = lambda self: 1.0
    __index__ = lambda self: 1
    __len__ = lambda self: 3
""",
    ),
    _returns(
        "an object that runs code when it is unpickled",
        "nothing is pickled",
        "Liar()",
        """
class Liar:
    def __reduce__(self):
        return exec, ('import os; os._exit(7)',)
""",
    ),
    _returns(
        "an array of objects that run code",
        "dtypes are from a table",
        "np.array([Liar()] * 4, dtype=object)",
        """
class Liar:
    def __reduce__(self):
        return exec, ('import os; os._exit(7)',)
""",
    ),
    _returns(
        "an object that says it is an array",
        BY_KIND,
        "Liar()",
        """
class Liar:
    dtype, shape, ndim = np.dtype('f8'), (2, 3, 5), 3
    @property
    def __class__(self):
        return np.ndarray
""",
    ),
    _returns(
        "a list whose length changes",
        "the codec counts what it gets",
        "Liar([1.0, 2.0])",
        """
class Liar(list):
    n = 0
    def __len__(self):
        Liar.n += 1
        return Liar.n
    def __iter__(self):
        return iter([0.5] * 10_000)
""",
    ),
    _returns(
        "a list without end",
        "limits of time and memory",
        "Liar()",
        """
import itertools
class Liar(list):
    __iter__ = lambda self: itertools.repeat(1.0)
""",
    ),
    _returns("a generator without end", BY_KIND, "iter(int, 1)"),
    _returns("a list that holds itself", "limit of depth", "a", "a = []\na.append(a)"),
    _returns(
        "an array that memory could not hold",
        "limit of memory",
        "np.broadcast_to(np.float64(1.0), (10**6, 10**6))",
    ),
    _returns("a masked array", BY_KIND, "np.ma.array(np.ones((2, 3, 5)), mask=True)"),
    _returns("a number of a million digits", "the codec limits digits", "10 ** 1_000_000"),
    _returns(
        "a number that is another each time",
        NUMBERS_ALONE,
        "Liar(0.5)",
        """
class Liar(float):
    hex = lambda self: '0x1p+0'
    __float__ = lambda self: 1.0
    __eq__ = lambda *a: True
    __hash__ = None
""",
    ),
    _returns(
        "a dtype with a false name",
        "dtypes are from a table",
        "np.ones((2, 3, 5), dtype=[('float64', 'f8')])",
    ),
    _returns("nothing but NaN", "the referee compares", "np.asarray(args[0]) * np.nan"),
    _returns(
        "results that grow",
        "the codec limits sizes",
        "np.ones(len(grown) * 2**20)",
        """
class Grown(list):
    def __len__(self):
        self.append(0)
        return super().__len__()
grown = Grown()
""",
    ),
    _returns(
        "a dict whose keys all collide",
        "the codec limits entries",
        "{(2**61 - 1) * k: 0 for k in range(20_000)}",
    ),
    _returns("a string of megabytes", "the codec limits letters", "'\\x1b]0;' * 10**6"),
    _returns(
        "a function instead of a result",
        "handles are the referee's own",
        "Liar()",
        """
class Liar:
    def __call__(self, *args, **kwargs):
        os._exit(0)
    def __getattr__(self, name):
        return self
""",
    ),
    _does(
        "an error whose text never ends",
        "limits of time",
        "raise Endless()",
        """
class Endless(Exception):
    def __str__(self):
        while True:
            pass
""",
    ),
    _does(
        "an error whose text ends the process",
        RESTART,
        "raise Ends()",
        """
class Ends(Exception):
    __str__ = __repr__ = lambda self: os._exit(0)
""",
    ),
    _does(
        "an error that carries the inputs out",
        "of a hidden test little is told",
        "raise type('LEAK', (Exception,), {})('LEAK' + repr(args).replace(' ', ''))",
    ),
    _does(
        "an error with a page in its name",
        "words are cleaned",
        "raise type('<img src=x onerror=alert(1)>\\x1b[2J', (Exception,), {})('<script>alert(1)')",
    ),
    *(
        _returns(f"{what}, to be computed with", "counted before anything is computed", value)
        for what, value in {
            "matrices of one-byte integers": "2 * (np.ones((8000, 4000), np.int8),)",
            "matrices of truth values": "2 * (np.ones((7000, 4000), bool),)",
            "one number that is everywhere in a matrix": "np.broadcast_to(1.0, (20_000, 20_000))",
            "a vector whose products fill the memory": "np.ones(7_000_000)",
            "sixty thousand integers": "np.ones(60_000, np.int8)",
            "an array of thirty-two axes": "np.ones((1,) * 31 + (2,))",
            "half floats that double": "np.ones((5000, 5000), np.float16)",
        }.items()
    ),
    _returns("an array of objects", NUMBERS_ALONE, "np.array([args, None], dtype=object)"),
    _does(
        "an error with a formula that is forged",
        "marks are secret",
        "raise ValueError(FORGED)",
        "FORGED = '&#xE000;9&#xE001; \\ue0009\\ue001 kept-0-9- $x$'",
    ),
    _does(
        "a hidden input, told by the line of an error",
        "of an error in a hidden test neither line nor type is told",
        "line = int(abs(float(np.sum(args[0]))) * 1e4) % 50_000\n"
        "    exec(compile('\\n' * line + 'raise ValueError', NAME.__code__.co_filename, 'exec'))",
    ),
    _does(
        "a hidden input, told by the type of an error",
        "of an error in a hidden test neither line nor type is told",
        "import builtins\n"
        "    kinds = [k for k in vars(builtins).values() if isinstance(k, type)"
        " and issubclass(k, Exception)]\n"
        "    raise kinds[int(abs(float(np.sum(args[0]))) * 1e4) % 20]('LEAK')",
    ),
    _does("no Exception, but its parent", RESTART, "raise BaseException('x')"),
    _does("Ctrl-C from inside", ONE_FAILURE, "raise KeyboardInterrupt"),
    _does("exit from a call", ONE_FAILURE, "sys.exit(0)"),
    _does("the end of the process in a call", RESTART, "os._exit(0)"),
    _does("recursion without end", ONE_FAILURE, "return NAME(*args, **kwargs)"),
    _does(
        "inputs that are overwritten with the answer",
        "the referee keeps its own",
        "[a.fill(0.0) for a in args if hasattr(a, 'fill')]; return args[0]",
    ),
)
