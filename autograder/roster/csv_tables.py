"""Read a table as spreadsheets and learning platforms save it, whatever they make of "CSV"."""

import codecs
import csv
import io
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.files import write_atomically

SEPARATORS = ",;\t|"
A_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r]")
"""With what a cell begins that a spreadsheet reads as one."""
A_NUMBER = re.compile(r"-?\d+(\.\d+)?")
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class BadTable(CourseError):
    """This is no table that can be used: what it is, and what to do."""


@dataclass(frozen=True)
class Row:
    """One line below the header."""

    number: int
    """Its line in the file."""
    cells: dict[str, str]


@dataclass(frozen=True)
class Sheet:
    """A table with a header, as text."""

    header: list[str]
    rows: list[Row]
    notes: list[str]
    """What was met on the way and put right."""


def read_sheet(path: Path) -> Sheet:
    """Any of the usual encodings and separators; empty lines are no rows.

    Raises BadTable for what is no table, and OSError.
    """
    data = path.read_bytes()
    if data.startswith(b"PK"):
        raise BadTable(
            f"{path} is a spreadsheet or a zip, not a CSV file. Save it as CSV, and give that."
        )
    notes: list[str] = []
    text = _decode(data, notes)
    first, _, rest = text.partition("\n")
    separator = None
    if first.strip().lower().startswith("sep=") and len(first.strip()) == 5:
        separator, text = first.strip()[4], rest  # what Excel writes for itself
    separator = separator or max(SEPARATORS, key=text.partition("\n")[0].count)
    if separator != ",":
        notes.append(f"the columns are separated by {_name(separator)}")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        lines = [(reader.line_num, list(map(_as_it_was, line))) for line in reader]
    except csv.Error as error:
        raise BadTable(f"{path} is no CSV file: {error}") from error
    lines = [(number, line) for number, line in lines if any(line)]
    if not lines:
        raise BadTable(f"{path} is empty.")
    header = lines[0][1]
    rows = []
    for number, line in lines[1:]:
        if len(line) > len(header):
            notes.append(f"line {number} has more columns than the first line; the rest is ignored")
        cells = line + [""] * (len(header) - len(line))
        rows.append(Row(number, dict(zip(header, cells, strict=False))))
    return Sheet(header, rows, notes)


def _decode(data: bytes, notes: list[str]) -> str:
    if data.startswith(UTF_16):
        notes.append("it is written in UTF-16")
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        notes.append("it is not UTF-8 and was read as Windows-1252: look at the accents")
        return data.decode("cp1252", errors="replace")


def _no_formula(cell: str) -> str:
    return "'" + cell if A_FORMULA.match(cell) and not A_NUMBER.fullmatch(cell) else cell


def _as_it_was(cell: str) -> str:
    cell = cell.strip()
    return cell[1:].strip() if cell.startswith("'") and A_FORMULA.match(cell[1:]) else cell


def _name(separator: str) -> str:
    return {";": "semicolons", "\t": "tabs", "|": "bars"}.get(separator, repr(separator))


def plain(text: str) -> str:
    """Letters and digits only, without accents or case: what two spellings have in common."""
    apart = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss"))
    return "".join(letter for letter in apart if letter.isalnum())


def write_sheet(path: Path, lines: list[list[str]], bom: bool = False, exact: bool = False) -> None:
    """UTF-8 with commas; the mark at the beginning is for Excel, which else spoils accents.

    A cell that a spreadsheet would take for a formula gets an apostrophe, which `read_sheet` takes
    away; not where the table is `exact`, for a platform that goes by the names in it. Where the
    path is a link, the file that it leads to gets the table. Raises OSError.
    """
    text = io.StringIO(newline="")
    rows = lines if exact else [list(map(_no_formula, line)) for line in lines]
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    target = path.resolve() if path.is_file() else path
    write_atomically(target, text.getvalue().encode("utf-8-sig" if bom else "utf-8"))
