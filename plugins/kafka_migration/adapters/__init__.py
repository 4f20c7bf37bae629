"""I/O: Kafka, the MirrorMaker host, the evidence store."""
