"""Reading and checking migration files."""
