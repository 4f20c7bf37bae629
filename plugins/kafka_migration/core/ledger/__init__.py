"""The append-only record of all runs of a migration, added up."""
