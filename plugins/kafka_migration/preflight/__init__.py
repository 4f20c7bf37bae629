"""The preflight checks: one per file, in a fixed order, with all refusals reported together."""
