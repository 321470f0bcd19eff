"""What people read after grading: a page for each student, one for the class, a quiz on paper.

Every page is one file that asks nobody for anything: no script, no font, no picture from elsewhere.
"""
