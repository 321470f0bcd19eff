"""The machine that proves exercises is fed bad ones and names file, function and fault of each."""

import pytest

from autograder.exercises import prove as proving
from autograder.exercises.answer_memo import AnswerMemo
from course_lib.checking.verdicts import load_module

DIVIDE = "return x.sum(axis=-1) / x.shape[-1]"
ORACLE = "    means = [math.fsum(row) / len(row) for row in rows]\n"
STACK_HINT = 'hint="which axis is the last?")'


def refusals(proof):
    return [str(fault) for fault in proof.faults]


def refused(proof, *words):
    """Exactly one fault, which holds all these words."""
    assert not proof.holds
    assert len(proof.faults) == 1, refusals(proof)
    for word in words:
        assert word in str(proof.faults[0])


def test_a_good_exercise_is_proved_over_25_seeds(course):
    proof = course.prove(seeds=proving.SEEDS)
    assert proof.holds, refusals(proof)
    assert (proof.tests, proof.right, proof.wrong_caught, proof.mutants) == (3, 3, 3, 5)


@pytest.mark.parametrize("name", ["what_a_mean_forgets", "mean_of_a_shift"])
def test_a_good_proof_is_proved(course, name):
    assert course.prove(name=name).holds


def test_a_message_for_the_author_of_each_wrong_answer(course):
    messages = course.prove().messages
    assert list(messages) == ["sum_only", "one_too_few", "second_axis"]
    first, evidence, hint = messages["sum_only"].splitlines()
    assert first.startswith("Each row of a matrix gives its mean")
    assert first.endswith("(test_means_of_a_matrix, numpy float64)")
    assert evidence.startswith("  entry ")
    sum_only = load_module(course.chapter / "row_means" / "wrong.py").sum_only
    assert sum_only.__doc__ in hint


def test_a_wrong_answer_that_slips_through(course):
    course.spoil("row_means/wrong.py", "return x.mean(1)", "return x.mean(-1)")
    refused_by = refusals(course.prove())
    assert refused_by[0].startswith(
        "01_rows/row_means/wrong.py, second_axis: slips through test_a_stack_of_matrices"
    )


def test_a_wrong_answer_that_slips_through_in_one_dtype_only(course):
    course.spoil(
        "row_means/wrong.py", "return x.sum(-1)\n", "return x.sum(-1) / (x.shape[-1] + 5e-5)\n"
    )
    refused(course.prove(), "wrong.py, sum_only: slips through", "(numpy float32, seed 0)")


def test_a_wrong_answer_that_fails_a_test_it_does_not_list(course):
    course.spoil("row_means/wrong.py", '@fails("a_stack_of_matrices")', '@fails("equal_entries")')
    course.spoil("row_means/wrong.py", "return x.mean(1)", "return -x.mean(-1)")
    refused(
        course.prove(),
        "01_rows/row_means/wrong.py, second_axis: also fails test_a_stack_of_matrices",
        "list it in @fails",
    )


def test_a_wrong_answer_that_names_an_unknown_test(course):
    course.spoil("row_means/wrong.py", '@fails("a_stack_of_matrices")', '@fails("a_stack")')
    first = refusals(course.prove())[0]
    assert "wrong.py, second_axis: names test_a_stack, which tests.py does not have" in first


def test_a_wrong_answer_that_names_no_test(course):
    course.spoil("row_means/wrong.py", '@fails("a_stack_of_matrices")\n', "")
    assert "wrong.py, second_axis: names no test that must catch it" in refusals(course.prove())[0]


def test_a_wrong_answer_without_words_for_its_mistake(course):
    course.spoil("row_means/wrong.py", '    """the sum, not divided"""\n', "")
    refused(course.prove(), "wrong.py, sum_only: has no docstring")


def test_two_wrong_answers_with_the_same_words(course):
    course.spoil("row_means/wrong.py", "axis 1, whatever the rank", "the sum, not divided")
    refused(course.prove(), "wrong.py, second_axis: has the words of sum_only")


