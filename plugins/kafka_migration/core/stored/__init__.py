"""The documents that the tasks of a run store, and the table of their kinds."""
