"""What may go wrong in a way that a person can mend, under one roof.

CourseError                 exit code 2: nothing was done; the message says what to do
├── BadExercise             an exercise folder, a chapter's TOML          exercises.toml_tables
├── BadTable                a CSV file that cannot be read                roster.csv_tables
├── NoCourse                this is no course folder                      release.course_folder
├── BadSettings             local_config.py of the course                 release.course_folder
├── NoGradebook             its database or its disk refuses              release.course_folder
├── OtherExercises          exit code 1: a release would not fit marks    release.frozen_release
├── UnsafeExchange          somebody else could change what lies in it    classroom.exchange
├── NotReleased             there is nothing to grade against             grading.package
├── CannotRecord            journal, gradebook or disk refuse             grading.journal
│   └── NotInGradebook      this submission only                          grading.gradebook
├── CourseIsBusy            somebody else is grading here                 grading.journal
├── NoSuchExercise          `course why` asked for none that is there     reports.why
├── NotGraded               there is no mark to explain                   reports.why
├── NoSandbox               this machine does not hold a submission       sandbox.host
│   └── WrongWorker         a worker has other code or versions           grading.cluster
├── NoKatex                 formulas cannot be set                        typeset.katex
├── NoLicence               a package came without the text of its own    book.notices
└── NoModel                 a published model cannot be fetched           book.pretrained

A verb lets them pass: click prints the message and ends with the exit code, so there is no
traceback and no `except` in each verb; commands.cli makes one of each OSError, too. What ends one
submission and not the run (Unreadable, ProcessEnded, Unacceptable) or is a student's
(course_lib.checking) is not among them: it becomes a fact of that submission.
"""

import click

__all__ = ["CourseError"]


class CourseError(click.ClickException):
    """Raised by library code for whoever typed a verb; `str(error)` is the whole message."""

    exit_code = 2
