"""The pages made of this folder's templates, each a single file."""

from pathlib import Path
from statistics import median

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.typeset.typesetter import Typesetter

CSS = Path(__file__).with_name("page.css").read_text()


def page(name: str, typesetter: Typesetter, **values: object) -> str:
    """Fill a template of this folder."""
    environment = Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "markdown": typesetter.markdown,
        "line": typesetter.line,
        "sentence": lambda text: typesetter.line(sentence(text)),
        "points": points,
        "median": median,
        "ms": milliseconds,
    }
    return environment.get_template(name).render(css=Markup(CSS), **values)


def sentence(text: str) -> str:
    """With a capital letter, unless it begins with a name."""
    first = text.partition(" ")[0]
    is_name = "_" in first or "(" in first or (len(first) == 1 and first != "a")
    return text if is_name else text[:1].upper() + text[1:]


def points(number: float) -> str:
    """At most two decimals, and none that say nothing."""
    return f"{round(number, 2):g}"


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
