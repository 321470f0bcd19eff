"""The published model that a figure can load: its bytes, its scales and its vocabulary."""

import shutil
from pathlib import Path

from sphinx.application import Sphinx

from course_lib import sentence_encoder
from course_lib.pretrained import FOLDER, SUFFIX, VOCABULARY, Source

MODELS = Path("_static") / "models"
FILES = (f"int8{SUFFIX}", VOCABULARY)
FIGURE = 'data-figure="sentence_heads"'


def write_models(app: Sphinx, exception: Exception | None) -> None:
    """Only where a page shows a figure that can load it: it is seven megabytes."""
    if exception or app.builder.name != "html" or not _is_shown(app):
        return
    source = sentence_encoder.SOURCE
    target = Path(app.outdir) / MODELS / source.name
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copy(FOLDER / source.name / name, target)


def _is_shown(app: Sphinx) -> bool:
    pages = (Path(app.outdir) / f"{page}.html" for page in app.env.found_docs)
    return any(page.is_file() and FIGURE in page.read_text() for page in pages)


def megabytes(source: Source, folder: Path = FOLDER) -> float:
    """What a reader fetches. Raises FileNotFoundError where nobody has fetched it here."""
    return sum((folder / source.name / name).stat().st_size for name in FILES) / 1e6


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write_models, priority=400)
