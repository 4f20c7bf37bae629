"""A Kafka Connect cluster, by its REST interface."""
