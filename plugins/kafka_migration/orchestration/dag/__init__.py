"""How a migration file becomes DAGs."""
