"""The checks that ask the MirrorMaker host."""
