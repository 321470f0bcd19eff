"""What answers a prediction is covered until the reader has chosen, or asks for it."""

import pytest

from tests.book.conftest import served

PAGE = """\
# Page

```{prediction}
Which?

- this
- that

---
That.
```

```{code-cell}
print("the output")
```

The next sentence.

```{prediction-end}
```

Read on.

```{prediction}
Without choices.

---
The answer.
```

Covered, too.

```{prediction-end}
```
"""


def test_a_prediction_without_its_end_is_told(book):
    page = PAGE.replace("```{prediction-end}\n```\n", "", 1).replace("Read on.", "## Next")
    complaints = book.build(page=page)
    assert "{prediction-end}" in complaints and "chapters/page.md" in complaints


@pytest.fixture(scope="module")
def covered(tmp_path_factory):
    from tests.book.conftest import ROOT, TinyBook

    root = tmp_path_factory.mktemp("predictions")
    (root / "autograder").symlink_to(ROOT / "autograder")
    (root / "_config.yml").write_text((ROOT / "_config.yml").read_text())
    book = TinyBook(root)
    assert book.build(page=PAGE) == ""
    with served(root / "_build" / "html") as address:
        yield f"{address}/chapters/page.html"


@pytest.fixture
def tab(browser, covered):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(covered, wait_until="networkidle")
        yield tab


def shown(tab) -> list[bool]:
    texts = ("the output", "The next sentence", "Covered, too.")
    return [tab.get_by_text(text).last.is_visible() for text in texts]


@pytest.mark.browser
def test_what_is_covered_opens_by_a_choice_and_the_code_is_seen(tab):
    assert shown(tab) == [False, False, False]
    assert tab.locator(".cell_input pre").is_visible()
    assert tab.get_by_text("Read on.").is_visible()
    tab.get_by_text("this", exact=True).click()
    assert shown(tab) == [True, True, False]


@pytest.mark.browser
def test_it_opens_by_a_button_that_the_keyboard_reaches(tab):
    tab.get_by_role("button", name="Show it").last.press("Enter")
    assert shown(tab) == [False, False, True]


@pytest.mark.browser
def test_show_everything_lasts_until_it_is_taken_back(tab):
    tab.get_by_role("button", name="Always show everything").first.click()
    tab.reload()
    assert shown(tab) == [True, True, True]
    tab.get_by_role("button", name="Cover answers again").first.click()
    assert shown(tab) == [False, False, False]
    tab.reload()
    assert shown(tab) == [False, False, False]


@pytest.mark.browser
def test_all_is_open_in_print_and_without_javascript(tab, browser, covered):
    tab.emulate_media(media="print")
    assert shown(tab) == [True, True, True]
    assert not tab.locator(".cover").first.is_visible()
    with browser.new_context(java_script_enabled=False) as context:
        plain = context.new_page()
        plain.goto(covered)
        assert shown(plain) == [True, True, True]
        assert not plain.locator(".cover").first.is_visible()
