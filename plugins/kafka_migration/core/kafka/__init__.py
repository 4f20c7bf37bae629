"""What Kafka is asked, in its own words: offsets, topics, consumer groups, lag."""
