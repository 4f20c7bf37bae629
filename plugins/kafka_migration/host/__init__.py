"""What runs on the MirrorMaker host."""
