"""`course export [NN_topic]...`: marks for a spreadsheet, for Canvas, for Moodle."""

from pathlib import Path

import click

from autograder.classroom import export as formats
from autograder.classroom.marks import Result, read_marks
from autograder.commands.options import course_option, say
from autograder.release.course_folder import open_gradebook
from autograder.roster.csv_tables import write_sheet

LOOK = 1
PLAIN = {"csv": formats.as_csv, "canvas": formats.as_canvas, "moodle": formats.as_moodle}
FILLED_IN = {"canvas": formats.into_canvas_file, "moodle": formats.into_moodle_file}
HOW = {
    "csv": "one line a student and assignment",
    "canvas": "in Canvas: Grades > Import",
    "moodle": "in Moodle: Grades > Import > CSV file; map e-mail address to e-mail address",
}


@click.command()
@click.argument("chapters", nargs=-1, metavar="[NN_topic]...")
@click.option("--for", "platform", type=click.Choice(list(PLAIN)), default="csv", show_default=True)
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), help="The file to write.")
@click.option(
    "--template",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file of the platform's own to fill in: Canvas's export, Moodle's grading worksheet.",
)
@click.option("--column", help="The column of the template that is meant.")
@click.option(
    "--out-of",
    type=click.FloatRange(0, min_open=True),
    help="The platform's highest mark, where the template does not say it.",
)
@course_option
def export(
    chapters: tuple[str, ...],
    platform: str,
    to: Path | None,
    template: Path | None,
    column: str | None,
    out_of: float | None,
    course: Path,
) -> None:
    """Write the marks of released chapters into a file.

    Without a chapter, of all. Marks given by hand count, and late penalties follow them. Who handed
    in nothing has no mark and no line for a platform, which keeps what it has.
    Exit code 0: written; 1: written, and a person should look.

    Example: course export 03_softmax --for canvas --template canvas.csv
    """
    with open_gradebook(course) as gradebook:
        stems = list(chapters) or sorted(a.name for a in gradebook.assignments)
    if not stems:
        raise click.UsageError("nothing was released here yet; type  course release NN_topic")
    if template and (platform not in FILLED_IN or len(stems) != 1):
        raise click.UsageError("--template goes with one chapter, and --for canvas or --for moodle")
    if out_of and not template:
        raise click.UsageError("--out-of goes with --template")
    results = read_marks(course, stems)
    if not results:
        raise click.UsageError(
            "there are no students yet; type  course init . --students class.csv"
        )
    written = (
        FILLED_IN[platform](results, template, column, out_of)
        if template
        else PLAIN[platform](results)
    )
    name = stems[0] if len(stems) == 1 else "marks"
    target = to or course / "exports" / f"{name}_{platform}.csv"
    own = platform == "csv"
    write_sheet(target, written.lines, bom=own, exact=not own)
    say(written.notes, indent="")
    click.echo(f"{target}   ({written.back or HOW[platform]})")
    if platform in FILLED_IN and not template:
        most = {r.assignment: formats.number(r.most) for r in results}
        click.echo(
            f"marks are out of {', '.join(f'{n} ({stem})' for stem, n in most.items())}; "
            "where the platform counts to another number, give its file with --template"
        )
    if waiting := _waiting(results):
        click.echo(waiting)
    raise SystemExit(LOOK if written.notes or waiting else 0)


def _waiting(results: list[Result]) -> str:
    waits = [f"{r.student.label} ({r.assignment})" for r in results if r.waits]
    if not waits:
        return ""
    more = f" and {len(waits) - 5} more" if len(waits) > 5 else ""
    return (
        f"not final, since a person has still to mark some of it: {', '.join(waits[:5])}{more}\n"
        "mark them in the formgrader, and export again"
    )
