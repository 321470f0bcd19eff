"""From what students handed in to marks in nbgrader's gradebook.

rebuild -> run in the sandbox -> referee -> record: see `referee.py` for the border between what is
trusted and what is not.
"""
