"""What the recorder writes is what nbgrader reads, and what a person gave is never touched."""

import csv
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from nbformat.v4 import new_notebook
from nbgrader.api import Base
from nbgrader.plugins import CsvExportPlugin, LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from autograder.grading.gradebook import NotInGradebook, Recorder
from autograder.grading.outcome import Mark
from tests.grading.gradebook_fixtures import (
    BLOCKS,
    CODE,
    PROOF,
    STEM,
    contents,
    grade,
    mark_by_hand,
    opened,
    outcome,
    submission,
    with_mark,
    without_mark,
)

DUE = datetime(2026, 3, 2, 12)


@pytest.fixture
def recorder(url):
    with Recorder(url) as recorder:
        yield recorder


def comment(url, cell, student="ada"):
    with opened(url) as gradebook:
        return gradebook.find_comment(cell, STEM, STEM, student).to_dict()


# what nbgrader reads


def test_nbgrader_adds_up_what_was_recorded(recorder, url):
    recorder.record(outcome(code=1.5, blocks=4.0))
    found = submission(url)
    assert (found["score"], found["max_score"]) == (5.5, 9.0)
    assert (found["code_score"], found["written_score"]) == (5.5, 0.0)
    assert found["needs_manual_grade"], "the proof waits for a person"


def test_the_formgrader_lists_it(recorder, url):
    recorder.record(outcome(code=1.5))
    with opened(url) as gradebook:
        (row,) = gradebook.submission_dicts(STEM)
        (notebook,) = gradebook.notebook_submission_dicts(STEM, STEM)
    assert (row["student"], row["score"], row["needs_manual_grade"]) == ("ada", 5.5, True)
    assert notebook["failed_tests"], "one graded cell has less than its points"


def test_nbgrader_export_has_it(recorder, url, tmp_path):
    recorder.record(outcome(code=1.5))
    with opened(url) as gradebook:
        CsvExportPlugin(to=str(tmp_path / "grades.csv")).export(gradebook)
    (row,) = csv.DictReader((tmp_path / "grades.csv").read_text().splitlines())
    assert (row["student_id"], row["score"], row["max_score"]) == ("ada", "5.5", "9.0")


@pytest.mark.filterwarnings("ignore:Object of type:sqlalchemy.exc.SAWarning")  # nbgrader's own
def test_the_rows_are_those_that_nbgrader_makes(recorder, url):
    """But for the marks; nbgrader's own add_submission is the judge."""
    with opened(url) as gradebook:
        gradebook.add_student("grace")
        gradebook.add_submission(STEM, "grace")
    recorder.record(outcome("ada"))
    with opened(url) as gradebook:
        ours, theirs = (_shape(gradebook.find_submission(STEM, who)) for who in ("ada", "grace"))
        assert ours == theirs


def _shape(found):
    return [
        (
            notebook.name,
            notebook.flagged,
            notebook.late_submission_penalty,
            sorted(
                (grade.name, grade.manual_score, grade.extra_credit) for grade in notebook.grades
            ),
            sorted((row.name, row.comment) for row in notebook.comments),
        )
        for notebook in found.notebooks
    ]


def test_recording_twice_changes_nothing(recorder, url):
    before = outcome(code=1.0, proof="a first try")
    recorder.record(before, handed_in=DUE)
    mark_by_hand(url, PROOF, manual_score=1.0)
    recorder.record(outcome(), before, handed_in=DUE)
    once = contents(url)
    recorder.record(outcome(), before, handed_in=DUE)
    assert contents(url) == once


def test_students_do_not_touch_each_other(recorder, url):
    recorder.record(outcome("ada", code=1.0))
    recorder.record(outcome("grace", code=2.0))
    assert [grade(url, CODE, who)["auto_score"] for who in ("ada", "grace")] == [1.0, 2.0]


