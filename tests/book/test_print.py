"""A chapter on paper: what a reader did in it; what holds for every page is in test_pages."""

import re

import pytest

from tests.book.visits import PAPER

pytestmark = pytest.mark.browser


def test_a_chapter_is_saved_as_sheets_of_paper(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html")
        saved = tab.pdf(format="A4")
    assert saved.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", saved)) > 5


def test_an_exercise_prints_with_its_starter_or_with_what_was_written(browser, address):
    with browser.new_context(viewport=PAPER) as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html", wait_until="networkidle")
        first, other = (tab.locator(f"#ex-{name} .try") for name in ("softmax", "logsumexp"))
        first.locator(".try-open").click()
        text = first.locator("textarea")
        text.fill("x = 1\n" * 80)
        tab.emulate_media(media="print")
        assert text.evaluate("one => one.clientHeight >= one.scrollHeight")
        assert other.locator("pre").is_visible()
        for kind in ("button", ".try-keys", ".try-not", ".try-status"):
            assert not any(one.is_visible() for one in tab.locator(f".try {kind}").all()), kind


def test_the_answer_to_a_question_is_named_as_such(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html")
        tab.emulate_media(media="print")
        answer = tab.locator(".question > .answer:not(details)").first
        assert answer.is_visible()
        assert answer.evaluate("one => getComputedStyle(one, '::before').content") == '"Answer"'
