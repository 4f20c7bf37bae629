"""What the package reaches through Airflow: connections, configuration, variables, metrics, SSH, Spark."""
