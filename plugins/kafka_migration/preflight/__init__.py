"""One check per file, run in one fixed order, all refusals reported together."""
