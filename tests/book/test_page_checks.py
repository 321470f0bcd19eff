"""Every fault that no reader may meet is refused, by name, page and line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from autograder.book.page_checks import outside_in_css, problems

pytestmark = pytest.mark.whole

ROOT = Path(__file__).parents[2]
OUTSIDE = "https://example.org/"
BAD_HTML = {
    "no alt": ('<img src="a.png">', "picture without alternative text"),
    "empty alt": ('<img src="a.png" alt=" ">', "picture without alternative text"),
    "the name of the file as alt": (
        '<img src="../_images/5b.png" alt="_images/5b.png">',
        "picture without alternative text",
    ),
    "an outside picture": (f'<img src="{OUTSIDE}a.png" alt="A">', "loaded from outside"),
    "an outside script": (f'<script src="{OUTSIDE}a.js"></script>', "loaded from outside"),
    "an outside script without protocol": (
        '<script src="//example.org/a.js"></script>',
        "loaded from outside",
    ),
    "an outside style sheet": (
        f'<link rel="stylesheet" href="{OUTSIDE}a.css">',
        "loaded from outside",
    ),
    "an outside frame": (f'<iframe src="{OUTSIDE}"></iframe>', "loaded from outside"),
    "an outside picture set": (
        f'<img src="a.png" srcset="{OUTSIDE}b.png 2x" alt="A">',
        "loaded from outside",
    ),
    "an outside style": (f"<style>@import '{OUTSIDE}a.css';</style>", "loaded from outside"),
    "an outside background": (
        f'<p style="background: url({OUTSIDE}a.png)"></p>',
        "loaded from outside",
    ),
}


@pytest.mark.parametrize("fault", BAD_HTML)
def test_a_bad_page_is_refused(fault):
    html, complaint = BAD_HTML[fault]
    assert [(line, what) for line, _, what in problems("<p>\n" + html)] == [(2, complaint)]


def test_a_good_page_is_not_refused():
    html = f"""
    <link rel="canonical" href="{OUTSIDE}"> <a href="{OUTSIDE}">elsewhere</a>
    <img src="a.png" alt="A curve that falls"> <script src="../a.js"></script>
    <style>p {{ background: url(a.png) }}</style> <p data="x">https://example.org/a.js</p>
    """
    assert problems(html) == []


def test_an_outside_font_is_found_in_a_style_sheet():
    assert outside_in_css(f"@font-face {{ src: url('{OUTSIDE}a.woff2') }}") == [f"{OUTSIDE}a.woff2"]
    assert outside_in_css("@font-face { src: url(fonts/a.woff2) }") == []


FAULTS = {
    "[nowhere](no-such-label)": "'myst' cross-reference target not found: 'no-such-label'",
    "{ref}`no-such-place`": "undefined label: 'no-such-place'",
    "{cite:t}`nobody_1900`": 'could not find bibtex key "nobody_1900"',
    r"$\frac{1}{$": "formula: KaTeX parse error",
    "Numbers itself": "formula that numbers itself",
    f"![Outside]({OUTSIDE}a.png)": f"loaded from outside: {OUTSIDE}a.png",
    f'<script src="{OUTSIDE}a.js"></script>': f"loaded from outside: {OUTSIDE}a.js",
    "import matplotlib": "picture without alternative text",
    "1 / 0": "this cell raised",
    "Unanswered?": "a question has an answer",
}
BAD_CHAPTER = rf"""# Bad

See [nowhere](no-such-label).

See {{ref}}`no-such-place`.

See {{cite:t}}`nobody_1900`.

