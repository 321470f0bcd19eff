"""The machine: builds notebooks and pages from exercise folders, proves them, grades with them."""
