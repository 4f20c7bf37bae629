"""MirrorMaker: its engine and host, watching it, and when it may be stopped."""
