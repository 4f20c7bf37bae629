"""Real local parts: two Kafka clusters, an SSH host for MirrorMaker and Airflow, started and stopped as one."""
