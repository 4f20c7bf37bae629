"""What the MirrorMaker host and Kafka's own tools on it answered, and the rules about it."""
