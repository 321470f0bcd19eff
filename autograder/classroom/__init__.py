"""Run a class: what comes in and goes out.

class_list      who is in the class: its list, and whom the gradebook knows besides
archives        whatever instructors download, read without unpacking: hostile input
identify        whose a file is, from the names that platforms and people give to files
strip_outputs   a notebook of 200 MB without its outputs, in a process of its own
collect         the best that each student handed in, into submitted/
exchange        nbgrader's exchange on a hub: made safe, and read without trust
nbgrader_exchange   the same for nbgrader's own verbs and buttons
late            the plugin that says what lateness costs; local_config.py names it
marks           everybody's marks, out of nbgrader's gradebook
export          marks in the tables that Canvas and Moodle read back
feedback_zip    feedback in the zip that Moodle takes back
forget          everything of one student, gone
"""
