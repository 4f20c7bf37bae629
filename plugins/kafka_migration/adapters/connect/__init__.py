"""A Kafka Connect cluster, over the REST interface of its workers."""
