"""The former place of typeset.sanitise, named in the nbgrader_config.py of courses made before."""

from autograder.typeset.sanitise import markdown_to_html

__all__ = ["markdown_to_html"]
