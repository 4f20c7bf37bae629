"""Translating committed offsets."""
