"""Kafka clusters, through confluent-kafka."""
