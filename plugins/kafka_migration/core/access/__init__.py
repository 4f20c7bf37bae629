"""The rights that a migration needs on its clusters."""
