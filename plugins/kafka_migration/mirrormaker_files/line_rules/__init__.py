"""Rules about one line: its key, its value and its place."""
