"""Answering for the interval of a run."""
