"""Pure translation of a Kafka connection into Java and Spark client properties."""
