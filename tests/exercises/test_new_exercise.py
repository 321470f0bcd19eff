"""course new exercise: refused while a place is empty, proved as soon as all are filled."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.commands.cli import main
from autograder.exercises.assignment import Exercise, load_assignment
from autograder.exercises.new import unfilled
from autograder.exercises.prove import prove

GOOD = Path(__file__).parent / "good_solutions"
STEM = "01_rows"
CENTRED = {
    "prompt.md": {
        r"FILL: .*": "Write `centred`: each entry less the mean of its row.",
        "= x_j": r"= x_j - \bar{x}",
    },
    "solution.py": {
        r"FILL: [^\"]*\.": "Return each row less its mean.",
        r'raise .*\)': "return x - x.mean(axis=-1, keepdims=True)",
    },
    "right.py": {
        r'raise .*in loops"\)': "return np.array([v - math.fsum(row) / len(row) for v in row])",
        r'raise .*differently"\)': "return x - x.sum(-1)[..., None] / x.shape[-1]",
        r"^import numpy": "import math\n\nimport numpy",
    },
    "wrong.py": {
        r"FILL: the mistake.*words": "the mean added",
        r'raise .*\)': "return x + x.mean(-1)[..., None]",
    },
    "tests.py": {
        r"FILL: the property[^\"]*": "Each entry loses the mean of its row",
        r"FILL: a case[^\"]*": "Equal entries become zero",
        r"FILL: what else[^\"]*": "So do entries a hundred times as large",
        r"FILL: a question": "what is taken away from which row",
        r"np.ones\(\(3, 5\)\)  # FILL.*": "np.zeros((3, 5))",
    },
}  # fmt: skip
LOG_SOFTMAX = {
    "prompt.md": {r"FILL: .*": "Write `log_softmax`.", "= x_j": r"= x_j - \log \sum_k e^{x_k}"},
    "solution.py": {
        r"FILL: [^\"]*\.": "Return the logarithms of the weights of each row.",
        r'raise .*\)': "return x - np.logaddexp.reduce(x, axis=-1, keepdims=True)",
    },
    "right.py": {
        r'raise .*in loops"\)': "return row - max(row)"
        " - math.log(sum(math.exp(v - max(row)) for v in row))",
        r'raise .*differently"\)': "total = np.logaddexp.reduce if isinstance(x, np.ndarray)"
        " else torch.logsumexp\n    return x - total(x, -1)[..., None]",
        r"^import numpy": "import math\n\nimport torch\nimport numpy",
    },
    "wrong.py": {r"FILL: the mistake.*words": "the scores", r'raise .*\)': "return x + 0"},
    "tests.py": {
        r"FILL: the property[^\"]*": "Each entry is the logarithm of its weight",
        r"FILL: a case[^\"]*": "Equal scores have equal weights",
        r"FILL: what else[^\"]*": "So do scores a hundred times as large",
        r"FILL: a question": "what do the weights sum to",
        r"np.ones\(\(3, 5\)\)  # FILL.*": "np.full((3, 5), -np.log(5))",
    },
}  # fmt: skip
BLOCKS = {
    "proof.toml": {
        r"FILL: what is.*\.": "If $a = b$ then $a - b = 0$.",
        r"FILL: the first line": "Let $a = b$",
        r"FILL: a line that follows from it": "Take $b$ from both sides",
        r"FILL: a line that looks right": "Divide both sides by $b$",
        r"FILL: why.*\.": "$b$ may be zero.",
    }
}
PROOF = {"assignment.toml": {r"FILL: [^\"]*": "what is said"}}


@pytest.fixture
def course(tmp_path) -> Path:
    shutil.copytree(GOOD, tmp_path / "solutions")
    return tmp_path


def new(course: Path, *words: str):
    words = ["new", "exercise", *words, "--course", str(course)]
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.mark.parametrize(
    ("kind", "texts"), [("code", CENTRED), ("blocks", BLOCKS), ("proof", PROOF)]
)
def test_it_is_refused_until_every_place_is_filled(course, kind, texts):
    done = new(course, f"{STEM}/centred", "--kind", kind)
    assert done.exit_code == 0, done.output
    exercise = load_assignment(course / "solutions" / STEM)["centred"]
    assert not prove(exercise, 1).holds
    named = re.findall(r"^  (\S+):(\d+)$", done.output, re.MULTILINE)
    for path, line in named:
        assert "FILL" in (course / path).read_text().splitlines()[int(line) - 1]
    for file, changes in texts.items():
        assert not prove(exercise, 1).holds
        exercise = fill(exercise, {file: changes})
    assert prove(exercise, 3).faults == []


def fill(exercise: Exercise, texts: dict[str, dict[str, str]]) -> Exercise:
    for file, changes in texts.items():
        path = exercise.folder / file
        path = exercise.folder.parent / file if file == "assignment.toml" else path
        text = path.read_text()
        for pattern, filling in changes.items():
            text, count = re.subn(pattern, lambda _, f=filling: f, text, flags=re.MULTILINE)
            assert count, pattern
        path.write_text(text)
    return load_assignment(exercise.folder.parent)[exercise.name]


def test_an_exercise_that_one_call_of_a_library_answers_is_told_what_to_withhold(course):
    """log_softmax, which torch has under a dozen names."""
    assert new(course, f"{STEM}/log_softmax").exit_code == 0
    exercise = load_assignment(course / "solutions" / STEM)["log_softmax"]
    exercise = fill(exercise, LOG_SOFTMAX)
    (fault,) = prove(exercise, 2).faults
    assert (fault.file, fault.function) == (f"{STEM}/assignment.toml", "log_softmax")
    line = fault.problem.splitlines()[-1].strip()
    assert {"torch.log_softmax", "torch.Tensor.log_softmax"} < set(tomllib.loads(line)["withholds"])
    exercise = fill(exercise, {"assignment.toml": {r"^withholds = \[\]$": line}})
    assert prove(exercise, 2).faults == []


def test_a_new_chapter_is_begun(course):
    assert new(course, "02_columns/sums").exit_code == 0
    assignment = load_assignment(course / "solutions" / "02_columns")
    assert [exercise.name for exercise in assignment.exercises] == ["sums"]


def test_what_a_chapter_promises_is_filled_in_before_it_is_proved_or_released(course):
    """Title and goal stand above every exercise; students read them."""
    chapter = course / "solutions" / "02_columns"
    shutil.copytree(course / "solutions" / STEM, chapter)
    shutil.rmtree(course / "solutions" / STEM)
    toml = chapter / "assignment.toml"
    toml.write_text(toml.read_text().replace('"Rows"', '"FILL: the title"'))
    place = ["--course", str(course)]
    proved = CliRunner().invoke(main, ["exercises", "row_means", "--seeds", "1", *place])
    assert proved.exit_code == 1
    assert "02_columns/assignment.toml: line 1 " in proved.stderr
    released = CliRunner().invoke(main, ["release", "02_columns", *place])
    assert released.exit_code == 1
    assert "solutions/02_columns/assignment.toml:1 " in released.output
    assert not (course / "release").exists()


def test_an_entry_that_is_not_filled_in_is_a_matter_of_its_own_exercise(course):
    toml = course / "solutions" / STEM / "assignment.toml"
    toml.write_text(toml.read_text().replace('"The mean of a shifted row"', '"FILL: it"'))
    line = next(n for n, t in enumerate(toml.read_text().splitlines(), 1) if "FILL" in t)
    found = {e.name: list(unfilled(e)) for e in load_assignment(toml.parent).exercises}
    assert found == {
        "row_means": [],
        "what_a_mean_forgets": [],
        "mean_of_a_shift": [(toml, line)],
    }


@pytest.mark.parametrize("where", ["01_rows/row_means", "01_rows/mean_of_a_shift"])
def test_what_is_there_is_never_written_over(course, where):
    before = {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}
    done = new(course, where)
    assert done.exit_code == 2 and Path(where).name in done.output
    assert before == {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}


@pytest.mark.parametrize("where", ["rows/x", "01_rows", "01_rows/../x", "01_rows/X y", "01_rows/"])
def test_a_name_that_cannot_be_is_refused(course, where):
    before = sorted(course.rglob("*"))
    done = new(course, where)
    assert done.exit_code == 2 and "NN_topic/name" in done.output
    assert sorted(course.rglob("*")) == before
