"""What a judged function is: inputs of generated shapes, and another implementation of it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.course_lib.checked import course_lib
from tests.course_lib.comparing import TOLERANCE, error, leaves

SIZES = (0, 1, 2, 3, 5, 7)
LEADING = ((), (1,), (2,), (3, 2), (0,))
KINDS = tuple((library, dtype) for dtype in TOLERANCE for library in ("numpy", "torch"))
HALVES = (("torch", "bfloat16"), ("torch", "float16"), ("numpy", "float16"))


@dataclass
class Case:
    """One public function and its judge, which gets the same arguments as torch tensors.

    `sizes` names the sizes to draw: "batch n_q n_k>0 d_k:even".
    """

    name: str
    sizes: str
    inputs: Callable[[SimpleNamespace, "Numbers"], dict[str, Any]]
    judge: Callable[..., Any]
    by: str
    options: dict[str, tuple] = field(default_factory=dict)
    differentiable: bool = True
    takes_like: bool = False
    """Whether an array says in which library and dtype the result is to be made."""

    def examples(self) -> st.SearchStrategy:
        sizes = {word.split(">")[0].split(":")[0]: _choices(word) for word in self.sizes.split()}
        options = {name: st.sampled_from(choices) for name, choices in self.options.items()}
        return st.fixed_dictionaries(
            {
                "sizes": st.fixed_dictionaries(sizes),
                "options": st.fixed_dictionaries(options),
                "seed": st.integers(0, 2**32 - 1),
            }
        )


EXAMPLES = 200
"""Generated inputs for each public function."""

PROPERTIES: dict[str, tuple[str, Callable]] = {}
"""For each function that is no case: what judges it, and the test."""


def generated(*strategies: st.SearchStrategy) -> Callable:
    """Give a test that many drawn inputs, the same in every run."""
    options = {"deadline": None, "derandomize": True, "database": None}
    return lambda test: settings(max_examples=EXAMPLES, **options)(given(*strategies)(test))


def judges(*names: str, by: str) -> Callable:
    """Say which functions a test of a property judges."""

    def register(test: Callable) -> Callable:
        PROPERTIES.update(dict.fromkeys(names, (by, test)))
        return test

    return register


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Return standard normal numbers, always the same."""
    return np.random.default_rng(seed).standard_normal(shape)


