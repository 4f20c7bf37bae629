"""Readers of each kind of MirrorMaker file."""
