"""The migration file that `kafka-migration import` proposes."""
