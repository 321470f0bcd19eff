"""Exercise folders: read, made new, and proved to tell right from wrong.

toml_tables      a TOML file that knows its lines: BadExercise says file, line, fault and remedy
sources          the Python files and the prompt of an exercise, read without running them
assignment       solutions/NN_topic/ as objects: Assignment and the kinds of Exercise
cell_ids         the ids of an exercise's cells, in every notebook and gradebook
new              `course new exercise`: the files in blank/, and what is still to be filled in
chapter_page     which exercises a chapter's page shows

prove            all that is tried on one exercise; prove_blocks for a built proof
proof            what came out of it: Proof, with a Fault for each reason to refuse
proof_cache      proofs that hold, kept by what they depend on
lazy_answers     answers that look away
library_calls    answers that are one call of NumPy, SciPy, torch or course_lib
mutants          every single edit of the model answer
answer_memo      an oracle that computes each answer once
time_limit       stops an answer that never comes

Students' code is never loaded here. `prove` runs the code of an exercise's author in this process,
so it is for those who write exercises; the rest only reads.
"""
