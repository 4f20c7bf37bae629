"""The rules of `kafka-migration lint`."""
