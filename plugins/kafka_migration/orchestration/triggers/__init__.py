"""The triggers of a migration."""
