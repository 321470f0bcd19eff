"""The former place of release.rubric, named in the nbgrader_config.py of courses made before."""

from autograder.release.rubric import ShowRubric

__all__ = ["ShowRubric"]
