"""The digest of a Kafka partition in log order, and the job that compares two clusters by it.

Everything per record runs as Spark SQL inside the JVM; Python sees block rows and, where a partition
differs, a few hundred record hashes. Modules without Spark: `blocks`, `classify`, `windows`.
"""
