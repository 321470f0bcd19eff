"""Where a student's code runs: a small read-only world of its own, and nothing that it can reach.

enter.py    builds the world and drops every privilege, then becomes
warm.py     a process that has imported numpy, torch and matplotlib and forks on request into
student.py  one student's process: runs cells, answers calls, is killed

system.py   the system calls that Python has no name for
limits.py   every number
filters.py  which system calls are refused
codec.py    what may cross to the referee
"""
