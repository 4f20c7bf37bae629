"""Planning a rollback, and giving up the old cluster."""
