"""The server behind `course site --serve` sends what a real host would send."""

import gzip
from http.client import HTTPConnection
from threading import Thread

import pytest

from autograder.book.serve import server

PAGE = b"<h1>Softmax</h1>" * 100


@pytest.fixture
def ask(tmp_path):
    (tmp_path / "page.html").write_bytes(PAGE)
    (tmp_path / "figure.png").write_bytes(PAGE)
    with server(tmp_path) as pages:
        Thread(target=pages.serve_forever, daemon=True).start()

        def answer(path, **headers):
            connection = HTTPConnection("127.0.0.1", pages.server_port)
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            body = response.read()
            connection.close()
            return response, body

        yield answer
        pages.shutdown()


def test_text_is_compressed_for_those_who_can_read_it(ask):
    response, body = ask("/page.html", **{"Accept-Encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(body) == PAGE
    assert ask("/page.html")[1] == PAGE
    assert ask("/figure.png", **{"Accept-Encoding": "gzip"})[1] == PAGE


def test_a_page_is_asked_for_again_and_sent_only_if_it_has_changed(ask):
    first, _ = ask("/page.html", **{"Accept-Encoding": "gzip"})
    assert first.headers["Cache-Control"] == "no-cache"
    since = {"Accept-Encoding": "gzip", "If-Modified-Since": first.headers["Last-Modified"]}
    again, body = ask("/page.html", **since)
    assert (again.status, body) == (304, b"")


def test_a_file_with_a_digest_is_kept(ask):
    assert "immutable" in ask("/page.html?v=1a2b3c4d")[0].headers["Cache-Control"]


def test_what_is_not_there_is_not_found(ask):
    assert ask("/elsewhere.html", **{"Accept-Encoding": "gzip"})[0].status == 404
    assert ask("/../test_serve.py")[0].status == 404


def test_another_port_is_taken_when_the_wanted_one_is_busy(tmp_path):
    with server(tmp_path) as first, server(tmp_path, first.server_port) as second:
        assert second.server_port != first.server_port
        assert second.server_address[0] == "127.0.0.1"
