"""Airflow: operators, sensor, trigger and the DAG factory."""