def test_the_time_of_handing_in_is_kept_in_utc(recorder, url):
    west = datetime.fromisoformat("2026-03-02T10:00:00-02:00")
    recorder.record(outcome(), handed_in=west)
    assert submission(url)["timestamp"] == DUE.isoformat()
    recorder.record(outcome())
    assert submission(url)["timestamp"] == DUE.isoformat(), "a regrade does not know better"


# what is not known is worth nothing, and a person is told


def test_a_mark_never_outlives_its_submission(recorder, url):
    recorder.record(outcome(code=3.0))
    recorder.record(without_mark(outcome(), CODE), outcome(code=3.0))
    assert grade(url, CODE)["auto_score"] == 0.0


def test_a_cell_without_a_mark_is_worth_nothing_and_needs_a_person(recorder, url):
    recorder.record(without_mark(outcome(), CODE))
    found = grade(url, CODE)
    assert (found["auto_score"], found["needs_manual_grade"]) == (0.0, True)


@pytest.mark.parametrize("points", [None, float("nan"), float("inf"), -1.0, 3.1])
def test_points_that_cannot_be_are_worth_nothing_and_need_a_person(recorder, url, points):
    recorder.record(outcome(code=points))
    found = grade(url, CODE)
    assert (found["auto_score"], found["needs_manual_grade"]) == (0.0, True)


def test_what_could_not_be_graded_needs_a_person(recorder, url):
    recorder.record(with_mark(outcome(), CODE, points=0.0, state="not gradable"))
    found = grade(url, CODE)
    assert (found["auto_score"], found["needs_manual_grade"]) == (0.0, True)


def test_a_proof_has_no_mark_until_a_person_gives_one(recorder, url):
    recorder.record(outcome())
    found = grade(url, PROOF)
    assert (found["auto_score"], found["needs_manual_grade"]) == (None, True)
    assert not grade(url, CODE)["needs_manual_grade"]


def test_a_proof_that_was_not_attempted_needs_nobody(recorder, url):
    recorder.record(with_mark(outcome(), PROOF, points=0.0, state="not attempted"))
    found = grade(url, PROOF)
    assert (found["auto_score"], found["needs_manual_grade"]) == (0.0, False)


# what a person gave


def test_a_mark_given_by_hand_stays_settled_while_its_answer_stays(recorder, url):
    recorder.record(outcome(code=1.0))
    mark_by_hand(url, PROOF, manual_score=1.5, extra_credit=0.5)
    recorder.record(outcome(code=3.0), outcome(code=1.0))
    found = grade(url, PROOF)
    assert (found["manual_score"], found["extra_credit"]) == (1.5, 0.5)
    assert not found["needs_manual_grade"]
    assert submission(url)["score"] == 3.0 + 4.0 + 2.0


def test_a_changed_answer_asks_for_a_second_look_and_keeps_the_mark(recorder, url):
    recorder.record(outcome(proof="by induction"))
    mark_by_hand(url, PROOF, manual_score=1.5)
    recorder.record(outcome(proof="by magic"), outcome(proof="by induction"))
    found = grade(url, PROOF)
    assert (found["manual_score"], found["needs_manual_grade"]) == (1.5, True)


def test_it_asks_until_a_person_has_looked(recorder, url):
    recorder.record(outcome(proof="by induction"))
    mark_by_hand(url, PROOF, manual_score=1.5)
    recorder.record(outcome(proof="by magic"), outcome(proof="by induction"))
    recorder.record(outcome(proof="by magic"), outcome(proof="by magic"))
    assert grade(url, PROOF)["needs_manual_grade"]
    mark_by_hand(url, PROOF, manual_score=0.5)
    recorder.record(outcome(proof="by magic"), outcome(proof="by magic"))
    assert not grade(url, PROOF)["needs_manual_grade"]


