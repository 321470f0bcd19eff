"""What is demanded of a GPU where there is none, and how a job finds the worker that has one."""

import shutil

import pytest
from click.testing import CliRunner

from autograder.commands import grade as command
from autograder.commands.cli import main
from autograder.demo.made_up_class import Class
from autograder.grading import package, warm_grader
from autograder.grading.cluster import ClusterPool
from autograder.grading.grade_class import _keys
from autograder.grading.referee import Job
from autograder.grading.submissions import Submission
from autograder.sandbox.host import NoSandbox
from course_lib.checking.answers import Cells, NoAnswer
from course_lib.checking.examine import examine
from tests.grading.gradebook_fixtures import STEM as SMALL
from tests.grading.test_cluster import ASSIGNMENT, STEM, cluster_of, jobs, marks

torch = pytest.importorskip("torch")
no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here: nothing to refuse")
TORCH_ANSWER = """library = "torch"
import torch

def row_means(x: torch.Tensor) -> torch.Tensor:
    return x.mean(-1)
"""


def grade(course, *words: str):
    words = ["grade", SMALL, "--course", str(course), "--device", "cuda", *words]
    return CliRunner().invoke(main, words, catch_exceptions=False)


@no_gpu
def test_cuda_where_there_is_none_is_refused_with_what_is_tested_instead(released):
    done = grade(released, "--trust-submissions")
    assert done.exit_code == 2
    for words in ("no CUDA device on this machine", "Nothing was graded", "meta device"):
        assert words in done.output


def test_no_submission_meets_a_gpu_unless_it_is_trusted(released, monkeypatch):
    monkeypatch.setattr(command, "cuda_here", lambda: True)
    done = grade(released)
    assert done.exit_code == 2 and "--trust-submissions" in done.output


def test_marks_of_one_device_are_not_taken_for_those_of_another(released):
    handed, data = Submission("ada", {"a.ipynb": b"{}"}), package.pack(released, SMALL)
    assert _keys(data, 1, "cpu")(handed) == _keys(data, 1, "cpu")(handed)
    assert _keys(data, 1, "cpu")(handed) != _keys(data, 1, "cuda")(handed)


@no_gpu
def test_check_in_the_notebook_refuses_a_device_that_is_not_there(released, monkeypatch):
    monkeypatch.chdir(released / "release" / SMALL)
    cells = Cells()
    cells.ran("answer", TORCH_ANSWER)
    assert examine("row_means", cells).points > 0
    with pytest.raises(NoAnswer, match="no cuda device on this machine"):
        examine("row_means", cells, "cuda")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::Warning:distributed")
def test_jobs_go_to_the_worker_that_has_declared_the_resource(released_softmax, tmp_path):
    """Two real workers; the one without the resource never grades."""
    from distributed import Client

    course = shutil.copytree(released_softmax, tmp_path / "course")
    members = list(Class(ASSIGNMENT, course).members(4))
    data = package.pack(course, STEM)
    with cluster_of(tmp_path, [[], ["--resources", "GPU=1"]]) as (address, _):
        with ClusterPool(address, data, STEM, {"GPU": 1}) as pool:
            found = {o.student: marks(o) for o in pool.grade(jobs(course, members))}
        for member in members:
            got = {cell: found[member.name][cell] for cell in member.points}
            assert got == pytest.approx(member.points), member.kind
        with Client(address, timeout=30) as client:
            graded = client.run(lambda: warm_grader._pool.cache_info().currsize)
            has = client.scheduler_info(n_workers=-1)["workers"]
            assert {where: bool(has[where]["resources"]) for where in graded} == {
                where: number > 0 for where, number in graded.items()
            }
        with (
            pytest.raises(NoSandbox, match="has declared TPU.*--resources"),
            ClusterPool(address, data, STEM, {"TPU": 1}),
        ):
            pass
        if not torch.cuda.is_available():
            on_a_gpu = [Job(m.name, STEM, "key", 1, m.files, "cuda") for m in members[:1]]
            with (
                ClusterPool(address, data, STEM, {"GPU": 1}) as pool,
                pytest.raises(NoSandbox, match="declared a GPU, and torch finds none"),
            ):
                list(pool.grade(on_a_gpu))
