"""The operators of a migration; each is usable on its own in any DAG."""
