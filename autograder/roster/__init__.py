"""Who is in the class and how much time they have: tables, kept in the course folder.

csv_tables   any CSV file that a spreadsheet or a platform saved; BadTable says what is wrong
students     students.csv: read from whatever a platform exports
extensions   extensions.csv: who has how much more time

An instructor may edit both files, and may make them links to a file elsewhere.
"""
