"""A full disk, a folder that cannot be written to, a broken gradebook: each verb says it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.classroom.collecting import MOODLE, NAME, packed
from tests.classroom.graded_course import grade
from tests.grading.gradebook_fixtures import STEM

pytestmark = pytest.mark.slow

TYPED = """
import json, os, sys, traceback
from pathlib import Path
from click.testing import CliRunner
from autograder.commands.cli import main
course, source = Path(sys.argv[1]), sys.argv[2]
if sys.argv[3] == "full":
    with (course / "ballast").open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass
os.chdir(course)
done = {}
for words in json.loads(sys.argv[4]):
    result = CliRunner().invoke(main, words)
    what = result.exception if not isinstance(result.exception, SystemExit) else None
    told = "".join(traceback.format_exception(what)) if what else result.output
    done[words[0]] = [result.exit_code, repr(what) if what else "", told]
print(json.dumps(done))
"""
FAULTS = {
    "full": "mount -t tmpfs -o size={size} none {course} && cp -a {copy}/. {course}",
    "read-only": "mount --bind {copy} {course} && mount -o remount,ro,bind {course}",
    "broken": "mount --bind {copy} {course} && echo broken > {course}/gradebook.db",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_verb_ends_in_a_sentence(course, tmp_path, notebook, fault):
    grade(course)
    copy = shutil.copytree(course, tmp_path / "copy")
    size = sum(path.stat().st_blocks * 512 for path in copy.rglob("*")) + (1 << 20)
    source = tmp_path / "class.zip"
    source.write_bytes(packed({MOODLE + NAME: notebook}))
    (tmp_path / "class.csv").write_text("id,name\nnew,New Student\n")
    verbs = [
        ["collect", STEM, str(source)],
        ["init", ".", "--students", str(tmp_path / "class.csv")],
        ["extend", STEM, "ada", "--days", "2"],
        ["export", STEM],
        ["release", "03_softmax"],
    ]
    mount = FAULTS[fault].format(size=size, course=course, copy=copy)
    command = ["unshare", "-rm", "sh", "-c", f'{mount} && exec "$@"', "sh", sys.executable, "-c"]
    if subprocess.run(["unshare", "-rm", "true"]).returncode:
        line = "test of a full disk not run: this system gives no namespaces"
        pytest.fail(line) if os.environ.get("CI") == "true" else pytest.skip(line)
    words = [TYPED, str(course), str(source), fault, json.dumps(verbs)]
    root = Path(__file__).parents[2]
    done = subprocess.run([*command, *words], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ended = json.loads(done.stdout.splitlines()[-1])
    assert {verb: (code, raised) for verb, (code, raised, _) in ended.items()} == {
        verb[0]: (2, "") for verb in verbs
    }, "\n".join(told for _, _, told in ended.values())
