"""The limits that a course sets for all of its exercises: c.Limits in its local_config.py."""

import re
from pathlib import Path
from typing import Any

from autograder.release.course_folder import SETTINGS, BadSettings
from autograder.sandbox.bounds import fault_in
from course_lib.checking.terms import Limits


def course_limits(course: Path, config: Any) -> Limits:
    """What this nbgrader configuration of the course says. Raises BadSettings."""
    stated = dict(config.Limits)
    for name, value in stated.items():
        if fault := fault_in(name, value):
            path = course / SETTINGS
            raise BadSettings(path, _line_of(name, path), *fault)
    return Limits(**stated)


def _line_of(name: str, path: Path) -> int | None:
    """The last that sets it."""
    lines = path.read_text().splitlines() if path.is_file() else []
    setting = re.compile(rf"\s*c\.Limits\.{re.escape(name)}\s*=")
    return max((n for n, line in enumerate(lines, start=1) if setting.match(line)), default=None)
