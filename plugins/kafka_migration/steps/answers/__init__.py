"""What the verbs and the page answer about migrations and runs, as values."""
