"""The program `course`: each verb is a module beside this one, imported when it is typed."""

import errno
import logging
import sys
import traceback
from importlib import import_module
from typing import Any

import click

from autograder.errors import CourseError

# jsonschema, on its own import, builds forty grammars for a check that nothing here asks for: a
# second, in every command that reads a notebook
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

VERBS = {
    "collect": "Take in what was handed in: folders, files, zips, the exchange.",
    "demo": "Make up a class, grade it, and compare marks with what is due.",
    "exercises": "Prove that exercises tell right answers from wrong ones.",
    "export": "Write the marks of released chapters into a file.",
    "extend": "Give students more time; late penalties follow.",
    "feedback": "Write a page for each student: marks, verdicts, hints, comments.",
    "forget": "Remove all that the course folder keeps of one student.",
    "grade": "Grade what was handed in for one chapter and is new or changed.",
    "init": "Make a course folder, or bring its list of students up to date.",
    "island": "Make a sheet of questions on a student's own island, and its key.",
    "lab": "Open an assignment in JupyterLab, as a student gets it.",
    "ledger": "Compare the chapters with the claims that they must make.",
    "models": "Fetch the published models of the book, and say whose they are.",
    "new": "Begin something new: course new exercise NN_topic/name.",
    "quiz": "Make a sheet for a closed-book quiz, and its key.",
    "release": "Make the student's notebook and bundle of one chapter, or of all.",
    "report": "Write one page on the class: points, properties, misconceptions.",
    "sandbox": "Say what holds a submission on this machine, and try it.",
    "site": "Build the website of the course into _build/html.",
    "why": "Say why a student has a mark: what each test saw.",
}
"""The first sentence of each verb's own help: told here, so that `course --help` imports none."""

INTERRUPTED = 130
WHERE = "To see where in the program, type  course --debug  before the verb."


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command: click.Command = getattr(import_module(f"autograder.commands.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, VERBS[name]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        """What a person can mend ends in a sentence and exit code 2, never in a traceback."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\nstopped", err=True)
            raise SystemExit(INTERRUPTED) from None
        except (OSError, CourseError) as error:
            if getattr(error, "errno", None) == errno.EPIPE:
                raise  # nobody reads on: click ends quietly
            if ctx.params["debug"]:
                traceback.print_exc()
            raise _as_course_error(error) from error


def _as_course_error(error: OSError | CourseError) -> CourseError:
    """A full disk, a closed folder, a path that leads nowhere."""
    if isinstance(error, CourseError):
        return error
    about = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or error
    return CourseError(f"{about}\n{WHERE}")


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mathematics-of-attention")
@click.option("-v", "--verbose", is_flag=True, help="Tell on stderr what is done; names nobody.")
@click.option(
    "--debug",
    is_flag=True,
    envvar="COURSE_DEBUG",
    help="Where a verb refuses, show the place in the program, too; or set COURSE_DEBUG=1.",
)
@click.pass_context
def main(ctx: click.Context, verbose: bool, debug: bool) -> None:
    """The Mathematics of Attention: build the book, prove the exercises, run the class."""
    if verbose:
        _log_to_stderr(ctx)


def _log_to_stderr(ctx: click.Context) -> None:
    """From INFO on; at that level there are counts and ids of ours, no names of people or files."""
    logger, handler = logging.getLogger("autograder"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s", "%H:%M:%S"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    ctx.call_on_close(lambda: logger.removeHandler(handler))
    ctx.call_on_close(lambda: logger.setLevel(before))
