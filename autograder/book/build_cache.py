"""What a build has worked out, kept by what it was worked out from, so that it is done once."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sphinx.application import Sphinx

Work = Callable[[bytes], bytes]


@contextmanager
def kept(app: Sphinx, kind: str, work: Work) -> Iterator[Work]:
    """The same work, but for sources that the build before had, too."""
    folder, asked = Path(app.srcdir) / "_build" / kind, set()
    folder.mkdir(parents=True, exist_ok=True)
    how = Path(work.__code__.co_filename).read_bytes()

    def done_once(source: bytes) -> bytes:
        answer = folder / hashlib.sha256(how + source).hexdigest()
        asked.add(answer)
        if not answer.exists():
            unfinished = answer.with_suffix(".unfinished")
            unfinished.write_bytes(work(source))
            unfinished.rename(answer)
        return answer.read_bytes()

    yield done_once
    for answer in set(folder.iterdir()) - asked:
        answer.unlink()