def test_a_test_that_never_fails(course):
    course.append(
        "row_means/tests.py",
        '\n\n@hidden\ndef test_finite(row_means, arrays):\n    """The mean is a number"""\n'
        "    x = arrays.normal(3, 5)\n    row_means(x)\n"
        '    expect_close(got=x, expected=x, hint="is it?")\n',
    )
    said = refusals(course.prove())
    assert "01_rows/row_means/tests.py, test_finite: never fails" in "\n".join(said)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("row_means(arrays.normal(3, 5))", "asserts nothing"),
        ("arrays.oracle(arrays.normal(3, 5))", "never calls the function"),
    ],
)
def test_a_test_without_an_executed_check(course, body, words):
    course.append(
        "row_means/tests.py",
        f'\n\n@hidden\ndef test_idle(row_means, arrays):\n    """Nothing"""\n    {body}\n',
    )
    refused(course.prove(), "01_rows/row_means/tests.py, test_idle", words)


def test_a_wrong_model_answer(course):
    course.spoil("row_means/solution.py", DIVIDE, "return x.sum(axis=-1) / 5")
    refused(
        course.prove(),
        "01_rows/row_means/solution.py, row_means: is refused by test_means_of_a_matrix",
        "numpy float64, seed 0",
    )


@pytest.mark.parametrize(
    ("body", "words"), [("1 / 0", "raises ZeroDivisionError"), ("return 3", "returns 3")]
)
def test_a_worked_example_that_shows_nothing(course, body, words):
    """Only a release would meet it, when the class is waiting."""
    course.append("row_means/tests.py", f"\n\ndef on_the_island():\n    {body}\n")
    refused(course.prove(), "01_rows/row_means/tests.py, on_the_island: " + words)


def test_a_right_answer_refused(course):
    course.spoil("row_means/right.py", "return x.mean(-1)", "return x.mean(0)")
    refused(course.prove(), "01_rows/row_means/right.py, by_the_library: is refused by test_")


def test_a_right_answer_refused_at_one_seed_of_twenty_five(course):
    """A tolerance that is too tight refuses a right answer only where a mean is large."""
    course.spoil("row_means/tests.py", STACK_HINT, f"slack=0.055, {STACK_HINT}")
    course.spoil("row_means/right.py", "return x.mean(-1)", "return x.mean(-1) * (1 + 1e-7)")
    proofs = {seeds: course.prove(seeds) for seeds in (1, 5, proving.SEEDS)}
    assert proofs[1].holds
    assert proofs[5].holds
    refused(proofs[proving.SEEDS], "right.py, by_the_library: is refused by", ", seed ")


def test_a_starter_that_already_answers(course):
    helper = "def helper(x):\n    return x.sum(axis=-1) / x.shape[-1]\n\n\ndef row_means"
    course.spoil("row_means/solution.py", "def row_means", helper)
    said = refusals(course.prove())
    assert said[0].startswith("01_rows/row_means/solution.py, row_means: the starter (its helper")
    assert "gives the answer away" in said[0]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("row_means/solution.py", "every row.", f"every row: {DIVIDE}."),
        ("row_means/prompt.md", "the last axis.", "the last axis: `x.sum(axis=-1)/x.shape[-1]`."),
    ],
)
def test_a_text_that_tells_the_answer(course, file, old, new):
    course.spoil(file, old, new)
    refused(
        course.prove(), "solution.py, row_means: the starter gives the answer away: it says `x.sum"
    )


def test_a_lazy_answer_that_earns_marks(course):
    course.spoil("row_means/tests.py", "for shape in ((3, 5), (2, 7))", "for shape in ((3, 5),)")
    said = refusals(course.prove())
    assert said[0].startswith(
        "01_rows/row_means/tests.py, test_means_of_a_matrix: a lazy answer (the first answer for"
    )


def test_a_surviving_edit_that_is_not_listed(course):
    course.spoil("row_means/solution.py", DIVIDE, f"x = x + 0\n    {DIVIDE}")
    refused(
        course.prove(),
        "01_rows/row_means/solution.py, row_means: line 8: no test notices the edit "
        "`x + 0 => x - 0`",
    )


def test_a_surviving_edit_that_is_listed_with_its_reason(course):
    course.spoil("row_means/solution.py", DIVIDE, f"x = x + 0\n    {DIVIDE}")
    reason = 'edit = "x + 0 => x - 0"\nreason = "zero is its own negative"\n'
    course.write("row_means/mutants.toml", f"[[equivalent]]\n{reason}")
    proof = course.prove()
    assert proof.holds, refusals(proof)
    assert proof.equivalent == 1


