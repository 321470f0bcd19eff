"""Show pages on this machine as a real host would: compressed, and cached by the browser."""

import gzip
import io
import os
import sys
from collections.abc import Callable
from email.utils import formatdate
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO

COMPRESSED = (".html", ".css", ".js", ".mjs", ".json", ".svg", ".txt", ".xml", ".wasm")
A_YEAR = 365 * 24 * 3600


@lru_cache(maxsize=512)
def _zipped(path: str, modified: float) -> bytes:
    # whoever asks for the 10 MB of Python waits for them to be compressed
    level = 1 if path.endswith(".wasm") else 6
    return gzip.compress(Path(path).read_bytes(), compresslevel=level, mtime=0)


class Pages(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        path = self.translate_path(self.path)
        wanted = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (wanted and path.endswith(COMPRESSED) and os.path.isfile(path)):
            return super().send_head()
        modified = os.stat(path).st_mtime
        last_modified = formatdate(int(modified), usegmt=True)
        if self.headers.get("If-Modified-Since") == last_modified:
            self.send_response(HTTPStatus.NOT_MODIFIED)
            self.end_headers()
            return None
        body = _zipped(path, modified)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", last_modified)
        self.end_headers()
        return io.BytesIO(body)

    def end_headers(self) -> None:
        # Sphinx puts a digest of the file behind its name: ?v=1a2b3c4d never means something else
        lasting = "?v=" in self.path or "?digest=" in self.path
        self.send_header("Cache-Control", f"max-age={A_YEAR}, immutable" if lasting else "no-cache")
        self.send_header("Vary", "Accept-Encoding")
        super().end_headers()

    def log_message(self, *args: object) -> None:
        """A reader's clicks are nobody's business."""


class Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever leaves a page while it loads is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of this folder on the loopback; another free port where the wanted one is taken."""
    handler = partial(Pages, directory=str(folder))
    try:
        return Server(("127.0.0.1", port), handler)
    except OSError:
        return Server(("127.0.0.1", 0), handler)


def serve_until_interrupted(folder: Path, port: int, tell: Callable[[str], None]) -> None:
    with server(folder, port) as pages:
        tell(f"  look     http://127.0.0.1:{pages.server_port}/   (Ctrl-C stops)")
        try:
            pages.serve_forever()
        except KeyboardInterrupt:
            tell("\nStopped.")
