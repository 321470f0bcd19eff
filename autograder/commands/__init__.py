"""The program `course`: one module a verb, with its options and its sentences and nothing else."""
