"""What holds for the package as a whole."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
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
NUMBER = re.compile(r"-- (Eq\. \((\d+)\.(\d+)\)|Exercise \d+\.\d+)")
"""A formula that an exercise asks for is on no page: it has the number of the exercise."""

CHAPTERS = Path(course_lib.__file__).parents[1] / "chapters"


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


def test_every_function_has_a_judge():
    """A case on generated shapes, or a property with a test of its own."""
    judged = {case.name for case in CASES} | set(PROPERTIES)
    assert judged == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_say_one_sentence_and_one_numbered_equation(name):
    function = FUNCTIONS[name]
    first, blank, *rest = function.__doc__.splitlines()
    assert first.endswith(".") and not blank.strip()
    assert len(NUMBER.findall(function.__doc__)) == 1, "expected one number of its own"
    assert "\t" not in function.__doc__ and "\f" not in function.__doc__


def test_a_written_chapter_has_every_equation_that_is_cited():
    for function in FUNCTIONS.values():
        _, chapter, number = NUMBER.search(function.__doc__).groups()
        for page in CHAPTERS.glob(f"{int(chapter):02}_*.md") if chapter else []:
            labelled = re.findall(r"^\$\$ \(eq-", page.read_text(), re.MULTILINE)
            assert int(number) <= len(labelled), f"{function.__name__}: {page.name}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_plain(name):
    """No decorator, no closure, all arguments annotated: a bundle may remove a body by name."""
    function = FUNCTIONS[name]
    assert inspect.getsource(function).startswith(f"def {name}(")
    assert function.__module__.startswith("course_lib.") and not function.__closure__
    parameters = inspect.signature(function).parameters.values()
    assert all(p.annotation is not inspect.Parameter.empty for p in parameters)


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
