"""What Sphinx's search can name besides pages: statements, exercises, equations, symbols, words.

They are objects of a domain, which Sphinx writes into the index that the search page loads;
static/search.js puts the results in order.
"""

import re
import unicodedata
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains import Domain, ObjType
from sphinx.environment import BuildEnvironment

COUNTERS = {"statement": "theorem", "equation": "displaymath"}
SIGNS = {
    "lVert": "‖",
    "rVert": "‖",
    "lvert": "|",
    "rvert": "|",
    "cdot": "·",
    "sqrt": "√",
    "ell": "ℓ",
}
GREEK = "GREEK {} LETTER {}"


class Places(Domain):
    name = "place"
    label = "Places that search finds"
    object_types = {
        "statement": ObjType("statement"),
        "exercise": ObjType("exercise"),
        "equation": ObjType("equation"),
        "symbol": ObjType("symbol"),
        "word": ObjType("word"),
    }
    initial_data = {"places": {}}

    def get_type_name(self, type: ObjType, primary: bool = False) -> str:
        return type.lname

    def clear_doc(self, docname: str) -> None:
        self.data["places"].pop(docname, None)

    def process_doc(self, env: BuildEnvironment, docname: str, document: nodes.document) -> None:
        self.data["places"][docname] = [*_places(document)]

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        for docname, places in self.data["places"].items():
            for kind, anchor, name in places:
                if kind in COUNTERS:
                    parts = self.env.toc_fignumbers[docname][COUNTERS[kind]][anchor]
                    name = name.format(".".join(map(str, parts)))
                yield name, name, kind, docname, anchor, 0
        for name, _, kind, docname, anchor, _ in self.env.get_domain("std").get_objects():
            if kind == "term":
                yield name, name, "word", docname, anchor, 0


def _places(document: nodes.document) -> Iterator[tuple[str, str, str]]:
    """Kind, anchor and name; {} in a name is where its number goes."""
    for node in document.findall(nodes.Element):
        if "countertype" in node and node["ids"]:
            title = in_letters(node[0]).strip().removeprefix("(").removesuffix(")")
            yield "statement", node["ids"][0], f"{node['realtype'].title()} {{}} {title}"
        elif isinstance(node, nodes.admonition) and "exercise" in node["classes"]:
            yield "exercise", node["ids"][0], in_letters(node[0]).replace("· ", "")
        elif isinstance(node, nodes.math_block) and node.get("label"):
            label = node["label"].removeprefix("eq-").replace("-", " ")
            yield "equation", node["ids"][0], f"Equation {{}} {label}"
        elif isinstance(node, nodes.table):
            yield from _symbols(node)


def _symbols(table: nodes.table) -> Iterator[tuple[str, str, str]]:
    heading, *rows = table.findall(nodes.row)
    if heading[0].astext() != "symbol":
        return
    for row in rows:
        signs, meaning = in_letters(row[0]), in_letters(row[1])
        row["ids"] = [nodes.make_id(f"symbol {signs} {meaning}")]
        yield "symbol", row["ids"][0], f"{signs}: {meaning}"


def in_letters(node: nodes.Element) -> str:
    """The text of a node, its formulas as one would type them: d_model, W_K^T, α (alpha)."""
    texts = (
        _typed(text) if isinstance(text.parent, nodes.math) else str(text)
        for text in node.findall(nodes.Text)
    )
    return " ".join("".join(texts).split())


def _typed(tex: str) -> str:
    plain = re.sub(r"\\(?:operatorname|text|mathsf|mathrm|mathbb)\b", "", tex)
    plain = re.sub(r"\s+(?=\\r[vV]ert)", "", plain)
    plain = re.sub(r"\\([A-Za-z]+)\s*", lambda command: _sign(command[1]), plain)
    return re.sub(r"\s*\^\s*", "^", re.sub(r"[{}\\]", "", plain)).strip()


def _sign(name: str) -> str:
    case = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        letter = unicodedata.lookup(GREEK.format(case, name.removeprefix("var").upper()))
    except KeyError:
        return SIGNS.get(name, f"{name} ")
    return f"{letter} ({name.removeprefix('var')})"


def setup(app: Sphinx) -> None:
    app.add_domain(Places)
