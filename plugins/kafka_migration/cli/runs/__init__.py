"""The verbs about the runs of a migration."""
