"""The script that runs on the MirrorMaker host."""
