"""Search puts the place that was meant first; a word of the glossary is linked once a chapter."""

import re
from collections import Counter
from pathlib import Path

import pytest
from docutils import nodes

from autograder.book.glossary_links import pattern_of
from autograder.book.searching import in_letters
from tests.book.built_pages import soup

CHAPTERS = sorted(path.stem for path in Path(__file__).parents[2].glob("chapters/[0-9]*.md"))[1:]
FOUND = {
    "softmax": ["03_softmax.html", "03_softmax.html#def-softmax", "glossary.html#term-softmax"],
    "d_k": ["symbols.html#symbol-d-k"],
    "alpha": ["symbols.html#symbol-alpha"],
    "log-sum-exp": ["03_softmax.html#thm-lse", "symbols.html#symbol-lse-x"],
    "Exercise 3.2": ["03_softmax.html#ex-what-softmax-forgets"],
    "why the square root": ["04_scaling.html#thm-root", "04_scaling.html#ex-why-the-square-root"],
    "theorem 3.3": ["03_softmax.html#thm-onto"],
    "Nadaraya-Watson": ["10_kernel_view.html#def-nw", "glossary.html#term-Nadaraya-Watson"],
    "only the product acts": ["02_queries_keys_values.html#thm-product"],
    "convex hull": ["01_weighted_average.html#def-hull", "glossary.html#term-convex-hull"],
    "heads": ["06_multi_head.html", "symbols.html#symbol-h-number-of-heads"],
    "equation 3.1": ["03_softmax.html#equation-eq-softmax"],
    "install": ["do_the_exercises.html"],
}


@pytest.fixture(scope="module")
def search(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()

        tab.goto(f"{address}/search.html")

        def find(query: str):
            tab.fill("#words", query)
            with tab.expect_navigation():
                tab.keyboard.press("Enter")
            tab.locator(".search-summary:not(:empty)").wait_for()
            return tab.locator("#search-results")

        yield find


@pytest.mark.browser
@pytest.mark.parametrize("query", FOUND)
def test_search_puts_what_was_meant_among_the_first_three(query, search):
    links = search(query).locator("li > a").evaluate_all("all => all.map(one => one.href)")
    first = [link.partition("/chapters/")[2] for link in links[:3]]
    assert first[0].startswith(FOUND[query][0])
    for target in FOUND[query]:
        assert any(link.startswith(target) for link in first), first
    assert len(links) == len(set(links))


@pytest.mark.browser
def test_what_was_found_is_called_by_its_name_and_shown_where_the_word_stands(search):
    results = search("entropy")
    assert (
        results.locator("li").first.inner_text()
        == "Definition 3.9 Entropy (statement, in 3. Softmax)"
    )
    assert "entropy" in results.locator(".context").first.inner_text().lower()
    wide = results.locator("li").evaluate_all("all => all.map(one => one.offsetWidth)")
    assert min(wide) > 500
    assert "No page has all of these words." in search("entropy zzzz").inner_text()


@pytest.mark.browser
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_word_of_the_glossary_is_linked_once_and_in_prose_only(chapter, site):
    links = soup(site, f"chapters/{chapter}.html").select("a.word")
    assert len(links) > 5
    assert set(Counter(link["href"] for link in links).values()) == {1}
    for link in links:
        assert link["href"].startswith("glossary.html#term-")
        assert link.find_parent(re.compile(r"h\d|pre|code|figcaption|table|details|dl")) is None
        assert link.find_parent(class_="admonition") is None


@pytest.mark.browser
def test_linked_words_are_quiet_on_the_screen_and_plain_on_paper(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/chapters/03_softmax.html")
        style = "one => [getComputedStyle(one).color, getComputedStyle(one).textDecorationLine]"
        word, prose = tab.locator("a.word").first, tab.locator("section > p").first
        assert word.evaluate(style) == [prose.evaluate(style)[0], "underline"]
        tab.emulate_media(media="print")
        assert word.evaluate(style)[1] == "none"


@pytest.mark.parametrize(
    ("term", "text", "use"),
    [
        ("softmax", "Softmax is", "Softmax"),
        ("weights", "one weight", "weight"),
        ("simplex, open", "the open\nsimplex", "open\nsimplex"),
        ("mask", "unmasked", None),
        ("Jacobian", "Jacobians", "Jacobians"),
    ],
)
def test_a_word_is_found_in_one_and_many(term, text, use):
    match = pattern_of(term).search(text)
    assert (match and match[0]) == use


@pytest.mark.parametrize(
    ("tex", "typed"),
    [
        (r"d_{\text{model}}", "d_model"),
        (r"\operatorname{softmax}(x)", "softmax(x)"),
        (r"W_Q W_K^{\mathsf T}", "W_Q W_K^T"),
        (r"\Sigma_q", "Σ (Sigma)_q"),
        (r"\lVert J \rVert_F", "‖J‖_F"),
        (r"\sqrt{d_k}", "√d_k"),
    ],
)
def test_a_formula_is_found_as_it_is_typed(tex, typed):
    assert in_letters(nodes.paragraph("", "", nodes.math("", tex))) == typed
