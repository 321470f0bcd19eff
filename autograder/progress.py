"""One bar for every verb that takes a while."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def progress_bar(console: Console, *besides: str) -> Progress:
    """A context manager: each `add_task(description, total=...)` is a line, gone at the end.

    Nothing is drawn where there is no terminal. `besides` are further columns, such as
    "{task.fields[rate]}".
    """
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        *map(TextColumn, besides),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
