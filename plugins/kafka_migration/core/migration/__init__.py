"""What the migration file says, and what a run was asked for."""
