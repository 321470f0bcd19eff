"""`course feedback NN_topic`: a page for each student, and the way back to them."""

import click

from autograder.classroom.folder import open_gradebook, the_assignment
from autograder.classroom.marks import settle_lateness
from autograder.release import course_option


@click.command()
@click.argument("chapter", metavar="NN_topic")
@click.option("--student", default="*", help="Only these; a pattern such as a* will do.")
@click.option("--exchange", is_flag=True, help="Put them into nbgrader's exchange, too.")
@course_option
def feedback(chapter: str, student: str, exchange: bool, course) -> None:
    """Make the feedback pages of everybody who was graded; again is harmless.

    Example: course feedback 03_softmax
    """
    with open_gradebook(course) as gradebook:
        the_assignment(gradebook, chapter)
    settle_lateness(course, [chapter])
    raise NotImplementedError