def test_who_waits_for_a_person_is_counted_in_the_gradebook(recorder, url):
    """Two proofs wait, one when the other was marked; an automatic mark anew changes nothing."""
    recorder.record(outcome("ada"))
    recorder.record(outcome("grace"))
    assert recorder.waiting(STEM) == 2
    mark_by_hand(url, PROOF, "ada", manual_score=1.5)
    recorder.record(outcome("ada", code=1.0), outcome("ada"))
    assert recorder.waiting(STEM) == 1 and recorder.waiting("another") == 0


def test_where_nothing_is_known_of_before_a_mark_given_by_hand_asks(recorder, url):
    recorder.record(outcome())
    mark_by_hand(url, PROOF, manual_score=1.5)
    recorder.record(outcome())
    found = grade(url, PROOF)
    assert (found["manual_score"], found["needs_manual_grade"]) == (1.5, True)


def test_a_person_overrules_a_check_until_its_verdict_changes(recorder, url):
    recorder.record(outcome(code=1.0))
    mark_by_hand(url, CODE, manual_score=2.5)
    recorder.record(outcome(code=1.0), outcome(code=1.0))
    assert not grade(url, CODE)["needs_manual_grade"]
    recorder.record(with_mark(outcome(code=1.0), CODE, points=2.0), outcome(code=1.0))
    found = grade(url, CODE)
    assert (found["manual_score"], found["needs_manual_grade"]) == (2.5, True)
    assert submission(url)["score"] == 2.5 + 4.0


def test_extra_credit_stays_beside_an_automatic_mark(recorder, url):
    recorder.record(outcome(code=1.0))
    mark_by_hand(url, CODE, extra_credit=0.5)
    recorder.record(outcome(code=2.0), outcome(code=1.0))
    assert grade(url, CODE)["extra_credit"] == 0.5
    assert submission(url)["score"] == 2.0 + 0.5 + 4.0


def test_a_comment_stands_under_the_answer_and_goes_when_it_is_no_longer_true(recorder, url):
    empty = with_mark(outcome(), CODE, points=0.0, state="not attempted")
    told = with_mark(empty, BLOCKS, comment="two lines do not belong")
    recorder.record(told)
    assert comment(url, "row-means")["auto_comment"] == "No response."
    assert comment(url, "what-a-mean-forgets")["auto_comment"] == "two lines do not belong"
    recorder.record(outcome(), told)
    assert comment(url, "row-means")["auto_comment"] is None
    assert comment(url, "what-a-mean-forgets")["auto_comment"] is None


def test_a_comment_of_a_person_stays(recorder, url):
    recorder.record(outcome())
    with opened(url) as gradebook:
        gradebook.find_comment(PROOF, STEM, STEM, "ada").manual_comment = "Which n?"
        gradebook.db.commit()
    recorder.record(with_mark(outcome(), PROOF, comment="see the model proof"), outcome())
    found = comment(url, PROOF)
    assert found["manual_comment"] == "Which n?"
    assert found["auto_comment"] == "see the model proof"


def test_a_comment_may_hold_any_text(recorder, url):
    hostile = "nul \0 half a pair \ud800 '; DROP TABLE grade; --"
    recorder.record(with_mark(outcome(), CODE, comment=hostile))
    kept = comment(url, "row-means")["auto_comment"]
    assert kept == "nul \ufffd half a pair ? '; DROP TABLE grade; --"


def test_the_outcome_before_must_be_of_the_same_student(recorder):
    with pytest.raises(ValueError, match="grace.*ada"):
        recorder.record(outcome("ada"), outcome("grace"))


# late penalties are nbgrader's


