"""Rules of MirrorMaker's connectors on a Kafka Connect cluster."""
