"""Comparing by position."""
