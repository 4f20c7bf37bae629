"""What each reader of a configuration gets, as Kafka hands keys on."""
