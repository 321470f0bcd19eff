"""What lateness costs; local_config.py of the course chooses it."""

import math

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Float

DAY = 24 * 3600


class PercentADay(LateSubmissionPlugin):
    """So many percent of what was earned for each day begun."""

    percent = Float(10.0, help="Percent of the marks for each day begun.").tag(config=True)
    at_most = Float(100.0, help="Percent of the marks, however late.").tag(config=True)

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float:
        """In points, as nbgrader asks for it."""
        days = math.ceil(total_seconds_late / DAY)
        percent: float = min(self.percent * days, self.at_most, 100.0)
        return score * percent / 100
