"""The checks that ask only the migration file, Airflow and the evidence."""
