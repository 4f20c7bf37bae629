"""Values of Kafka: offsets, topics, consumer groups, lag."""
