"""The codes of preflight that a migration file may accept (`accept`), with what their acceptance means.

A code is acceptable only if a person can know more than the check does, and if no record can be lost, doubled or
skipped unseen: later steps still find what goes wrong. The exception is a network that a person has to judge.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_migration.core.findings.codes import Code

ACCEPTABLE: Mapping[Code, str] = {
    Code.CERTIFICATE_ENDS_SOON: "You renew the certificate in time.",
    Code.CERTIFICATE_ENDS_IN_RUN: "The run ends before the certificate does, or its login may fail during the run.",
    Code.TOPIC_NOT_CREATED: "The target creates the topic when the run asks. Otherwise `create_topics` is refused.",
    Code.TOPICS_AUTO_CREATED: "No client asks for a topic before it is copied.",
    Code.TOPIC_CONFIG_DIFFERS: "The topics on the target have their settings on purpose.",
    Code.REPLICATION_BELOW_MIN_INSYNC: "You change the topic before MirrorMaker writes to it. Otherwise it stalls.",
    Code.RECORD_LIMIT_LOWER: "No record is larger than the target's limit. Otherwise MirrorMaker stops.",
    Code.TARGET_RETENTION_SHORTER: "The target may delete copied records. Validation names them as not verifiable.",
    Code.KEYS_PARTITIONED_OTHERWISE: "The order of a key across the cutover does not matter.",
    Code.BROKERS_TOO_OLD: "The brokers run Kafka 2.1 or newer with an older `inter.broker.protocol.version`.",
    Code.REPLICATION_AT_MIN_INSYNC: "A run may wait for a broker that is down.",
    Code.TOPICS_REMOVED: "The copies of the removed topics may stay as they are, and no group moves to them.",
    Code.TARGET_COMPACTS: "The target may delete records whose key has a newer record.",
    Code.TIMESTAMPS_LIMITED: "No record is older than the limit. Otherwise MirrorMaker stops.",
    Code.HOST_FILE_LIMIT: "MirrorMaker opens fewer files than the rule expects. Otherwise it stops.",
    Code.CLOCKS_DIFFER: "The logins work with these clocks, and you know which times are wrong.",
    Code.TARGET_SPACE_TOO_SMALL: "The copy will be smaller, or the target gets disks in time. Otherwise brokers stop.",
    Code.QUOTA_SLOWS_MIRROR: "The run has time for this rate.",
    Code.SOURCE_TRANSACTION_OPEN: "You know the transaction. A run does not copy what follows it, and still says so.",
    Code.SPARK_CIPHER_WEAK: "No one can change the traffic of the network between Spark's machines.",
    Code.FACT_UNKNOWN: "You know the fact that the check could not read.",
}
