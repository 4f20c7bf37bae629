"""Comparing by key."""
