"""Spark: its address, its versions and how it protects logins."""
