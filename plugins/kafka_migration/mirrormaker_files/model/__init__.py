"""What the readers and the rules share: settings, Kafka's keys, limits, findings."""
