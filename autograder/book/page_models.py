"""A published model as one file for the pages: bytes, scales and vocabulary."""

import json
from pathlib import Path

import numpy as np
from sphinx.application import Sphinx

from course_lib import sentence_encoder
from course_lib.pretrained import FOLDER, VOCABULARY, Source

MODELS = "_static/models"


def write_models(app: Sphinx, exception: Exception | None) -> None:
    """Only where a page shows a figure that can load it: it is seven megabytes."""
    if exception or app.builder.name != "html" or not shown(app):
        return
    target = Path(app.outdir) / MODELS
    target.mkdir(parents=True, exist_ok=True)
    source = sentence_encoder.SOURCE
    (target / file_name(source)).write_bytes(packed(source))


def shown(app: Sphinx) -> bool:
    pages = (Path(app.outdir) / f"{page}.html" for page in app.env.found_docs)
    return any(
        page.is_file() and 'data-figure="sentence_heads"' in page.read_text() for page in pages
    )


def file_name(source: Source) -> str:
    return f"{source.name}.bin"


def packed(source: Source, folder: Path = FOLDER) -> bytes:
    """The size of a header, the header as JSON, then the numbers of all arrays.

    Raises FileNotFoundError where the model has not been fetched.
    """
    arrays, numbers, size = {}, [], 0
    with np.load(folder / source.name / "int8.npz") as file:
        for name in file.files:
            array = file[name]
            dtype = array.dtype.newbyteorder("<")
            # arrays of floats begin where four bytes begin
            padding = -size % 4
            numbers.append(bytes(padding) + array.astype(dtype).tobytes())
            size += padding
            arrays[name] = [array.dtype.name, list(array.shape) or [1], size]
            size += array.nbytes
    vocabulary = json.loads((folder / source.name / VOCABULARY).read_text(encoding="utf-8"))
    header = json.dumps({"vocabulary": vocabulary, "arrays": arrays}, ensure_ascii=False).encode()
    return len(header).to_bytes(4, "little") + header + b"".join(numbers)


def setup(app: Sphinx) -> None:
    app.connect("build-finished", write_models, priority=400)
