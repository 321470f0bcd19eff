"""From what students handed in to marks in nbgrader's gradebook.

In the process of `course grade` or `nbgrader autograde`, alone in its course folder:

grade_class.py    the run: what is new, who judges it, where each outcome goes
submissions.py    what was handed in, read as bytes; nothing of its folder is followed
package.py        what a worker is given: notebook, tests, course_lib, in one zip
fingerprint.py    the code that judges and what it runs on, as one line
journal.py        what was judged, under a key that says from what; and the course's lock
gradebook.py      the one writer of nbgrader's gradebook
database.py       the door to it: SQLite or PostgreSQL, locked, gone or full
pool.py           workers of this machine
cluster.py        workers behind a Dask scheduler, instead
changes.py        what grading again has changed
nbgrader_steps.py the same run, as steps of nbgrader's own command

In a worker, which is trusted and never loads a student's code:

worker.py         takes jobs from a pipe, gives outcomes back
warm_grader.py    the same where jobs come one by one: Dask, nbgrader's command
rebuild.py        a notebook that runs, from the student's texts and the released cells
referee.py        runs it in the sandbox and judges it from outside
suspicious.py     withheld names in the text of an answer
devices.py        CPU or GPU

Between them travel outcome.py's plain data. In the student's process, which nobody believes, runs
nothing of this package: see autograder.sandbox.
"""
