"""The documents that a run leaves, and the check that they are unchanged."""
