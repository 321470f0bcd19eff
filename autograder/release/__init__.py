"""What students are given: notebook, bundle and wheel, made from the exercises.

course_folder    a course's settings, chapters and gradebook: NoCourse, BadSettings, NoGradebook
nbgrader_config  the settings that a release copies into it
seeds            the secret seeds of the hidden inputs, one for each assignment

notebooks        an assignment as nbgrader's source notebook
bundle           beside it: visible tests, recorded numbers, course_lib without the answers
outline          what a release consists of, as checks/assignment.json says; read by all who grade
rubric           the points of a proof in words, shown in the formgrader only
frozen_release   refuses to add or drop exercises of what is graded
build            all of them together: `course release`; nothing changes until everything is made
wheel            the same for a notebook service that somebody else runs
handout/         what is the same in every bundle
"""
