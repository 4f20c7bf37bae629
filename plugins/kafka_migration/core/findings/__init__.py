"""Codes, findings, errors and verdicts."""