@pytest.mark.parametrize("edit", ["x.sum(axis=-1) => x.mean(axis=-1)", "x => y"])
def test_a_listed_edit_that_a_test_notices_or_that_is_none(course, edit):
    course.write("row_means/mutants.toml", f'[[equivalent]]\nedit = "{edit}"\nreason = "?"\n')
    refused(
        course.prove(), "01_rows/row_means/mutants.toml", f"`{edit}` is listed as equivalent but"
    )


def test_a_listed_edit_without_a_reason(course):
    course.write("row_means/mutants.toml", '[[equivalent]]\nedit = "x => y"\n')
    refused(course.prove(), "01_rows/row_means/mutants.toml", "`x => y` is listed without a reason")


@pytest.mark.parametrize("test", ["means_of_a_matrix", "a_stack_of_matrices"])
def test_a_hint_that_is_no_question(course, test):
    hint = {"means_of_a_matrix": "by what?", "a_stack_of_matrices": "is the last?"}[test]
    course.spoil("row_means/tests.py", hint, hint.rstrip("?"))
    refused(course.prove(), f"tests.py, test_{test}: its hint is not a question")


@pytest.mark.parametrize(("old", "count"), [("@oracle\n", 0), ("def by_the", 2)])
def test_not_one_oracle(course, old, count):
    course.spoil("row_means/right.py", old, "" if count == 0 else "@oracle\ndef by_the")
    refused(course.prove(), "01_rows/row_means/right.py", f"{count} answers are marked @oracle")


def test_only_one_right_answer(course):
    course.spoil("row_means/right.py", "def by_the", "def _by_the")
    assert "right.py: has 1 right answers; write two or more" in "\n".join(refusals(course.prove()))


def test_no_right_answer_in_torch(course):
    course.spoil("row_means/right.py", "def by_the", '@only("numpy")\ndef by_the')
    refused(course.prove(), "01_rows/row_means/right.py: no right answer is written for torch")


def test_a_right_answer_for_the_only_library_is_enough(course):
    course.spoil("row_means/right.py", "def by_the", '@only("numpy")\ndef by_the')
    course.spoil("assignment.toml", "required = true", 'required = true\nlibraries = ["numpy"]')
    assert course.prove().holds


def test_an_argument_that_float32_cannot_hold(course):
    course.spoil("row_means/tests.py", "c = arrays.normal(3, 1)", "c = arrays.normal(3, 1) / 3")
    refused(
        course.prove(),
        "01_rows/row_means/tests.py",
        "test_equal_entries: an argument is not representable in float32",
        "arrays.rounded",
    )


def test_a_test_that_sends_a_wrong_answer_on_unrounded(course):
    """Only a wrong answer meets the fault: the means of the model answer are exact here."""
    course.spoil(
        "row_means/tests.py",
        'expect_close(got=got, expected=c[:, 0], hint="how many entries are there?")',
        "row_means(np.where(np.isclose(got, c[:, 0]), 0.0, 1 / 3)[None])\n"
        '    expect_close(got=got, expected=c[:, 0], hint="how many entries are there?")',
    )
    said = "\n".join(refusals(course.prove()))
    assert "tests.py, test_equal_entries: an argument is not representable in float32" in said


def test_a_test_that_fails_on_its_own(course):
    course.spoil("row_means/tests.py", "c = arrays.normal(3, 1)", "c = arrays.normall(3, 1)")
    refused(
        course.prove(),
        "tests.py, test_equal_entries: failed before it called the function: AttributeError",
    )


@pytest.mark.parametrize("file", ["solution.py", "tests.py", "right.py", "wrong.py"])
def test_a_file_that_cannot_be_imported(course, file):
    course.append(f"row_means/{file}", "\n1 / 0\n")
    refused(course.prove(), f"01_rows/row_means/{file}: cannot be imported: ZeroDivisionError")


LOOP = "    while x.ndim:\n        pass\n"


