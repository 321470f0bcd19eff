"""The program `course`: each verb is a module beside this one, imported when it is typed."""

import sys
from importlib import import_module

import click

# jsonschema, on its own import, builds forty grammars for a check that nothing here asks for: a
# second, in every command that reads a notebook
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

VERBS = {
    "collect": "Take in what was handed in: folders, files, a platform's zip, the exchange.",
    "demo": "Make up a class, grade it, and compare every mark with what is due.",
    "exercises": "Prove exercises: right answers pass, wrong ones fail where they say.",
    "export": "Write the marks of one, several or all released chapters into a file.",
    "extend": "Give students more time; late penalties follow.",
    "feedback": "Write one page for each student: marks, verdicts, hints, comments.",
    "forget": "Remove all that the course folder keeps of one student.",
    "grade": "Grade what was handed in for one chapter; only what is new or has changed.",
    "init": "Make a course folder, or bring its list of students up to date.",
    "island": "Make a sheet of questions on a student's own island, and its key.",
    "lab": "Open an assignment in JupyterLab, as a student gets it.",
    "ledger": "Compare the chapters with the claims that they must make and compute.",
    "new": "Begin something new: course new exercise NN_topic/name.",
    "quiz": "Make a sheet for a closed-book quiz, and its key: two files to print.",
    "release": "Make the student's notebook and bundle of one chapter, or of all.",
    "report": "Write one page on the class: points, hardest properties, misconceptions.",
    "sandbox": "Say what holds a submission on this machine, and try it.",
    "site": "Build the website of the course into _build/html.",
    "why": "Say why a student has a mark: what each test saw, hidden ones included.",
}
"""Told here, so that `course --help` imports none of them."""


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


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mathematics-of-attention")
def main() -> None:
    """The Mathematics of Attention: build the book, prove the exercises, run the class."""
