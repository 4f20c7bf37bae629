"""Kafka Connect: what its workers answer, and the rules over it."""
