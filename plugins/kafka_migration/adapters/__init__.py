"""I/O with Kafka, the MirrorMaker host and the evidence store."""
