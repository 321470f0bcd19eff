"""What a page costs its reader: bytes and requests through the real server, and no jumping text."""

import pytest

from benchmarks.pages import MOST_BYTES, weigh
from tests.book.test_pages import every_page

pytestmark = pytest.mark.browser


@every_page
def test_a_page_is_light_and_stands_still(page, browser, address):
    weight = weigh(browser, f"{address}/{page}")
    assert weight.bytes <= MOST_BYTES
    assert weight.requests <= 40
    assert weight.shift <= 0.05