class HalfAPointADay(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 0.5 * total_seconds_late / 86400


class Reward(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return -1.0


ZERO = Config({"LateSubmissionPlugin": {"penalty_method": "zero"}})
POLICIES = {
    "none": Config(),
    "zero": ZERO,
    "a course's own": Config({"AssignLatePenalties": {"plugin_class": HalfAPointADay}}),
    "below nothing": Config({"AssignLatePenalties": {"plugin_class": Reward}}),
}
TIMES = {
    "in time": DUE,
    "a day late": DUE + timedelta(days=1),
    "a month late": DUE + timedelta(days=30),
}


def due_then(url):
    with opened(url) as gradebook:
        gradebook.find_assignment(STEM).duedate = DUE
        gradebook.db.commit()


@pytest.mark.parametrize("handed_in", TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_the_penalty_is_that_of_nbgrader(sqlite_url, policy, handed_in):
    """Its own step, run afterwards on the same gradebook, finds nothing to change."""
    due_then(sqlite_url)
    with Recorder(sqlite_url, policy) as recorder:
        recorder.record(outcome(), handed_in=handed_in)
        mark_by_hand(sqlite_url, PROOF, manual_score=1.0, extra_credit=0.25)
        recorder.record(outcome(), outcome(), handed_in=handed_in)
    ours = submission(sqlite_url)["late_submission_penalty"]
    names = {"notebook": STEM, "assignment": STEM, "student": "ada", "db_url": sqlite_url}
    AssignLatePenalties(config=policy).preprocess(new_notebook(), {"nbgrader": names})
    assert ours == submission(sqlite_url)["late_submission_penalty"]


def test_zero_for_a_late_one_and_all_of_it_after_an_extension(url):
    due_then(url)
    late = DUE + timedelta(hours=30)
    with Recorder(url, ZERO) as recorder:
        recorder.record(outcome(), handed_in=late)
        assert submission(url)["late_submission_penalty"] == 7.0
        with opened(url) as gradebook:
            gradebook.grant_extension(STEM, "ada", days=2)
        recorder.record(outcome(), outcome(), handed_in=late)
    assert submission(url)["late_submission_penalty"] == 0.0


# who and what the gradebook does not know


def test_a_new_student_is_put_on_the_list(recorder, url):
    recorder.record(outcome("grace"))
    with opened(url) as gradebook:
        assert [student.id for student in gradebook.students] == ["grace"]


def test_a_student_on_the_list_keeps_name_and_address(recorder, url):
    with opened(url) as gradebook:
        gradebook.add_student("ada", first_name="Ada", email="ada@example.org")
    recorder.record(outcome("ada"))
    with opened(url) as gradebook:
        student = gradebook.find_student("ada")
        assert (student.first_name, student.email) == ("Ada", "ada@example.org")


def test_an_unknown_student_is_refused_where_the_list_is_closed(url):
    with Recorder(url, create_students=False) as recorder:
        before = contents(url)
        with pytest.raises(NotInGradebook, match="grace"):
            recorder.record(outcome("grace"))
        assert contents(url) == before


@pytest.mark.parametrize("name", ["a" * 129, "nul \0", "half \ud800"], ids=["long", "nul", "half"])
def test_a_name_that_no_gradebook_keeps_is_refused(recorder, url, name):
    before = contents(url)
    with pytest.raises(NotInGradebook):
        recorder.record(outcome(name))
    assert contents(url) == before


def test_a_name_is_only_a_name(recorder, url):
    name = "Zoë'); DROP TABLE grade; --"
    recorder.record(outcome(name))
    assert grade(url, CODE, name)["auto_score"] == 3.0


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"assignment": "02_columns"}, "02_columns"),
        ({"marks": (Mark(CODE, 1.0, 5.0),)}, "5.0"),
        ({"marks": (Mark("gone", 1.0, 1.0),)}, "gone"),
    ],
    ids=["assignment", "points", "cell"],
)
def test_what_was_graded_for_another_release_is_refused(recorder, url, changes, named):
    before = contents(url)
    with pytest.raises(NotInGradebook, match=named):
        recorder.record(replace(outcome(), **changes))
    assert contents(url) == before


def test_an_assignment_of_two_notebooks_is_refused(recorder, url):
    with opened(url) as gradebook:
        gradebook.add_notebook("another", STEM)
    with pytest.raises(NotInGradebook, match="has 2 notebooks"):
        recorder.record(outcome())


