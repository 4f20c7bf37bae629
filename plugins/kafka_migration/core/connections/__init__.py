"""What an Airflow connection to Kafka may hold, and what it becomes for Java clients."""
