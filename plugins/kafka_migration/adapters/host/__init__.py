"""The MirrorMaker host, through `mirrorctl`."""
