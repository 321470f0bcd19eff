"""A proof is kept as long as nothing that it depends on has changed, and no longer."""

import shutil

import pytest
from click.testing import CliRunner

from autograder.commands import cli
from autograder.commands import exercises as exercises_command
from autograder.exercises import proof_cache
from autograder.exercises.proof import Proof
from autograder.exercises.proof_cache import ProofCache
from autograder.paths import ROOT

SEEDS = 1


@pytest.fixture
def root(tmp_path):
    """A copy of all that a proof may depend on outside its folder."""
    for folder in ("course_lib", "autograder/exercises"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / "root" / folder, ignore=ignored)
    return tmp_path / "root"


@pytest.fixture
def cache(course, root, tmp_path):
    """In which there is a proof of row_means, whose tests call a mask of course_lib."""
    course.append("row_means/tests.py", "\n\nfrom course_lib import causal_from_start\n")
    proof = Proof("row_means", "code", tests=3, messages={"sum_only": "what is divided?"})
    ProofCache(tmp_path / "proofs", root).keep(course.load()["row_means"], SEEDS, proof)
    return lambda: ProofCache(tmp_path / "proofs", root)


def is_kept(cache, course):
    return cache().find(course.load()["row_means"], SEEDS) is not None


def test_what_is_kept_is_the_proof(course, tmp_path):
    exercise, cache = course.load()["row_means"], ProofCache(tmp_path / "proofs")
    proof = cache.prove(exercise, SEEDS)
    assert proof.holds
    assert cache.find(exercise, SEEDS) == proof == course.prove(SEEDS)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("what_a_mean_forgets/proof.toml", "# a comment in another exercise\n"),
        ("assignment.toml", "# a comment below the entries\n"),
    ],
)
def test_a_change_elsewhere_keeps_it(course, cache, file, text):
    course.append(file, text)
    assert is_kept(cache, course)


def test_caches_of_python_and_hidden_folders_keep_it(course, cache):
    (course.chapter / "row_means" / "__pycache__").mkdir(exist_ok=True)
    course.write("row_means/__pycache__/tests.pyc", "compiled")
    assert is_kept(cache, course)


@pytest.mark.parametrize(
    "file", ["solution.py", "tests.py", "right.py", "wrong.py", "prompt.md", "mutants.toml"]
)
def test_a_change_in_its_folder_proves_it_again(course, cache, file):
    path = course.chapter / "row_means" / file
    path.write_text((path.read_text() if path.is_file() else "") + "# changed\n")
    assert not is_kept(cache, course)


@pytest.mark.parametrize(
    ("old", "new"), [("required = true", "required = false"), ("minutes = 5", "minutes = 6")]
)
def test_a_change_in_its_entry_proves_it_again(course, cache, old, new):
    course.spoil("assignment.toml", old, new)
    assert not is_kept(cache, course)


@pytest.mark.parametrize(
    "file",
    [
        "course_lib/checking/expect.py",
        "autograder/exercises/prove.py",
        "autograder/exercises/mutants.py",
        "course_lib/masks.py",
        "course_lib/_door.py",
    ],
)
def test_a_change_in_what_proves_it_or_in_what_its_tests_import_proves_it_again(
    course, cache, root, file, monkeypatch
):
    """masks.py holds the function that they call, and uses _door.py."""
    with (root / file).open("a") as source:
        source.write("CHANGED = True\n")
    assert not is_kept(cache, course)
    anew = Proof("row_means", "code", tests=4)
    monkeypatch.setattr(proof_cache, "prove", lambda *_: anew)
    assert cache().prove(course.load()["row_means"], SEEDS) is anew


def test_another_number_of_seeds_or_version_of_numpy_proves_it_again(course, cache, monkeypatch):
    exercise = course.load()["row_means"]
    assert cache().find(exercise, SEEDS + 1) is None
    monkeypatch.setattr(proof_cache, "_versions", lambda: ("another",))
    assert cache().find(exercise, SEEDS) is None


def test_after_a_change_in_the_rest_of_course_lib_only_its_functions_are_tried(
    course, cache, root, monkeypatch
):
    """One of them may answer the exercise now; all else is as it was."""
    exercise = course.load()["row_means"]
    with (root / "course_lib" / "heads.py").open("a") as source:
        source.write("CHANGED = True\n")
    assert not is_kept(cache, course)
    monkeypatch.setattr(proof_cache, "prove", None)
    assert cache().prove(exercise, SEEDS).holds
    assert is_kept(cache, course)


def test_what_is_refused_is_not_kept(course, cache):
    course.spoil("row_means/wrong.py", "return x.mean(1)", "return x.mean(-1)")
    assert not cache().prove(course.load()["row_means"], SEEDS).holds
    assert not is_kept(cache, course)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"depends_on": "', "\0"])
def test_a_damaged_file_is_as_good_as_none(course, cache, tmp_path, text):
    (kept,) = (tmp_path / "proofs").iterdir()
    kept.write_text(text)
    assert not is_kept(cache, course)


def test_the_command_proves_once_and_afresh_when_asked(course, monkeypatch, tmp_path):
    monkeypatch.setattr(exercises_command, "load_course", lambda _: course.load_all())
    monkeypatch.setattr(exercises_command, "PROOFS", tmp_path / "proofs")
    typed = ["exercises", "row_means", "--seeds", "1", "--json"]
    first = CliRunner().invoke(cli.main, typed)
    assert first.exit_code == 0, first.output
    monkeypatch.setattr(exercises_command, "_pool", None)  # nobody could prove anything
    second = CliRunner().invoke(cli.main, typed)
    assert (second.exit_code, second.stdout) == (0, first.stdout)
    assert CliRunner().invoke(cli.main, [*typed, "--afresh"]).exception is not None
