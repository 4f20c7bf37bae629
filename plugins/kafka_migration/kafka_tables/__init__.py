"""Which settings Kafka and Strimzi know, as tables that programs made from their releases."""
