"""What students are given: notebook, bundle and wheel, made from the exercises."""
