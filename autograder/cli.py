"""The program `course`: each verb lives in the module that does the work, loaded when asked for."""

import sys
from importlib import import_module

import click

# jsonschema, on its own import, builds forty grammars for a check that nothing here asks for: a
# second, in every command that reads a notebook
sys.modules.setdefault("rfc3987_syntax", None)

VERBS = {
    "collect": "autograder.classroom.collect_command",
    "demo": "autograder.grading.demo_command",
    "exercises": "autograder.exercises_command",
    "export": "autograder.classroom.export_command",
    "extend": "autograder.classroom.extend_command",
    "feedback": "autograder.reports.feedback",
    "forget": "autograder.grading.forget",
    "grade": "autograder.grading.command",
    "init": "autograder.classroom.init_command",
    "lab": "autograder.lab",
    "island": "autograder.reports.island_sheet",
    "ledger": "autograder.ledger",
    "new": "autograder.new_exercise",
    "quiz": "autograder.reports.quiz",
    "release": "autograder.release",
    "report": "autograder.reports.class_report",
    "sandbox": "autograder.sandbox.command",
    "site": "autograder.book.build",
}


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return getattr(import_module(VERBS[name]), name) if name in VERBS else None


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mathematics-of-attention")
def main() -> None:
    """The Mathematics of Attention: build the book, prove the exercises, run the class."""
