"""Asking the Spark job and judging its answer."""
