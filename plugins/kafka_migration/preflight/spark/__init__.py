"""The checks that ask Spark."""
