"""The end of a run: what it freed, how it ended, and what is said about it."""
