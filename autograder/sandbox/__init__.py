"""Where a student's code runs: a small read-only world of its own, and nothing that it can reach.

In the grader's process, which is trusted and believes nothing that it is sent:
tiers.py           which sandbox this machine gives, why not a better one, and what to do about it
host.py            starts the warm parent, gets a process per submission
process.py         one such process: asks it, answers its callbacks, watches, interrupts, kills

On both sides of the socket:
messages.py        a call and its result, written and read
codec.py           the values in them, with every limit; the frame around them
limits.py          every number
bounds.py          how far an exercise or a course may move them

In the sandbox, where nothing is trusted:
launcher.py        builds the world and drops every privilege, then becomes
warm.py            a process that has imported numpy, torch and matplotlib and forks on request into
child.py           one student's process: runs cells, answers calls, is killed
bridge.py          the same with a real Jupyter kernel in between, and in_kernel.py its other end

readable_paths.py  what of this machine may be read
filters.py         which system calls are refused
landlock.py        files out of reach, where there are no namespaces
system.py          the system calls that Python has no name for
trial.py           does in a moment what a child needs, to learn whether this machine allows it
probes.py          what is tried from inside, to prove all this (course sandbox)
promises.py        what SECURITY.md promises, and on which machine it holds

Of this project the child imports this package and course_lib, and nothing else: there is no more.
"""
