"""MirrorMaker engines: text and bytes in, text and values out."""
