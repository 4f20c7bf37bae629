"""Reads clusters and documents; a value that is missing is never taken for zero."""
