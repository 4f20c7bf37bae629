"""Properties, YAML, and the files of MirrorMaker and Kafka Connect."""
