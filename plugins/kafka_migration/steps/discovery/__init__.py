"""The use case of `kafka-migration discover`."""
