"""The course's machine: it makes exercises, gives them out, grades them, and builds the book.

Imports go one way, from each line to those above it (tests/test_layers.py):

errors, files, paths,  what every part uses: one hierarchy of exceptions, files written whole,
progress, untrusted    one bar; folders that somebody else may write to, read by descriptors
sandbox                where a student's code runs, and the trusted end of it
exercises              folders of exercises: read, made new, proved to tell right from wrong
roster                 who is in the class, and who has how much more time: tables
typeset                Markdown made harmless, formulas set by KaTeX
release                what students are given: notebook, bundle, wheel; the course folder
grading                a class graded: rebuild, referee, journal, gradebook, workers
classroom              what comes in and goes out: collecting, exporting, forgetting
reports                pages on what was found: feedback, class report, quizzes
demo                   a made-up class, and hostile submissions
book                   the website: a Sphinx extension with its styles and scripts
tools                  for this project's own developers: pins, the ledger of claims
commands               the program `course`: a module for each verb

hub/ holds settings of an example JupyterHub; nothing imports it.
"""