See $\frac{{1}}{{$.

Numbers itself:

\begin{{align}}
x &= 1
\end{{align}}

![Outside]({OUTSIDE}a.png)

<script src="{OUTSIDE}a.js"></script>

```{{code-cell}} ipython3
import matplotlib.pyplot as plt
plt.plot([1, 2]);
```

```{{code-cell}} ipython3
1 / 0
```

```{{course-question}}
Unanswered?
```
"""


def test_each_fault_of_a_bad_chapter_is_named_with_its_page(book):
    complaints = book.build(**{"01_bad": BAD_CHAPTER})
    for text, complaint in FAULTS.items():
        lines = [line for line in complaints.splitlines() if complaint in line]
        assert lines, f"{complaint!r} is missing in\n{complaints}"
        assert all("01_bad" in line for line in lines), lines
        if "script" not in text and "cite" not in text:
            near = range(book.line("01_bad", text) - 2, book.line("01_bad", text) + 3)
            assert any(f"chapters/01_bad.md:{n}:" in lines[0] for n in near), (text, lines)
    assert "ZeroDivisionError" in complaints


GOOD_CHAPTER = """# Good

$$
x = 1
$$ (eq-one)

```{prf:theorem} One
:label: thm-one
By {eq}`eq-one`, $x = 1$.
```

```{prf:proof}
Look.

$x = 1$.
```

```{figure} ../autograder/book/static/favicon.svg
:name: fig-one
:alt: Three lines of different width that leave one point

A figure.
```

By {prf:ref}`thm-one` and {numref}`fig-one`.
"""


def test_a_chapter_is_numbered_by_its_file_whatever_stands_before_it(book):
    """07_x is chapter 7 with Theorem 7.1, (7.1) and Figure 7.1, alone or after chapter 2."""
    assert book.build(**{"07_late": GOOD_CHAPTER}) == ""
    alone = numbers(book.html("07_late"))
    assert book.build(**{"02_early": GOOD_CHAPTER.replace("-one", "-two")}) == ""
    assert numbers(book.html("07_late")) == alone == ("7.", "Theorem 7.1", "(7.1)", "Figure 7.1")
    assert numbers(book.html("02_early")) == ("2.", "Theorem 2.1", "(2.1)", "Figure 2.1")


def numbers(html: str) -> tuple[str, ...]:
    """How a page numbers itself, its first theorem, equation and figure."""
    page = BeautifulSoup(html, "html.parser").find("article")
    return (
        page.find("h1").text.split()[0],
        " ".join(page.find(class_="proof").text.split()[:2]),
        page.find(class_="eqno").text.strip("#"),
        " ".join(page.find("figcaption").text.split()[:2]),
    )


PRINTS_AN_IMPORTED_NUMBER = """# Page

```{code-cell} ipython3
import sys
sys.path.insert(0, "../course_lib")
import told
told.number
```
"""


def test_what_a_cell_prints_is_not_kept_when_the_code_it_imports_has_changed(book):
    library = book.root / "course_lib"
    library.mkdir()
    for number in ("4117", "4118"):
        (library / "told.py").write_text(f"number = {number}")
        assert book.build(**{"01_page": PRINTS_AN_IMPORTED_NUMBER}) == ""
        assert number in book.html("01_page")


COUNTS_ITS_RUNS = """# Page

```{code-cell} ipython3
from pathlib import Path
runs = Path("../runs_of_NAME")
_ = runs.write_text(runs.read_text() + "I" if runs.exists() else "I")
```
"""


def test_a_cell_runs_once_until_it_changes(book):
    def runs(name):
        return (book.root / f"runs_of_{name}").read_text()

    pages = {
        f"0{n}_{name}": COUNTS_ITS_RUNS.replace("NAME", name) for n, name in enumerate("ab", 1)
    }
    assert book.build(**pages) == ""
    assert (runs("a"), runs("b")) == ("I", "I")
    pages["01_a"] += "\nMore words.\n"
    pages["02_b"] = pages["02_b"].replace("```\n", "# changed\n```\n")
    assert book.build(**pages) == ""
    assert (runs("a"), runs("b")) == ("I", "II")


def test_a_rebuild_says_again_what_is_wrong_and_the_command_what_to_do(book):
    complaints = book.build(
        **{"01_bad": "# Bad\n\nSee {ref}`no-such-place`.\n", "02_good": "# Good\n"}
    )
    assert complaints == "chapters/01_bad.md:8: WARNING: undefined label: 'no-such-place'"
    done = course_site(book.root)
    assert done.returncode == 1
    assert complaints in done.stdout
    assert "1 complaint, above" in done.stdout
    assert "type the same again" in done.stdout


COURSE_SITE = """
import sys
from pathlib import Path
from autograder.commands import site
from autograder.typeset import katex
site.ROOT = Path(sys.argv[1])
if len(sys.argv) > 2:
    katex.NODE_FOLDER = Path(sys.argv[2])
site.site([])
"""
UNREACHABLE = {"npm_config_registry": "http://127.0.0.1:9/", "npm_config_fetch_retries": "0"}


def course_site(root: Path, *node: Path, **environment: str) -> subprocess.CompletedProcess:
    """`course site`, typed in another folder of a course; KaTeX is looked for in `node`."""
    command = [sys.executable, "-c", COURSE_SITE, *map(str, (root, *node))]
    environment = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_without_katex_the_command_says_what_to_do_and_leaves_the_old_pages(book, tmp_path):
    assert book.build(**{"01_page": "# Page\n\n$x$\n"}) == ""
    before = book.html("01_page")
    book.pages["01_page"] = "# Page\n\n$y$\n"
    book.write()
    done = course_site(
        book.root, tmp_path / "node", **UNREACHABLE, npm_config_cache=str(tmp_path / "cache")
    )
    assert done.returncode == 2
    assert "npm could not fetch KaTeX" in done.stderr
    assert "copy _build/node from a machine where the site was built" in done.stderr
    assert book.html("01_page") == before


FETCH = """
import sys
from pathlib import Path
from autograder.typeset import katex
katex.NODE_FOLDER = Path(sys.argv[1])
print(sorted(p.name for p in katex.katex_files().glob("*.min.css")))
"""


def fetch_katex(folder: Path, **environment: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", FETCH, str(folder)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}
    )


def test_katex_is_fetched_without_a_node_on_the_path(tmp_path):
    done = fetch_katex(tmp_path / "node", PATH="")
    assert done.stdout.strip() == "['katex.min.css']", done.stderr


def test_an_unreachable_registry_is_explained(tmp_path):
    done = fetch_katex(tmp_path / "node", **UNREACHABLE, npm_config_cache=str(tmp_path / "cache"))
    assert done.returncode != 0
    assert "npm could not fetch KaTeX" in done.stderr
    assert "copy _build/node from a machine where the site was built" in done.stderr


def test_npm_records_hashes_and_no_addresses():
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    fetched = [package for name, package in packages.items() if name]
    assert fetched
    assert all(package["integrity"].startswith("sha512-") for package in fetched)
    assert not any("resolved" in package for package in fetched)


LONG = "\n".join(f"x = {n}" for n in range(13))


@pytest.mark.parametrize(
    ("code", "fault"),
    [(LONG, "13 lines of code"), ("from course_lib import softmax", "imports course_lib")],
)
def test_code_for_the_hurried_is_short_and_needs_no_book(book, code, fault):
    page = f"# Page\n\n````{{in-a-hurry}}\n```python\n{code}\n```\n````\n"
    assert fault in book.build(page=page)


def test_the_box_for_the_hurried_is_folded(book):
    page = "# Page\n\n````{in-a-hurry}\n$a$\n\n```python\nprint(1)\n```\n````\n"
    assert book.build(page=page) == ""
    box = BeautifulSoup(book.html("page"), "html.parser").find("details", class_="hurry")
    assert box.find("summary") and "print" in box.text and not box.has_attr("open")
