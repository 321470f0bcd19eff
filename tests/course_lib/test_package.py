"""What holds for the package as a whole."""

import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch
from hypothesis import is_hypothesis_test
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import course_lib
from tests.course_lib import cases
from tests.course_lib.judges import CASES
from tests.course_lib.table import PROPERTIES

FUNCTIONS = {
    name: function
    for name, function in vars(course_lib).items()
    if inspect.isfunction(function) and not name.startswith("_")
}
NUMBER = re.compile(r"-- (Eq\.|Exercise|Chapter)\s\(?(\d+)(?:\.(\d+))?")
"""Printed on the page; asked for by an exercise, so on no page; said on the page without number."""

ROOT = Path(course_lib.__file__).parents[1]

PRINTED = """
eq-attend attend
eq-dot dot_scores
eq-scaled scaled_dot_scores
eq-cosine cosine_scores
eq-gaussian gaussian_scores
eq-multiplicative multiplicative_scores
eq-additive additive_scores
eq-concatenated additive_scores_concatenated
eq-attention scaled_dot_product_attention
eq-weights-output attention_with_weights
eq-project project
eq-cross cross_attention
eq-self self_attention
eq-stable softmax
eq-temperature softmax_at
eq-lse logsumexp log_softmax
eq-jacobian softmax_jacobian
eq-entropy entropy
eq-hide mask_scores additive_mask boolean_mask
eq-dropout dropout
eq-multi-head multi_head_attention merge_heads
eq-sum head_contributions
eq-groups repeat_groups
eq-product matmul_flops
eq-layer layer_flops attention_flops
eq-crossover crossover
eq-training model_training_flops
eq-nw nadaraya_watson
eq-gaussian-kernel gaussian_kernel
eq-gram gram
eq-psd is_positive_semidefinite
eq-exponential-kernel exponential_kernel
eq-mutual-directed symmetric_and_skew
eq-row-normalised row_normalised
eq-back-product projection_vjp
eq-backward attention_vjp reversed_attention
eq-central-difference central_difference numerical_gradient
"""
"""Which labelled equation of a page is that of which functions."""


def page(chapter: str) -> str:
    """Text of a chapter, empty as long as it is not written."""
    return "".join(p.read_text() for p in (ROOT / "chapters").glob(f"{int(chapter):02}_*.md"))


def _python(code: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_numpy_alone_is_enough():
    """With torch and matplotlib out of reach, attention still attends."""
    _python(
        """
import sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "matplotlib", "scipy"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NotInstalled())
import numpy
import course_lib

X = numpy.ones((2, 3))
assert (course_lib.scaled_dot_product_attention(X, X, X) == X).all()
"""
    )


def test_importing_loads_neither_torch_nor_matplotlib():
    _python(
        "import sys, course_lib;"
        "assert not {'torch', 'matplotlib', 'scipy', 'beartype'} & set(sys.modules)"
    )


def test_every_function_has_one_judge_on_generated_inputs():
    """A case, or a property with a test of its own."""
    judged = [case.name for case in CASES] + list(PROPERTIES)
    assert sorted(judged) == sorted(FUNCTIONS)
    assert all(is_hypothesis_test(test) for _, test in PROPERTIES.values())


def test_every_formula_is_exported():
    """A function with a number of its own, in whatever module."""
    modules = {inspect.getmodule(function) for function in FUNCTIONS.values()}
    formulas = {
        name
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if NUMBER.search(function.__doc__ or "")
    }
    assert formulas == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_say_one_sentence_and_one_numbered_equation(name):
    function = FUNCTIONS[name]
    first, blank, *rest = function.__doc__.splitlines()
    assert first.endswith(".") and not blank.strip()
    assert len(NUMBER.findall(function.__doc__)) == 1, "expected one number of its own"
    assert "\t" not in function.__doc__ and "\f" not in function.__doc__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_equation_has_the_number_of_the_page_or_of_the_exercise(name):
    """Chapters that are not written yet are left out."""
    kind, chapter, number = NUMBER.search(FUNCTIONS[name].__doc__).groups()
    labels = re.findall(r"^\$\$ \((eq-[\w-]+)\)", page(chapter), re.MULTILINE)
    if kind == "Eq." and page(chapter):
        lines = [line.split() for line in PRINTED.splitlines() if name in line.split()[1:]]
        assert lines, "expected its label in PRINTED, or -- Exercise c.n, or -- Chapter c"
        assert labels.index(lines[0][0]) + 1 == int(number), f"{lines[0][0]} has another number"
    if kind == "Exercise":
        (folder,) = (ROOT / "solutions").glob(f"{int(chapter):02}_*")
        exercises = tomllib.loads((folder / "assignment.toml").read_text())["exercise"]
        assert f"course_lib.{name}" in exercises[int(number) - 1]["withholds"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_plain(name):
    """No decorator, no closure, all arguments annotated: a bundle may remove a body by name."""
    function = FUNCTIONS[name]
    assert inspect.getsource(function).startswith(f"def {name}(")
    assert function.__module__.startswith("course_lib.") and not function.__closure__
    parameters = inspect.signature(function).parameters.values()
    assert all(p.annotation is not inspect.Parameter.empty for p in parameters)


PASSED_BY = {"boolean_mask": 1, "head_contributions": 5, "online_answer": 1}
"""How many arrays a function need not read: projections of queries and keys, the maximum so far."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_nan_is_never_swallowed(case):
    """NaN in each array of floats by itself: NaN somewhere in what comes out."""
    arguments = cases.one_example(case)
    quiet = 0
    for chosen in [x for x in _tensors(arguments) if x.is_floating_point() and not case.takes_like]:
        poisoned = cases.map_arrays(
            arguments, lambda x, chosen=chosen: x * torch.nan if x is chosen else x
        )
        result = getattr(cases.course_lib, case.name)(**poisoned)
        quiet += not any(part.isnan().any() for part in cases.leaves(result))
    assert quiet == PASSED_BY.get(case.name, 0)


def _tensors(arguments):
    found = []
    cases.map_arrays(arguments, lambda x: found.append(x) or x)
    return found


class _OneDevice(TorchDispatchMode):
    """Refuse an operation that meets a tensor made on the CPU beside one on another device."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor) and x.ndim]
        devices = {x.device.type for x in tensors}
        moves = operation.overloadpacket.__name__ in ("_to_copy", "copy_")
        assert len(devices) < 2 or moves, f"{operation} met {devices}"
        return operation(*args, **kwargs or {})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_results_stay_on_the_device_of_their_inputs(case):
    """On torch's meta device, where nothing may be made on the CPU and no number is looked at."""
    arguments = cases.one_example(case)
    on_meta = cases.map_arrays(arguments, lambda x: x.to("meta"))
    with _OneDevice():
        result = getattr(cases.course_lib, case.name)(**on_meta)
    assert all(part.device.type == "meta" for part in cases.leaves(result))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="GPU tests not run: no CUDA device")
def test_results_on_the_gpu_are_those_on_the_cpu():
    for case in CASES:
        arguments = cases.one_example(case)
        function = getattr(cases.course_lib, case.name)
        on_gpu = function(**cases.map_arrays(arguments, lambda x: x.to("cuda")))
        assert all(part.device.type == "cuda" for part in cases.leaves(on_gpu)), case.name
        cases.assert_close(on_gpu, function(**arguments))
