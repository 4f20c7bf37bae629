"""Where on the target a source offset lies, by partition and by topic."""
