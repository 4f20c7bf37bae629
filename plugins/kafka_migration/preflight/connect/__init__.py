"""The checks that ask a Kafka Connect cluster."""
