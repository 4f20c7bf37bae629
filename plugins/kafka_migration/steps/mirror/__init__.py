"""Starting, watching and stopping MirrorMaker."""
