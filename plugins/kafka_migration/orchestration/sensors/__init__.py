"""The sensors of a migration."""
