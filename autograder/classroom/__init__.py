"""Run a class: the list of students, what they hand in, extensions, and the marks that go out."""
