"""The program `course`: one module a verb, with its options and its sentences and nothing else.

A new verb is a module here that is called like its click command, and a line in cli.VERBS: the
first sentence of the command's docstring, which fits on a line of `course --help`. The docstring
tells the exit codes and ends with an example. What it does stands in the package that it belongs
to; what a person can mend is raised there as a CourseError, and no verb catches it.

cli       the verbs by name, --debug and -v, and how a verb ends
options   options that several verbs share
"""