@pytest.mark.parametrize(
    ("file", "function", "old"),
    [
        ("wrong.py", "second_axis", "    return x.mean(1)\n"),
        ("right.py", "by_the_library", "    return x.mean(-1)\n"),
        ("solution.py", "row_means", f"    {DIVIDE}\n"),
    ],
)
def test_an_endless_loop(course, monkeypatch, file, function, old):
    monkeypatch.setattr(proving, "SECONDS_PER_TEST", 1)
    course.spoil(f"row_means/{file}", old, LOOP)
    said = refusals(course.prove())
    assert f"01_rows/row_means/{file}, {function}: gives no answer to test_" in said[0]
    assert "within 1 seconds" in said[0]


def test_an_answer_may_take_as_long_as_one_call_of_its_exercise(course, monkeypatch):
    monkeypatch.setattr(proving, "SECONDS_PER_TEST", 0.5)
    course.spoil("assignment.toml", "required = true", "limits = { call_seconds = 1 }")
    course.spoil("row_means/solution.py", f"    {DIVIDE}\n", LOOP)
    assert "within 1 seconds" in refusals(course.prove())[0]


def test_an_edit_that_loops_for_ever_is_noticed(course, monkeypatch):
    """Here j + 1 => j - 1 never comes to an end."""
    monkeypatch.setattr(proving, "SECONDS_PER_TEST", 1)
    loop = "total, j, n = 0, 0, x.shape[-1]\n    while j < n:\n"
    loop += "        total, j = total + x[..., j % n], j + 1\n    return total / n"
    course.spoil("row_means/solution.py", DIVIDE, loop)
    said = refusals(course.prove(seeds=1))
    assert not any("`j + 1 => j - 1`" in fault for fault in said), said
    assert said == []


def test_a_model_answer_in_torch_is_proved_alike(course):
    course.spoil("row_means/solution.py", '"numpy"  # or "torch"', '"torch"')
    course.spoil("row_means/solution.py", "import numpy as np", "import torch")
    course.spoil("row_means/solution.py", "np.ndarray) -> np.ndarray", "torch.Tensor) -> float")
    course.spoil("row_means/solution.py", "axis=-1", "dim=-1")
    proof = course.prove()
    assert proof.holds, refusals(proof)


def test_an_answer_that_is_a_whole_number_has_lazy_answers_too(course):
    """Zeros earn nothing where a count is asked for."""
    assert not any(
        answer([[1, 2], [3, 4]]) == 4
        for name, answer in proving.lazy_answers(lambda rows: sum(map(len, rows))).items()
        if name not in ("the first answer for ever", "one fixed size")
    )


def test_the_oracle_is_asked_again_for_nearly_the_same_question():
    import numpy as np

    asked = []
    remembered = AnswerMemo(lambda *args, **kwargs: asked.append(args) or np.zeros(2))
    x = np.linspace(0, 1, 2_003)
    y = x.copy()
    y[1_000] += 1e-12
    for argument in (x, y):
        remembered([argument])
        remembered(1, mask=argument)
        remembered(argument)
        remembered(argument)[0] = 7.0
    assert len(asked) == 6
    assert remembered(x)[0] == 0.0, "what a test writes into an expected value stays with that test"


@pytest.mark.parametrize(
    "name", ["torch.sotfmax", "torch.specail.softmax", "torch._C._VariableFunctions.softmax"]
)
def test_a_withheld_name_that_withholds_nothing(course, name):
    course.spoil("assignment.toml", "course_lib.cross_attention", name)
    (fault,) = course.prove().faults
    assert (fault.file, fault.function) == ("01_rows/assignment.toml", "row_means")
    assert repr(name) in fault.problem


def test_a_withheld_name_of_a_library_that_is_not_installed(course):
    course.spoil("assignment.toml", "course_lib.cross_attention", "no_such_library.softmax")
    assert course.prove().holds


def test_a_built_proof_in_which_any_order_counts(course):
    """Then the lines as they are shown are a proof."""
    text = (course.chapter / "what_a_mean_forgets/proof.toml").read_text()
    lines = text.partition("[[distractor]]")[0].splitlines(keepends=True)
    loose = "".join(line for line in lines if not line.startswith("after"))
    course.write("what_a_mean_forgets/proof.toml", loose)
    said = refusals(course.prove(name="what_a_mean_forgets"))
    assert said[0] == (
        "01_rows/what_a_mean_forgets/proof.toml: "
        "a lazy answer (the lines as shown) earns 100% of the points"
    )
