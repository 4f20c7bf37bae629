"""Reading ranges of two clusters."""
