"""The website: the Sphinx extension of the book, and `course site`, which builds and shows it."""
