"""The allowed settings of an Airflow connection to Kafka, and their translation for Java clients."""
