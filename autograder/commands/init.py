"""`course init FOLDER`: a course folder from nothing, with its students."""

from pathlib import Path

import click

from autograder.classroom.class_list import everybody
from autograder.classroom.exchange import Exchange
from autograder.commands.options import say
from autograder.files import write_atomically
from autograder.release.course_folder import open_gradebook, prepare_course
from autograder.roster.students import Student, add_students, read_students, refuse_new_ids

LOOK = 1
SETTINGS = '''"""What is yours in this course: no command writes over this file.

Each line that begins with # is a choice you have not made; take the # away to make it.
"""

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "{course_id}"

# Several people mark at once: one PostgreSQL database for all instead of the file gradebook.db
{database}

# Late work: so many percent of the marks for each day begun, and no more than so many in all
# c.AssignLatePenalties.plugin_class = "autograder.classroom.late.PercentADay"
# c.PercentADay.percent = 10
# c.PercentADay.at_most = 50

# What graded code may use, where an exercise says nothing itself: seconds of the processor for one
# call of a function and for one cell, MiB of memory, MiB that a function may return
# c.Limits.call_seconds = 2
# c.Limits.cell_seconds = 10
# c.Limits.memory_mib = 1024
# c.Limits.returned_mib = 64

# Where your students read the book, so that their feedback pages link to its sections
# c.Book.address = "https://..."

# On a hub: the folder through which notebooks go to students and come back
{exchange}
'''
PRIVATE = """# Your own exercises

A chapter of your own is a folder `NN_topic` here, made like those of the course's `solutions/`:
`course release NN_topic` finds it, and `course exercises --course .` proves it. One that is called
as a chapter of the course takes its place. Nothing here reaches a student or the website but what
`course release` makes of it.
"""
KEPT_PRIVATE = """# Marks, hidden inputs and what students handed in are nobody else's.
*
!.gitignore
!solutions/
!solutions/**
"""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--students",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="A CSV file of the class, as your platform exports it. Again later: adds who is new.",
)
@click.option(
    "--course-id", help="How the course is called on a hub.  [default: the folder's name]"
)
@click.option("--database", metavar="URL", help="A gradebook that is not a file, for many markers.")
@click.option("--exchange", metavar="FOLDER", help="On a hub: the folder of nbgrader's exchange.")
def init(
    folder: Path,
    students: tuple[Path, ...],
    course_id: str | None,
    database: str | None,
    exchange: str | None,
) -> None:
    """Make a course folder, or bring its list of students up to date.

    Nothing that is there is taken away: not a student, not a mark, not a setting.
    Exit code 0: done; 1: done, and a person should look at some lines; 2: nothing was done.

    Example: course init attention_2027 --students class.csv
    """
    lists = [(path, read_students(path)) for path in students]
    there_already = everybody(folder) if (folder / "nbgrader_config.py").is_file() else []
    for path, read in lists:
        refuse_new_ids(path, read, there_already)
    asked_for = bool(course_id or database or exchange)
    is_new = not (folder / "local_config.py").is_file()
    course_id = course_id or folder.resolve().name
    if exchange and is_new:
        Exchange(Path(exchange).absolute(), course_id, folder).make()
    make_folder(folder, course_id, database, exchange)
    click.echo(f"{'made' if is_new else 'there already:'} {folder}")
    if asked_for and not is_new:
        click.echo(f"  its settings stay as they are: change them in {folder / 'local_config.py'}")
    for path, read in lists:
        added, missing = add_students(folder, read.students)
        enrol(folder, read.students)
        number = len(read.students)
        click.echo(f"{path}: {number} student{'s' * (number != 1)}, {len(added)} of them new")
        say([*read.notes, *read.refused])
        if missing:
            names = ", ".join(student.label for student in missing[:5])
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            say([f"in the course, and not in this list: {names}{more}; they stay"])
    if not students and is_new:
        click.echo("no list of students yet: whoever hands in is taken. To give one, type")
        click.echo(f"  course init {folder} --students class.csv")
    click.echo(f"next:  cd {folder} && course release 03_softmax")
    raise SystemExit(LOOK if any(read.refused for _, read in lists) else 0)


def make_folder(
    folder: Path, course_id: str, database: str | None = None, exchange: str | None = None
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        folder.chmod(0o700)  # marks and hidden inputs; open it to a group if you teach together
    prepare_course(folder)
    settings = folder / "local_config.py"
    if not settings.is_file():
        url = database or "postgresql+psycopg://user@host/gradebook"
        root = exchange or "/srv/attention/exchange"
        lines = {
            "course_id": course_id,
            "database": f'{"" if database else "# "}c.CourseDirectory.db_url = "{url}"',
            "exchange": f'{"" if exchange else "# "}c.Exchange.root = "{root}"',
        }
        # it may come to hold the password of a database
        write_atomically(settings, SETTINGS.format(**lines), mode=0o600)
    for name, text in (("solutions/README.md", PRIVATE), (".gitignore", KEPT_PRIVATE)):
        path = folder / name
        if not path.exists():
            write_atomically(path, text)
    with open_gradebook(folder):
        pass  # opening makes it


def enrol(course: Path, students: list[Student]) -> None:
    """Into the gradebook: what it knows already of somebody and the list does not say stays."""
    with open_gradebook(course) as gradebook:
        for student in students:
            fields = {
                "first_name": student.first_name,
                "last_name": student.last_name,
                "email": student.email,
                "lms_user_id": student.lms_user_id,
            }
            given = {name: value for name, value in fields.items() if value}
            gradebook.update_or_create_student(student.id, **given)
