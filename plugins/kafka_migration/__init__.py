"""Moves Kafka topics and consumers from one cluster to another with an intermittent MirrorMaker."""

__version__ = "0.1.0"
