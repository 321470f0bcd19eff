"""A made-up class and hostile submissions, for `course demo` and the tests."""
