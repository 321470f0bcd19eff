"""What a build has worked out, kept by what it was worked out from, so that it is done once."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sphinx.application import Sphinx

from autograder.files import write_atomically

Work = Callable[[bytes], bytes]


@contextmanager
def kept(app: Sphinx, kind: str, work: Work) -> Iterator[Work]:
    """The same work, done once for a source; what this build does not ask for is removed.

    `work` must depend on nothing but its source and the module in which it stands.
    """
    folder = Path(app.srcdir) / "_build" / kind
    asked: set[Path] = set()
    folder.mkdir(parents=True, exist_ok=True)
    how = Path(work.__code__.co_filename).read_bytes()

    def done_once(source: bytes) -> bytes:
        answer = folder / hashlib.sha256(how + source).hexdigest()
        asked.add(answer)
        if not answer.exists():
            write_atomically(answer, work(source))
        return answer.read_bytes()

    yield done_once
    for answer in set(folder.iterdir()) - asked:
        answer.unlink()
