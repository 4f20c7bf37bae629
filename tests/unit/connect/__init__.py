"""Rules of MirrorMaker on a Kafka Connect cluster."""
