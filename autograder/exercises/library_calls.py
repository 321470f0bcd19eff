"""Answers that are one call of a library: none of them may earn anything on any exercise.

Of every namespace in NAMESPACES those functions are tried whose name holds the name of the exercise
or one of RELATIVES. Each is called in the ways of CALLS, which are those in which a student would
adapt it to the signature that the exercise gives. Functions that cannot be withheld, since nothing
can be put in their place, are not tried; nor is SciPy where it is not installed.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from autograder.exercises.time_limit import TooSlow, time_limit
from course_lib.checking.perform import CallRequest, perform
from course_lib.checking.withheld import withheld

NAMESPACES = (
    "course_lib",
    "numpy",
    "numpy.linalg",
    "scipy.linalg",
    "scipy.spatial.distance",
    "scipy.special",
    "scipy.stats",
    "torch",
    "torch.Tensor",
    "torch.linalg",
    "torch.masked",
    "torch.nn",
    "torch.nn.functional",
    "torch.ops.aten",
    "torch.special",
    "torch._VF",
    "torch._C._linalg",
    "torch._C._nn",
    "torch._C._special",
)
RELATIVES = (
    "attention",
    "cdist",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "entr",
    "entropy",
    "gelu",
    "kl_div",
    "layer_norm",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "nll_loss",
    "one_hot",
    "pdist",
    "rel_entr",
    "rms_norm",
    "scaled_dot_product",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
)
"""What computes a formula of this course and is more than a tool: never `exp`, `tril` or `einsum`.

Each is tried on every exercise, for nobody can tell beforehand what answers what.
"""
OTHER_USES = re.compile("_(backward|binary|cudnn|foreach|mem|mps|nested|sparse|triton)_")
"""What no answer calls; some end the process when they are given the wrong arguments."""
WHOLE = ("course_lib",)
"""Of these every function is tried."""
SECONDS = 1
SMALL = 10_000
"""Entries of arguments with which every function of a library may be called."""
SAME_MEANING = {"axis": "dim", "keepdims": "keepdim"}


Arguments = dict[str, Any]
"""Those of one call, by the names that the exercise gives them, defaults filled in."""


def library_calls(
    name: str, signature: inspect.Signature, library: str
) -> Iterator[tuple[str, list[Callable]]]:
    """Each function of a library that may answer this exercise, and the ways to answer by it.

    The answers are called in `library`, whichever the function is written for. The function is
    looked up anew at each call, so that it is the refusal where it is withheld.
    """
    for namespace in NAMESPACES:
        for path in _functions_like(namespace, (name, *RELATIVES)):
            yield path, [_answer(path, signature, library, call) for call in CALLS]


def why_not_withheld(path: str) -> str:
    """Why this name of a library's function would withhold nothing; nothing if it does.

    Of a library that is not installed here it cannot be told.
    """
    try:
        _find(path)
        with withheld((path,)):
            pass
    except ModuleNotFoundError as missing:
        return "which there is not" if missing.name != path.partition(".")[0] else ""
    except AttributeError:
        return "which there is not"
    except TypeError:
        return "in whose place nothing can be put"
    return ""


def _functions_like(namespace: str, names: Iterable[str]) -> Iterator[str]:
    """Those with one of the names between underscores, upper and lower case alike."""
    try:
        owner = _find(namespace)
    except (ImportError, AttributeError):
        return
    wanted = re.compile("_(" + "|".join(name.strip("_").lower() for name in names) + ")_")
    for attribute, spelt in _names_in(namespace):
        fits = namespace in WHOLE or wanted.search(spelt)
        if fits and not OTHER_USES.search(spelt) and _is_function(owner, attribute):
            yield f"{namespace}.{attribute}"


@cache
def _names_in(namespace: str) -> tuple[tuple[str, str], ...]:
    """Each name, and how it is spelt for the search: _log_softmax_ also for LogSoftmax."""
    if namespace == "torch._VF":  # it and torch.ops.aten list only what was used before
        names = set(dir(_find("torch._C._VariableFunctions")))
    elif namespace == "torch.ops.aten":
        operators = _find("torch._C")._dispatch_get_all_op_names()
        of_aten = (name.partition("::")[2] for name in operators if name.startswith("aten::"))
        names = {name.partition(".")[0] for name in of_aten}
    else:
        names = set(dir(_find(namespace)))
    humps = re.compile(r"(?<=[a-z])(?=[A-Z])")
    return tuple((name, f"_{humps.sub('_', name).lower().strip('_')}_") for name in sorted(names))


def _is_function(owner: Any, name: str) -> bool:
    """Or a class whose objects are called; operators may be declared and not there."""
    if name.startswith("__"):
        return False
    try:
        value = getattr(owner, name)
    except (AttributeError, RuntimeError):
        return False
    of_values = inspect.isclass(value) and issubclass(value, (BaseException, np.generic))
    return callable(value) and not of_values


def _find(path: str) -> Any:
    """What a dotted path names; raises ImportError or AttributeError."""
    root, *steps = path.split(".")
    owner = importlib.import_module(root)
    for step in steps:
        if inspect.ismodule(owner) and not hasattr(owner, step):
            importlib.import_module(f"{owner.__name__}.{step}")
        owner = getattr(owner, step)
    return owner


def _answer(path: str, signature: inspect.Signature, library: str, call: "Call") -> Callable:
    def answer(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        own = library if path.startswith("course_lib.") else path.partition(".")[0]
        values = {name: _in_library(value, own) for name, value in bound.arguments.items()}
        return _in_library(call(_find(path), values), library)

    return answer


def _in_library(value: Any, library: str) -> Any:
    """Arrays as `library` has them, in tuples, too."""
    torch = sys.modules.get("torch")
    if isinstance(value, tuple):
        return tuple(_in_library(item, library) for item in value)
    if library == "torch" and isinstance(value, np.ndarray):
        return _find("torch").from_numpy(value)
    if library != "torch" and torch is not None and isinstance(value, torch.Tensor):
        return value.detach().numpy()
    return value


def entries(arguments: Any) -> int:
    """How many numbers there are in a call's arguments."""
    if isinstance(arguments, dict):
        return sum(map(entries, arguments.values()))
    if isinstance(arguments, (tuple, list)):
        return sum(map(entries, arguments))
    return int(getattr(arguments, "size", 1))


