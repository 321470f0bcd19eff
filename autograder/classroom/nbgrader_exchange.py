"""nbgrader's own verbs and buttons, on an exchange that is made and read as ours is.

nbgrader's settings name these classes: those of the course folder the first three, which the
instructor runs, and those of the hub the others, which students run.
"""

from pathlib import Path

from nbgrader.exchange.default import (
    ExchangeCollect,
    ExchangeFetchAssignment,
    ExchangeFetchFeedback,
    ExchangeList,
    ExchangeReleaseAssignment,
    ExchangeReleaseFeedback,
    ExchangeSubmit,
)

from autograder.errors import CourseError


class _Students:
    """nbgrader asks that everybody may write to the whole exchange; inbound is enough."""

    def ensure_root(self) -> None:
        if not Path(self.root).is_dir():  # type: ignore[attr-defined]
            self.fail(f"the exchange {self.root} is not there")  # type: ignore[attr-defined]


class Submit(_Students, ExchangeSubmit): ...


class FetchAssignment(_Students, ExchangeFetchAssignment): ...


class FetchFeedback(_Students, ExchangeFetchFeedback): ...


class List(_Students, ExchangeList): ...


class _Instructors:
    """Refuses an exchange that a student could change, before anything else is done."""

    may_make = False

    def ensure_root(self) -> None:
        """Nothing: `init_dest` looks at it, which is not left out for a shared course."""

    def init_dest(self) -> None:
        from autograder.classroom.exchange import Exchange

        try:
            exchange = Exchange.of(Path(self.coursedir.root))  # type: ignore[attr-defined]
            exchange.make() if self.may_make else exchange.demand_safe()
        except CourseError as error:
            self.fail(str(error))  # type: ignore[attr-defined]
        super().init_dest()  # type: ignore[misc]


class ReleaseAssignment(_Instructors, ExchangeReleaseAssignment):
    may_make = True


class ReleaseFeedback(_Instructors, ExchangeReleaseFeedback):
    may_make = True


class Collect(_Instructors, ExchangeCollect):
    """Copies by descriptors, where nbgrader follows links."""

    def init_src(self) -> None:
        """Nothing: the copying looks itself."""

    def copy_files(self) -> None:
        from autograder.classroom.exchange import collect_from_exchange

        try:
            report = collect_from_exchange(
                Path(self.coursedir.root),
                self.coursedir.assignment_id,
                self.coursedir.student_id or None,
                self.before_duedate,
            )
        except CourseError as error:
            self.fail(str(error))
        for who, problem in report.problems:
            self.log.warning("%s: %s", who, problem)
        taken, unchanged = len(report.taken), len(report.unchanged)
        self.log.info("%d taken, %d unchanged", taken, unchanged)
