"""The pages in Airflow's UI: all migrations, one migration, one run."""
