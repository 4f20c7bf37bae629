"""The MirrorMaker files that users already have: reading, linting, and importing."""
