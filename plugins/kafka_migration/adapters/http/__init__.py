"""Services over HTTP: Airflow, cluster managers and schema registries."""
