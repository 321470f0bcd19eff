"""The website: a Sphinx extension, and the build that `course site` starts.

Who calls whom: commands/site.py -> build.Site -> Sphinx, which finds `autograder.book.extension`
in _config.yml and calls its `setup` and that of each module below. Nothing but build, serve,
runtime and pretrained may be imported by who does not build: the others import Sphinx.

build           Site: built if not current, its complaints, its lock; jupyter-book's configuration
extension       puts the parts together; small rules for whole pages; refuses bad pages at the end
build_state     what the parts keep from one Sphinx event to the next
build_cache     results kept by what they were made from
pretrained      published models for the cells: fetched once, refused by digest, kept as bytes

while pages are read
  execution       cells run side by side, their outputs into the cache of myst-nb
  boxes           exercises, goals, questions, proofs, the teaching plan: directives
  proof_blocks    the lines of a proof to be put in order
  figures         figures that move: drawn once by node, woken in the page by static/figures/
  index_pages     pages of all exercises, of all numbered statements, of how to cite
  numbering       chapter 3 is 03_...: numbers by file name
  markup          raw HTML, and the scripts that a page loads because of it

while pages are written
  formulas        set by KaTeX (typeset.katex) as HTML
  glossary_links  a word of the glossary, linked where a chapter first uses it
  searching       what the search page can find by name
  theme           one style sheet, one script, tables that scroll, pictures with sizes

when all is written
  bundles         zips of the exercises, beside the pages
  try_it          what cells need in the page: Python, the checks of a chapter
  runtime         Pyodide and its NumPy: fetched once, refused by digest
  pyodide_packing compiled for the Python in the page, and packed
  page_checks     what no page may have

serve           pages on this machine, as a host would send them
static/, styles/, theme/   what the browser gets
"""
