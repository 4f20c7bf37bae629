"""The digests of Kafka topics, and the job that compares two clusters by them.

By position (`position`): all work per record is Spark SQL in the JVM. By key (`keys`): the JVM hashes the records, and
Python aggregates the hashes inside each task.
"""
