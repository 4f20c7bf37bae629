"""The way back after a cutover, and giving up the old cluster."""