class Numbers:
    """Random inputs of an example, in float64 by NumPy."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def __call__(self, *shape: int) -> np.ndarray:
        return self.rng.standard_normal(shape)

    def weights(self, *shape: int) -> np.ndarray:
        """Rows of positive numbers that sum to one."""
        raw = np.exp(self(*shape))
        return raw / raw.sum(-1, keepdims=True)

    def bools(self, *shape: int) -> np.ndarray:
        return self.rng.random(shape) < 0.7

    def order(self, n: int) -> list[int]:
        return self.rng.permutation(n).tolist()


def worst_errors(case: Case, examples: int = EXAMPLES) -> dict[str, float]:
    """Compare function and judge on generated inputs; return the largest error by dtype."""
    worst = dict.fromkeys(TOLERANCE, 0.0)

    def compare(example: dict, kind: tuple[str, str]) -> None:
        dtype = kind[1]
        difference = _difference(case, kind, example)
        worst[dtype] = max(worst[dtype], difference)
        assert difference <= TOLERANCE[dtype], f"differs by {difference:.2g}"

    _repeat(case, KINDS, compare, examples)
    return worst


def half_precision_errors(case: Case, examples: int = EXAMPLES) -> dict[str, tuple[float, float]]:
    """Return the largest error in low precision by dtype: ours, and that of the judge itself."""
    worst = {dtype: (0.0, 0.0) for _, dtype in HALVES}

    def compare(example: dict, kind: tuple[str, str]) -> None:
        ours, theirs = worst[kind[1]]
        ours = max(ours, _difference(case, kind, example))
        worst[kind[1]] = ours, max(theirs, _own_error(case, kind[1], example))

    _repeat(case, HALVES, compare, examples)
    return worst


def one_example(case: Case, choice: int = 0) -> dict:
    """Return arguments of middle size, as torch tensors, with one choice of the options."""
    words = [re.split("[>:]", word)[0] for word in case.sizes.split()]
    sizes = {word: (2,) if word == "batch" else 4 for word in words}
    options = {name: some[min(choice, len(some) - 1)] for name, some in case.options.items()}
    return _arguments(case, {"sizes": sizes, "options": options, "seed": 0}, "torch", "float64")


def _repeat(case: Case, kinds: tuple, compare: Callable, examples: int) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case.examples(), st.sampled_from(kinds))
    def run(example: dict, kind: tuple[str, str]) -> None:
        compare(example, kind)

    run()


def _own_error(case: Case, dtype: str, example: dict) -> float:
    """Error of the judge itself, computed in low precision on the same inputs."""
    arguments = _arguments(case, example, "torch", dtype)
    with torch.no_grad():
        return error(case.judge(**arguments), case.judge(**map_arrays(arguments, _as_tensor)))


def _difference(case: Case, kind: tuple[str, str], example: dict) -> float:
    library, dtype = kind
    arguments = _arguments(case, example, library, dtype)
    before = map_arrays(arguments, lambda x: x.copy() if library == "numpy" else x.clone())
    with torch.no_grad():
        got = getattr(course_lib, case.name)(**arguments)
    for part in leaves(got):
        assert isinstance(part, torch.Tensor) == (library == "torch"), (
            "came back in another library"
        )
        assert part.dtype in (_dtype(library, dtype), _dtype(library, "bool")), part.dtype
    assert error(_arrays(arguments), _arrays(before)) == 0, "an input was changed"
    exact = map_arrays(arguments, _as_tensor)
    with torch.no_grad():
        difference = error(got, case.judge(**exact))
    if case.differentiable and kind == ("torch", "float64"):
        function = getattr(course_lib, case.name)
        difference = max(
            difference, error(_gradients(function, exact), _gradients(case.judge, exact))
        )
    return difference


def _gradients(function: Callable, arguments: dict) -> tuple:
    """Return the gradients at all float inputs of a fixed random combination of all outputs."""
    inputs = []

    def leaf(x: torch.Tensor) -> torch.Tensor:
        if x.is_floating_point():
            x = x.clone().requires_grad_()
            inputs.append(x)
        return x

    outputs = [y for y in leaves(function(**map_arrays(arguments, leaf))) if y.is_floating_point()]
    random = torch.Generator().manual_seed(0)
    loss = sum((y * torch.randn(y.shape, generator=random, dtype=y.dtype)).sum() for y in outputs)
    if not inputs or not torch.is_tensor(loss) or not loss.requires_grad:
        return tuple(torch.zeros_like(x) for x in inputs)
    gradients = torch.autograd.grad(loss, inputs, allow_unused=True)
    return tuple(
        torch.zeros_like(x) if g is None else g for x, g in zip(inputs, gradients, strict=True)
    )


def _arguments(case: Case, example: dict, library: str, dtype: str) -> dict:
    sizes = SimpleNamespace(**example["sizes"], **example["options"])
    arguments = case.inputs(sizes, Numbers(example["seed"])) | example["options"]
    arguments = map_arrays(arguments, lambda x: _in(library, dtype, x))
    return arguments | ({"like": _in(library, dtype, np.zeros(1))} if case.takes_like else {})


def map_arrays(nest: Any, change: Callable) -> Any:
    """Apply a change to every array in a nest of arguments."""
    if isinstance(nest, dict):
        return {name: map_arrays(value, change) for name, value in nest.items()}
    if hasattr(nest, "_fields"):
        return type(nest)(*(map_arrays(value, change) for value in nest))
    return change(nest) if isinstance(nest, np.ndarray | torch.Tensor) else nest


def _arrays(nest: Any) -> tuple:
    found = []
    map_arrays(nest, lambda x: found.append(x) or x)
    return tuple(found)


def _in(library: str, dtype: str, x: np.ndarray) -> Any:
    if library == "torch":
        x = torch.from_numpy(np.ascontiguousarray(x).reshape(x.shape))
        return _cast(x, _dtype("torch", dtype))
    return x.astype(dtype) if x.dtype == np.float64 else x


def _as_tensor(x: Any) -> torch.Tensor:
    return _cast(torch.as_tensor(x), torch.float64)


def _cast(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x.to(dtype) if x.is_floating_point() else x


def _dtype(library: str, name: str) -> Any:
    return getattr(torch, name) if library == "torch" else np.dtype(name)


def _choices(word: str) -> st.SearchStrategy:
    if word == "batch":
        return st.sampled_from(LEADING)
    if word.endswith(":even"):
        return st.sampled_from((2, 4, 6))
    _, _, least = word.partition(">")
    return st.sampled_from([size for size in SIZES if size > int(least or -1)])
