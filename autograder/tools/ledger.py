"""`course ledger`: does the book say and compute every claim that it must?

A chapter marks what it covers by a comment line, `% claims: C064 C065`, above the cell or the
exercise that computes it. The claims themselves are data, `claims.toml`.
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

from autograder.paths import ROOT

MARK = re.compile(r"^% claims:\s*(.*)$")
COMPUTES = re.compile(r"^`{3,}\{(code-cell|course-exercise)\}")
SECONDS_A_PAGE = 120


@dataclass(frozen=True)
class Claim:
    """A statement that one chapter must make."""

    id: str
    chapter: int
    says: str
    computed: bool = True


@dataclass
class Page:
    """Which claims a chapter marks, and what stands below each mark."""

    path: Path
    covered: dict[str, int] = field(default_factory=dict)
    """Claim and line of its mark."""
    computing: dict[str, int] = field(default_factory=dict)
    """Claim and line of the cell or exercise right below its mark."""
    faults: list[str] = field(default_factory=list)

    @property
    def chapter(self) -> int:
        return int(self.path.name[:2])


def read_claims(path: Path = ROOT / "autograder" / "tools" / "claims.toml") -> dict[str, Claim]:
    return {name: Claim(name, **table) for name, table in tomllib.loads(path.read_text()).items()}


def read_page(path: Path) -> Page:
    """Find the marks; each belongs to the next thing that is neither empty nor a mark."""
    page, lines = Page(path), path.read_text().splitlines()
    for number, line in enumerate(lines, start=1):
        if not (mark := MARK.match(line)):
            continue
        below = number
        while below < len(lines) and (not lines[below].strip() or MARK.match(lines[below])):
            below += 1
        computes = below < len(lines) and COMPUTES.match(lines[below])
        for claim in mark[1].split():
            page.covered.setdefault(claim, number)
            if computes:
                page.computing.setdefault(claim, below + 1)
    return page


def check_page(page: Page, claims: dict[str, Claim]) -> None:
    """Collect what is wrong with the marks of one chapter."""
    here = f"chapters/{page.path.name}"
    for name, line in page.covered.items():
        if name not in claims:
            page.faults.append(
                f"{here}:{line}: there is no claim {name}; see autograder/tools/claims.toml"
            )
    for claim in claims.values():
        if claim.chapter != page.chapter:
            continue
        if claim.id not in page.covered:
            page.faults.append(f"{here}: {claim.id} is missing: {claim.says}")
        elif claim.computed and claim.id not in page.computing:
            line = page.covered[claim.id]
            page.faults.append(f"{here}:{line}: {claim.id} is said but not computed: {claim.says}")


def run_page(page: Page) -> None:
    """Run the page's cells and see that every marked one ran to its end."""
    from myst_nb.core.read import read_myst_markdown_notebook
    from nbclient import NotebookClient

    notebook = read_myst_markdown_notebook(page.path.read_text(), add_source_map=True)
    starts = zip(notebook.metadata.source_map, notebook.cells, strict=True)
    cells = {line: cell for line, cell in starts if cell.cell_type == "code"}
    client = NotebookClient(
        notebook, timeout=SECONDS_A_PAGE, allow_errors=True, kernel_name="python3"
    )
    client.execute(cwd=str(page.path.parent))
    for claim, line in page.computing.items():
        if (cell := cells.get(line)) is None:
            continue  # an exercise; `course exercises` proves those
        errors = [output for output in cell.outputs if output.output_type == "error"]
        if cell.execution_count is None or errors:
            reason = errors[0].ename if errors else "it was not executed"
            here = f"chapters/{page.path.name}:{line}"
            page.faults.append(f"{here}: the computation of {claim} does not run: {reason}")


def table_of(claims: dict[str, Claim], pages: list[Page]) -> Table:
    by_chapter = {page.chapter: page for page in pages}
    table = Table("chapter", "claims", "covered", "computed", "to compute", "", box=None)
    for chapter in sorted({claim.chapter for claim in claims.values()}):
        own = [claim for claim in claims.values() if claim.chapter == chapter]
        page = by_chapter.get(chapter)
        table.add_row(
            str(chapter),
            str(len(own)),
            str(sum(claim.id in page.covered for claim in own)) if page else "-",
            str(sum(claim.id in page.computing for claim in own)) if page else "-",
            str(sum(claim.computed for claim in own)),
            ("whole" if not page.faults else f"faults: {len(page.faults)}")
            if page
            else "not written yet",
        )
    return table