# the tables are nbgrader's, not ours

KNOWN = {
    "student": "id VARCHAR(128), first_name VARCHAR(128)?, last_name VARCHAR(128)?, "
    "email VARCHAR(128)?, lms_user_id VARCHAR(128)?",
    "assignment": "id VARCHAR(32), name VARCHAR(128), duedate DATETIME?, course_id VARCHAR(128)",
    "notebook": "id VARCHAR(32), name VARCHAR(128), assignment_id VARCHAR(32)?, "
    "kernelspec VARCHAR(1024)?",
    "base_cell": "id VARCHAR(32), name VARCHAR(128), notebook_id VARCHAR(32), type VARCHAR(50)?",
    "grade_cells": "id VARCHAR(32), max_score FLOAT, cell_type VARCHAR(8)",
    "solution_cells": "id VARCHAR(32)",
    "task_cells": "id VARCHAR(32), max_score FLOAT, cell_type VARCHAR(8)",
    "submitted_assignment": "id VARCHAR(32), assignment_id VARCHAR(32)?, student_id VARCHAR(128)?, "
    "timestamp DATETIME?, extension DATETIME?",
    "submitted_notebook": "id VARCHAR(32), assignment_id VARCHAR(32)?, notebook_id VARCHAR(32)?, "
    "flagged BOOLEAN?, late_submission_penalty FLOAT?",
    "grade": "id VARCHAR(32), notebook_id VARCHAR(32)?, cell_id VARCHAR(32)?, auto_score FLOAT?, "
    "manual_score FLOAT?, extra_credit FLOAT?, needs_manual_grade BOOLEAN",
    "comment": "id VARCHAR(32), notebook_id VARCHAR(32)?, cell_id VARCHAR(32)?, "
    "auto_comment TEXT?, manual_comment TEXT?",
}
"""nbgrader 0.9.6; a question mark where nothing may stand."""
OTHERS = {"course", "source_cell"}
"""Tables that the recorder does not touch."""


def schema_objections(metadata):
    """Where nbgrader's tables differ from those that record.py was written for."""
    found = []
    for name in sorted(set(metadata.tables) - set(KNOWN) - OTHERS):
        found.append(f"table {name} is new: does a submission have rows in it?")
    for name, known in KNOWN.items():
        if name not in metadata.tables:
            found.append(f"table {name} is gone: record.py writes or reads it")
            continue
        columns = [_described(column) for column in metadata.tables[name].columns]
        for column in sorted(set(columns) ^ set(known.split(", "))):
            verb = "has a new or changed" if column in columns else "no longer has the"
            found.append(f"table {name} {verb} column {column}: see what record.py does with it")
    return found


def _described(column):
    kind = column.type.compile(sa.dialects.sqlite.dialect())
    return f"{column.name} {kind}{'?' if column.nullable else ''}"


def test_nbgrader_still_has_the_tables_that_we_write():
    assert schema_objections(Base.metadata) == []


def test_a_table_of_nbgrader_that_changed_is_noticed():
    changed = sa.MetaData()
    for table in Base.metadata.tables.values():
        table.to_metadata(changed)
    changed.tables["grade"].append_column(sa.Column("late", sa.Boolean))
    changed.tables["comment"].columns["auto_comment"].nullable = False
    changed.remove(changed.tables["task_cells"])
    sa.Table("rubric", changed, sa.Column("id", sa.Integer, primary_key=True))
    assert schema_objections(changed) == [
        "table rubric is new: does a submission have rows in it?",
        "table task_cells is gone: record.py writes or reads it",
        "table grade has a new or changed column late BOOLEAN?: see what record.py does with it",
        "table comment has a new or changed column auto_comment TEXT: "
        "see what record.py does with it",
        "table comment no longer has the column auto_comment TEXT?: "
        "see what record.py does with it",
    ]