def agreement(sample: CallRequest, rights: list[Callable]) -> Callable[[Callable], bool]:
    """Tells of an answer whether it may be right, by one call, before a whole test is run.

    It has the shape of what the function of `sample` gives; where all of `rights` agree with that,
    its numbers, too.
    """
    expected = perform(sample).value
    others = [perform(replace(sample, function=answer)).value for answer in rights]
    compare = _close if all(_close(other, expected) for other in others) else _same_shape

    def agrees(answer: Callable) -> bool:
        try:
            with time_limit(SECONDS, "gives no answer"):
                result = perform(replace(sample, function=answer))
        except TooSlow:
            return False
        return not result.failure and compare(result.value, expected)

    return agrees


def _same_shape(one: Any, other: Any) -> bool:
    """Of two arrays, or of all arrays in two tuples; all else needs the same type."""
    if isinstance(other, (tuple, list)):
        return (
            isinstance(one, (tuple, list))
            and len(one) == len(other)
            and all(map(_same_shape, one, other))
        )
    return getattr(one, "shape", type(one)) == getattr(other, "shape", type(other))


def _close(one: Any, other: Any) -> bool:
    """Of the same shape, with nearly the same numbers."""
    if not _same_shape(one, other):
        return False
    if isinstance(other, (tuple, list)):
        return all(map(_close, one, other))
    if isinstance(other, np.ndarray):
        return np.allclose(one, other, rtol=1e-3, atol=1e-3, equal_nan=True)
    return True


def _arrays(values: Arguments) -> list[Any]:
    return [value for value in values.values() if hasattr(value, "ndim")]


def _others(values: Arguments) -> Arguments:
    others = {name: value for name, value in values.items() if not hasattr(value, "ndim")}
    return {SAME_MEANING.get(name, name): value for name, value in others.items()}


def _lifted(function: Callable, values: Arguments) -> Any:
    """One question as a matrix of one row."""
    first, *others = _arrays(values)
    return function(first[None], *others)[0]


Call = Callable[[Callable, Arguments], Any]
CALLS: tuple[Call, ...] = (
    lambda function, values: function(*values.values()),
    lambda function, values: function(*_arrays(values)),
    lambda function, values: function(**values),
    lambda function, values: function(*_arrays(values), **_others(values)),
    lambda function, values: function(*_arrays(values), -1),
    lambda function, values: function(*_arrays(values), axis=-1),
    lambda function, values: function(*_arrays(values), dim=-1),
    lambda function, values: function(*_arrays(values), -1, False),
    lambda function, values: function(*_arrays(values), reduction="none"),
    lambda function, values: function(*_arrays(values), reduction="sum"),
    lambda function, values: function(*_arrays(values), is_causal=True),
    lambda function, values: function(*_arrays(values), enable_gqa=True),
    lambda function, values: function(*values.values())[0],
    lambda function, values: function(*_arrays(values))[0],
    _lifted,
    lambda function, values: function()(*_arrays(values)),
    lambda function, values: function(-1)(*_arrays(values)),
    lambda function, values: function(_arrays(values)[0].shape[-1])(*_arrays(values)),
)
"""The ways in which one would call it from the exercise's own signature."""
