"""Watching a copy: lag, drain, fence, progress and when MirrorMaker may be stopped."""
