"""The digests of Kafka topics, and the job that compares two clusters by them.

By position (`digest`, `blocks`, `position_job`, `drill`, `classify`): all work per record is Spark SQL in the JVM. By
key (`key_digest`, `key_tasks`, `key_frames`, `units`, `key_job`, `key_drill`, `align_tasks`, `alignment`): the JVM
hashes the records, and Python aggregates the hashes inside each task. These modules do not need Spark: `alignment`,
`align_tasks`, `arrow_columns`, `blocks`, `classify`, `key_digest`, `key_tasks` and `windows`.
"""
