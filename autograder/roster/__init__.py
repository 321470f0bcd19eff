"""Who is in the class and how much time they have: tables, kept in the course folder."""
