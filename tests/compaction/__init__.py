"""Kafka's log cleaner in plain Python, and histories of copies under it, for the verdicts on compacted topics."""
