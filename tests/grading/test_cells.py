"""Cells do in the grader what they do in a notebook; what nobody can answer there is explained."""

import base64

import pytest

from autograder.sandbox import limits
from autograder.sandbox.process import StudentProcess
from course_lib.checking.perform import CallRequest
from course_lib.checking.setting import Setting
from course_lib.checking.terms import NO_TERMS
from tests.grading.sandbox_fixtures import forking, printed, run, sandbox, student

__all__ = ["forking", "sandbox", "student"]


def shown(student: StudentProcess, source: str) -> list[dict]:
    answer = run(student, source)
    assert answer["error"] is None, answer
    return [output["data"] for output in answer["outputs"]]


FIGURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.title('a')\n"


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline\n" + FIGURE + "plt.show()",
        FIGURE,
        "%matplotlib inline\n" + FIGURE + "plt.gcf();",
        "%config InlineBackend.figure_format = 'png'\n" + FIGURE,
    ],
)
def test_a_figure_is_kept_as_an_image(student, source):
    (figure,) = [data for data in shown(student, source) if "image/png" in data]
    assert base64.b64decode(figure["image/png"]).startswith(b"\x89PNG")


def test_the_last_value_and_what_is_displayed_are_kept_in_order(student):
    values = shown(student, "display(1)\ndisplay('b', 3)\n4")
    assert [data["text/plain"] for data in values] == ["1", "'b'", "3", "4"]


def test_a_semicolon_keeps_the_last_value_quiet(student):
    assert shown(student, "4;") == []


def test_rich_values_keep_text_and_formula_but_no_html(student):
    source = """
class Rich:
    def __repr__(self): return "plain"
    def _repr_html_(self): return "<script>alert(1)</script>"
    def _repr_latex_(self): return "$x$"
    def _repr_javascript_(self): return "alert(1)"
    def _repr_svg_(self): return "<svg onload='alert(1)'/>"
Rich()
"""
    assert shown(student, source) == [{"text/plain": "plain", "text/latex": "$x$"}]


def test_a_value_that_cannot_be_shown_costs_its_cell_alone(student):
    run(student, "class Bad:\n    def __repr__(self): raise ValueError('no')\nBad()")
    assert printed(student, "print(1)") == "1"


def test_an_error_is_kept_with_the_line(student):
    answer = run(student, "a = 1\na / 0")
    assert answer["error"] == ["ZeroDivisionError", "division by zero"]
    (error,) = answer["outputs"]
    assert "----> 2 a / 0" in "\n".join(error["traceback"])


def test_an_error_with_too_many_words_is_still_shown(student):
    (error,) = run(student, "raise ValueError('x' * 5_000_000)")["outputs"]
    assert error["ename"] == "ValueError"
    assert len(str(error)) < 100_000


def test_an_error_without_words_costs_its_cell_alone(student):
    source = "class Bad(Exception):\n    def __str__(self): raise ValueError('no')\nraise Bad"
    assert run(student, source)["error"]
    assert printed(student, "print(1)") == "1"


def test_a_syntax_error_is_kept(student):
    assert run(student, "a = = 1")["error"][0] == "SyntaxError"


def test_exit_does_not_end_the_process(student):
    assert run(student, "import sys; sys.exit(3)")["error"][0] == "SystemExit"
    assert printed(student, "print(1)") == "1"


@pytest.mark.parametrize("word", ["exit()", "quit()"])
def test_leaving_the_notebook_is_no_error_and_costs_no_cell(student, word):
    assert run(student, word)["error"] is None
    assert printed(student, "print(1)") == "1"


def test_a_module_of_ones_own_is_found(student):
    assert run(student, "%%writefile own.py\nn = 3")["error"] is None
    assert printed(student, "import own\nprint(own.n)") == "3"


def test_await_works_at_the_top(student):
    source = (
        "import asyncio\nawait asyncio.sleep(0)\nprint(await asyncio.gather(asyncio.sleep(0, 1)))"
    )
    assert printed(student, source) == "[1]"


@pytest.mark.parametrize("ask", ["input('your name: ')", "import getpass; getpass.getpass()"])
def test_a_question_to_the_student_is_an_error_that_explains(student, ask):
    kind, words = run(student, ask)["error"]
    assert kind == "EOFError"
    assert "write the value instead" in words


def test_warnings_are_shown(student):
    answer = run(student, "import warnings; warnings.warn('careful')")
    assert "careful" in answer["stderr"]


def test_a_bar_of_progress_is_kept(student):
    source = """
import sys
for n in range(3):
    print(f"\\r{n}/3 [{'#' * n}]", end="", flush=True)
    print(f"\\r{n}%", end="", file=sys.stderr)
"""
    answer = run(student, source)
    assert answer["stdout"].endswith("\r2/3 [##]")
    assert answer["stderr"].endswith("2%")


def test_clear_output_clears(student):
    before = "from IPython.display import clear_output\nprint('a'); display(1)\n"
    answer = run(student, before + "clear_output()\nprint('b')")
    assert (answer["stdout"], answer["outputs"]) == ("b\n", [])


