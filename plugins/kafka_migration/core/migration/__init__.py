"""The settings of the migration file and of a run."""
