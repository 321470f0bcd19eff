"""Where a student's code runs: a small read-only world of its own, and nothing that it can reach.

tiers.py    which sandbox this machine gives, why not a better one, and what to do about it
host.py     the trusted end: starts the warm parent, gets a process per submission
peer.py     the trusted end of one process: asks, watches, interrupts, kills
codec.py    what may cross between the two

enter.py    builds the world and drops every privilege, then becomes
warm.py     a process that has imported numpy, torch and matplotlib and forks on request into
student.py  one student's process: runs cells, answers calls, is killed
bridge.py   the same with a real Jupyter kernel in between, and in_kernel.py its other end

places.py   what of this machine may be read
limits.py   every number
filters.py  which system calls are refused
landlock.py files out of reach, where there are no namespaces
system.py   the system calls that Python has no name for
probes.py   what is tried from inside, to prove all this
command.py  `course sandbox`
"""
