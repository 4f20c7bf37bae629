"""The table of Kafka's configuration keys in the package, made from the ConfigDefs in Kafka's jars."""
