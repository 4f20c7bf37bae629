"""The topics of the target: how they are planned, created and compared."""
