"""The report of a run in each format."""
