"""A chapter as a notebook: plain Markdown, the numbers of the page, code that runs."""

import re
import zipfile

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.book.take_along import NAME, plain_markdown
from tests.book.built_pages import CHAPTERS

PAGE = """\
% claims: C001
(a-target)=
See {prf:ref}`the theorem <thm-a>`, {eq}`eq-a` and {doc}`page 0 <00_start>`: {glue:text}`share:.1f`.

````{prf:theorem} All of it
:label: thm-a

$$
x = 1
$$ (eq-a)

```{course-question} Predict
Which?

---
This.
```
````
"""


PLAIN = "See the theorem, (eq-a) and page 0: 99.9.", "**Theorem: All of it**"


def test_markup_of_the_pages_becomes_plain_markdown():
    text = plain_markdown(PAGE, {"share": 99.94})
    assert text.splitlines()[0] == PLAIN[0]
    assert PLAIN[1] in text.splitlines()
    assert "x = 1 \\tag{eq-a}\n$$" in text
    assert "<summary>Answer</summary>\n\nThis." in text
    assert not re.search(r"[`:]{3,}\{|^:label", text, re.MULTILINE)


@pytest.fixture(scope="module")
def folder(site, tmp_path_factory):
    target = tmp_path_factory.mktemp("taken")
    with zipfile.ZipFile(site.folder / "notebooks" / f"{NAME}.zip") as archive:
        archive.extractall(target)
    return target / NAME


@pytest.mark.browser  # it needs the whole book
@pytest.mark.slow
@pytest.mark.parametrize("chapter", [name for name in CHAPTERS if re.search(r"/\d", name)])
def test_every_notebook_runs_from_top_to_bottom(chapter, folder, site):
    stem = chapter.rpartition("/")[2]
    page = (site.folder / f"{chapter}.html").read_text()
    assert f"notebooks/{stem}.ipynb" in page
    notebook = nbformat.read(folder / f"{stem}.ipynb", as_version=4)
    where = nbformat.v4.new_code_cell("import course_lib\ncourse_lib.__file__")
    notebook.cells.append(where)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    assert str(folder) in where.outputs[0]["data"]["text/plain"]
