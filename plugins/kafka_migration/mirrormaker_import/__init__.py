"""A migration file and connections made from the files of a running MirrorMaker."""
