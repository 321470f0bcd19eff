"""Every single edit of a model answer is made, once, and nothing else is touched."""

import ast

import pytest

from autograder.exercises.mutants import mutants

HEAD = 'def f(x, n=1):\n    """Say."""\n'


def edits(body):
    return [mutant.edit for mutant in mutants(f"{HEAD}    {body}\n", "f")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x + n", ["x + n => x - n"]),
        ("return x @ n.T", ["x @ n.T => x * n.T", "n.T => n"]),
        ("return x[-1]", ["-1 => -2"]),
        ("return -x", ["-x => x"]),
        ("return not x", ["not x => x"]),
        ("return x < 0.5", ["x < 0.5 => x <= 0.5", "0.5 => 1.5"]),
        ("return x and n", ["x and n => x or n"]),
        ("return f(x, causal=True)", ["True => False"]),
        (
            "return x.sum(axis=0)",
            ["x.sum(axis=0) => x.mean(axis=0)", "x.sum(axis=0) => x.sum()", "0 => 1"],
        ),
        ("return np.exp(x)", ["np.exp(x) => np.sinh(x)"]),
        ("return x.swapaxes(a, b)", ["x.swapaxes(a, b) => x"]),
        ("return np.swapaxes(x, a, b)", ["np.swapaxes(x, a, b) => x"]),
        (
            "return (x + n) / (x + n)",
            [
                "(x + n) / (x + n) => (x + n) * (x + n)",
                "x + n => x - n",
                "x + n => x - n #2",
            ],
        ),
        ("return x", []),
        ("return 'text'", []),
    ],
)
def test_the_edits_of_a_line(body, expected):
    assert edits(body) == expected


def test_each_mutant_differs_from_the_answer_in_one_place():
    source = "import numpy as np\n\n\ndef helper(x):\n    return x + 1\n\n\n"
    source += HEAD + "    total = x.sum(axis=-1) * 2 + n\n    return np.sqrt(total)[0] - 1\n"
    made = list(mutants(source, "f"))
    whole = ast.unparse(ast.parse(source)).splitlines()
    assert len({mutant.source for mutant in made}) == len(made) == 10
    for mutant in made:
        lines = mutant.source.splitlines()
        assert len(lines) == len(whole)
        changed = [i for i, (a, b) in enumerate(zip(lines, whole, strict=True)) if a != b]
        assert len(changed) == 1
        assert "helper" not in whole[changed[0]]
        assert whole[changed[0]].strip() == source.splitlines()[mutant.line - 1].strip()


def test_neither_signature_nor_docstring_nor_helper_is_edited():
    source = "def g(x):\n    return x + 1\n\n\n" + HEAD + "    return g(x)\n"
    assert list(mutants(source, "f")) == []
