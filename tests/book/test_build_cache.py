"""What one build has worked out is there for the next."""

from types import SimpleNamespace

from autograder.book.build_cache import kept


def test_equal_sources_are_worked_on_once_and_what_nobody_asks_for_goes(tmp_path):
    worked_on = []

    def backwards(source: bytes) -> bytes:
        worked_on.append(source)
        return source[::-1]

    def build(*sources: bytes) -> list[bytes]:
        with kept(SimpleNamespace(srcdir=tmp_path), "turned", backwards) as turned:
            return [turned(source) for source in sources]

    assert build(b"ab", b"cd", b"ab") == [b"ba", b"dc", b"ba"]
    assert build(b"cd", b"ef") == [b"dc", b"fe"]
    assert worked_on == [b"ab", b"cd", b"ef"]
    assert build(b"ab") == [b"ba"] and worked_on[-1] == b"ab"