def test_every_letter_arrives(student):
    words = "αβγ √d_k ≤ ∞ 注意 \U0001f642 é"
    assert printed(student, f"print({words!r})") == words
    assert shown(student, repr(words)) == [{"text/plain": repr(words)}]
    assert printed(student, "print('\\ud800')") == "?"
    run(student, "'\\udfff'")
    assert printed(student, "print(1)") == "1"


def test_output_is_cut_where_the_limit_is_and_says_so(student):
    answer = run(student, "print('é' * 2_000_000)")
    assert len(answer["stdout"].encode()) <= limits.CELL_OUTPUT + 2
    assert answer["stdout"].endswith("bytes more")


def test_a_cell_gets_only_its_own_output(student):
    run(student, "import os, threading\nprint('first', end='')\nos.write(1, b'raw')")
    assert run(student, "print('second')")["stdout"] == "second\n"


def test_threads_print_and_compute(student):
    source = """
import threading
import numpy as np
results = []
def work(n): results.append(float(np.ones((50, 50)).sum() + n))
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(results))
"""
    assert printed(student, source) == str([2500.0 + n for n in range(8)])


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_torch_computes_with_as_many_threads_as_one_likes(student, threads):
    """A warm parent that had computed with threads would make this hang."""
    source = f"""
import torch
torch.set_num_threads({threads})
x = torch.randn(300, 300, requires_grad=True)
loss = torch.softmax(x @ x, -1).square().sum()
loss.backward()
print(torch.get_num_threads(), x.grad.shape, bool(torch.isfinite(x.grad).all()))
torch.nn.functional.scaled_dot_product_attention(*torch.randn(3, 2, 4, 64, 32))
"""
    assert run(student, source)["error"] is None
    assert printed(student, "print(torch.get_num_threads())") == str(threads)


@pytest.mark.parametrize("magic", ["%%time\n", "%time ", "%timeit -n1 -r1 ", "%%timeit -n1 -r1\n"])
def test_time_is_told(student, magic):
    answer = run(student, magic + "sum(range(10))")
    assert answer["error"] is None
    assert "s" in answer["stdout"]


@pytest.mark.parametrize(
    "magic", ["%who", "%pwd", "%ls", "%env HOME", "%pinfo len", "len?", "%%capture out\nprint(1)"]
)
def test_usual_magics_do_not_fail(sandbox, student, magic):
    if sandbox.tier == "landlock" and magic == "%ls":
        pytest.skip("landlock: no second process can be started")
    assert run(student, magic)["error"] is None


def test_a_shell_command_runs(forking):
    assert printed(forking, "word = 'there'\n!echo hi $word {1 + 1}") == "hi there 2"
    assert printed(forking, "lines = !printf 'a\\nb'\nprint(list(lines))") == "['a', 'b']"
    assert "oops" in run(forking, "!echo oops >&2")["stderr"]
    assert printed(forking, "!exit 3\nprint(_exit_code)") == "3"


def test_a_cell_in_bash_runs(forking):
    assert printed(forking, "%%bash\nfor n in 1 2; do echo $n; done") == "1\n2"


def test_where_no_program_can_start_a_shell_command_says_so(sandbox, student):
    if sandbox.tier != "landlock":
        pytest.skip("programs can be started here")
    kind, words = run(student, "!echo hi")["error"]
    assert (kind, "no other program" in words) == ("PermissionError", True)


def test_a_subprocess_tells_how_it_ended(forking):
    source = "import subprocess\nprint(subprocess.run(['false']).returncode)"
    assert printed(forking, source) == "1"


def test_files_of_ones_own_can_be_written_and_read(student):
    source = """
import tempfile
from pathlib import Path
import numpy as np
np.save("a.npy", np.arange(3))
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "b").write_text("c")
print(np.load("a.npy").sum(), Path.home() == Path.cwd())
"""
    assert printed(student, source) == "3 True"


def test_a_missing_module_is_an_import_error(student):
    assert run(student, "import pandas_that_nobody_has")["error"][0] == "ModuleNotFoundError"


def test_names_last_from_cell_to_cell_and_not_from_student_to_student(sandbox):
    with sandbox.student() as one:
        one.begin(0)
        run(one, "kept = 1")
        assert printed(one, "print(kept)") == "1"
    with sandbox.student() as other:
        other.begin(0)
        assert run(other, "kept")["error"][0] == "NameError"
        assert printed(other, "print([n for n in dir() if n in ('np', 'plt', 'f')])") == "[]"


def test_the_same_seed_gives_the_same_numbers(sandbox):
    source = "import random, numpy as np, torch\nprint(np.random.rand(), torch.rand(1).item())"
    drawn = []
    for seed in (1, 1, 2):
        with sandbox.student() as student:
            student.begin(seed)
            drawn.append(printed(student, source))
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_a_call_prints_is_counted_and_dropped(student):
    run(student, "library = 'numpy'\ndef f():\n    print('secret')\n    return 1.0")
    student.prepare("f", NO_TERMS, ["cell"])
    reply = student.call(CallRequest(function="f", setting=Setting()))
    assert (reply.failure, reply.printed) == ("", 7)
    assert run(student, "")["stdout"] == ""
