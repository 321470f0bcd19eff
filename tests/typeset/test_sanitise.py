"""What anybody wrote is shown to its last letter, and nothing of it acts."""

import base64
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import Environment

from autograder.demo.attacks.notebooks import PAGE
from autograder.typeset.sanitise import LETTERS, clean_html, markdown_to_html, safe_html
from tests.typeset.acting import Acts

PROOF = r"Since $e^{x_j} < \sum_i e^{x_i}$, **each** weight is below 1. ![photo](attachment:a.png)"
PHOTO = base64.b64encode(b"\x89PNG").decode()


def rendered(text: str, **cell) -> str:
    environment = Environment()
    environment.filters["set"] = markdown_to_html
    return environment.from_string("{{ text | set }}").render(text=text, cell=cell)


def formula(tex: str, display: bool) -> str:
    """In a tag that no text may have, so that it is known again; with quotes, as MathML has."""
    shown = tex.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<var lang="tex">{shown}</var>'


class Shown(HTMLParser):
    """The text of a page and its tags, as nh3 serialises them."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(str(page))
        self.close()

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


@pytest.mark.parametrize(
    "text",
    [
        *PAGE.splitlines(),
        "<scr<script>ipt>alert(1)</script>",
        "[a](JaVaScRiPt:alert(1))",
        "[a](java\tscript:alert(1)) [b](&#106;avascript:alert(1)) [c](\x01javascript:alert(1))",
        "<a href='vbscript:x'>a</a><a href=' javascript:alert(1)'>b</a>",
        '![a](x" onerror="alert(1))',
        '![a](data:image/svg+xml;base64,PHN2Zz4= "b")',
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
        '```"><script>alert(1)</script>\nx\n```',
        "```python onload=alert(1)\nx = '<script>'\n```",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "<b class='full-credit' id='statusmessage' data-link='x'>a</b>",
        "| a |\n|:-:|\n| <img src=x onerror=alert(1)> |",
        "# a <svg onload=alert(1)>",
        "$x$<script>alert(1)</script>$y$ $$</script><script>alert(1)</script>$$",
        r"\begin{align}<img src=x onerror=alert(1)>\end{align}",
        "<" * 1000 + "script>",
    ],
)
def test_nothing_in_a_text_acts(text):
    page = rendered(text)
    assert Acts(page).found == []
    assert "full-credit" not in page or "class=" not in page


@pytest.mark.parametrize(
    "text",
    [
        "x<y and z>w",
        "a<b>c",
        "a<b>c, and d<b and e>f",
        "0<p>1",
        "<3",
        "List<int>",
        "if n<m: x > 3",
        "x<!y",
        "<!-- never closed",
        "<script>alert(1)</script>",
        "<div>\n<script>alert(1)</script>",
        "<!DOCTYPE html>",
        "<?php x ?>",
        "a</b>c",
        "[x] y",
        "\ue0000\ue001",
    ],
)
@pytest.mark.parametrize("setting", [None, formula], ids=["TeX", "set"])
def test_what_only_looks_like_a_tag_is_shown_as_it_was_typed(text, setting):
    assert Shown(safe_html(text, formula=setting)).text.strip() == text


@pytest.mark.parametrize(
    "text, shown",
    [
        ("`x<y and z>w`", "x<y and z>w"),
        ("```\na<b>c</b>\n```", "a<b>c</b>"),
        ("```mermaid\n<b>x <q>\n```", "<b>x <q>"),
        ("- [ ] x<y", "[ ] x<y"),
        ("| a |\n|---|\n| x<q>y |", "x<q>y"),
        ("# a<b>c", "a<b>c"),
    ],
)
def test_nor_is_a_letter_lost_in_markdown(text, shown):
    assert shown in Shown(safe_html(text)).text


@pytest.mark.parametrize(
    "text, html",
    [
        ("a <b>c</b> d", "<b>c</b>"),
        ("a <B>c</b > d", "<b>c</b>"),
        ("x<sub>1</sub><br>y", "<sub>1</sub><br>"),
        ("a<b>c <b>d</b>", "a&lt;b&gt;c <b>d</b>"),
        ("<table><tr><td>1<td>2</table>", "<td>1</td><td>2</td>"),
        ("<details><summary>a</summary>b</details>", "<summary>a</summary>b"),
        ("a <!-- b --> c", "a  c"),
        ("$x<y$", '<var lang="tex">x&lt;y</var>'),
        ("$a<b>c$ <b>d</b>", '<var lang="tex">a&lt;b&gt;c</var> <b>d</b>'),
    ],
)
def test_a_tag_that_is_opened_and_closed_is_one(text, html):
    assert html in safe_html(text, formula=formula)


def test_a_formula_in_the_name_of_a_picture_stays_in_its_attribute():
    (tag, attributes), *_ = Shown(safe_html("![a $x<y$](https://a.b)", formula=formula)).tags[1:]
    assert (tag, attributes) == ("img", {"alt": "a $x<y$"})


def test_no_text_can_pass_for_a_formula_of_ours():
    for text in ("&#xE000;7&#xE001;", "kept-0-7-", "$x$ &#xE000;0&#xE001;"):
        assert safe_html(text, formula=formula).count("<var") == text.count("$x$")


PIECES = [
    *(
        "<",
        "</",
        ">",
        "/>",
        "<!",
        "<?",
        "<!--",
        "-->",
        "--!>",
        " ",
        "\n",
        "\n\n",
        "=",
        '"',
        "'",
        "/",
    ),
    *("b", "i", "u", "p", "pre", "table", "td", "a", "img", "br", "details", "div"),
    *("q", "y", "script", "style", "svg", "math", "title", "textarea", "plaintext", "noscript"),
]
COMMENT = re.compile(r"<!--.*?--!?>", re.DOTALL)
LOOKS_ALLOWED = re.compile(
    r"</?(b|i|u|p|pre|table|td|a|img|br|details|div)(?![a-z0-9])[^<>]*>", re.IGNORECASE
)
"""More than what is a tag: what lies in it may go."""


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from([*PIECES, "WORD", "`WORD<b>`", "$WORD<q>$"]), max_size=25))
def test_every_letter_outside_an_allowed_tag_is_shown(pieces):
    numbered = "".join(piece.replace("WORD", f"W{n}W") for n, piece in enumerate(pieces))
    outside = LOOKS_ALLOWED.sub("", COMMENT.sub("", numbered))
    shown = Shown(safe_html(numbered, formula=formula)).text
    assert set(re.findall(r"W\d+W", outside)) <= set(re.findall(r"W\d+W", shown)), numbered


HOSTILE = [
    *PIECES,
    *("onclick", "style", "href", "src", "class", "id", "title", "alt", "srcset", "xlink:href"),
    *("javascript:x", "JaVa\tscript:x", "data:text/html,x", "vbscript:x", "//x.org", "/x", "\\\\x"),
    *("https://x.org", "data:image/png;base64,AA", "data:image/svg+xml;base64,AA", "full-credit"),
    *("&#106;avascript:x", "&lt;", "&quot;", "&#x22;", "&", "\0", "\x01", "\ud800", "\u2028"),
    *(
        "![",
        "](",
        ")",
        "[",
        "]",
        "`",
        "```",
        "$",
        "$$",
        "\\",
        "|",
        "\n|-|\n",
        "* ",
        "> ",
        "attachment:a",
    ),
    *('<a href="', "<img src='", '<b title="', "](javascript:x)", "```js ", "\\begin{align}"),
]
MAY_BE = {
    "href": re.compile(r"(https?://|mailto:|#).*", re.IGNORECASE | re.DOTALL),
    "src": re.compile(r"data:image/(png|jpeg);base64,.*", re.DOTALL),
    "class": re.compile(r"highlight( hl-\w+)?|language-\w+|[a-z][a-z0-9]{0,2}"),
    "rel": re.compile("noopener noreferrer"),
    "title": re.compile(".*", re.DOTALL),
    "alt": re.compile(".*", re.DOTALL),
    "lang": re.compile("tex"),
}
MAY_STAND = """
p br hr h1 h2 h3 h4 h5 h6 a em strong b i u s del code pre blockquote ul ol li dl dt dd
table thead tbody tr th td img span div sup sub details summary var
"""


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(HOSTILE), max_size=25).map("".join))
def test_no_tag_attribute_or_scheme_off_the_allowlist_comes_out(text):
    attached = {"a": {"image/png": "AA", "text/html": "x"}}
    for html in (safe_html(text, attached, formula), safe_html(text), clean_html(text)):
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", html)
        for tag, attributes in Shown(html).tags:
            assert tag in MAY_STAND.split()
            for name, value in attributes.items():
                assert MAY_BE[name].fullmatch(value or ""), (tag, name, value)


def test_what_a_proof_needs_stays():
    page = rendered(PROOF, attachments={"a.png": {"image/png": PHOTO}})
    assert r"$e^{x_j} &lt; \sum_i e^{x_i}$" in page
    assert "<strong>each</strong>" in page
    assert f'src="data:image/png;base64,{PHOTO}"' in page
    table = rendered("| a | b |\n|---|---|\n| 1 | [c](https://example.org) |\n\n- x\n\n> y\n\n`z`")
    for tag in ("<table>", "<td>", "<li>", "<blockquote>", "<code>", 'href="https://example.org"'):
        assert tag in table
    assert '<span class="n">x</span>' in rendered("```python\nx = 1\n```")


@pytest.mark.parametrize(
    "attachments", [None, [], {"a.png": {}}, {"a.png": []}, {"a.png": {"text/html": "x"}}]
)
def test_a_picture_that_is_none_is_no_fault_of_the_page(attachments):
    page = rendered("see ![photo](attachment:a.png)", attachments=attachments)
    assert "attachment:a.png: no such picture" in page


def test_a_text_without_end_is_cut_and_says_so():
    page = rendered("a " * LETTERS)
    assert len(page) < 2 * LETTERS
    assert f"{LETTERS} letters more" in page


def test_what_cells_put_out_is_cleaned_once_and_formulas_of_ours_stay():
    assert clean_html(b"<b onclick=x>\xff</b><script>x</script>") == "<b>\ufffd</b>"
    set_already = safe_html("$x$", formula=formula)
    assert clean_html(set_already) == set_already
