"""Use cases: gather, call the rules of core, record. No module of this ring imports Airflow."""
