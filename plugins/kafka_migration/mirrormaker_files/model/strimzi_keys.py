"""What Strimzi's operator makes of the fields of its resources, and which keys of `config` it does not take."""

from __future__ import annotations

# The fields of a mirror that have a connector, with its role.
CONNECTOR_FIELDS = {
    "sourceConnector": "mirror_source",
    "checkpointConnector": "mirror_checkpoint",
    "heartbeatConnector": "mirror_heartbeat",
}
# Fields of a mirror, and the keys that the operator writes from each over `config` of the connectors.
PATTERN_FIELDS = {
    "topicsPattern": ("topics",),
    "topicsExcludePattern": ("topics.exclude",),
    "topicsBlacklistPattern": ("topics.blacklist", "topics.exclude"),
    "groupsPattern": ("groups",),
    "groupsExcludePattern": ("groups.exclude",),
    "groupsBlacklistPattern": ("groups.blacklist", "groups.exclude"),
}
# Fields of KafkaConnect, and of the target cluster, from API version v1 on; before, the keys are in `config`.
WORKER_FIELDS = {
    "groupId": "group.id",
    "configStorageTopic": "config.storage.topic",
    "offsetStorageTopic": "offset.storage.topic",
    "statusStorageTopic": "status.storage.topic",
}
# Types of `authentication` that log in with SASL.
STRIMZI_MECHANISMS = {
    "plain": "PLAIN",
    "scram-sha-512": "SCRAM-SHA-512",
    "scram-sha-256": "SCRAM-SHA-256",
    "oauth": "OAUTHBEARER",
}
# Beginnings of keys that the operator leaves out (`FORBIDDEN_PREFIXES` of its classes), with what counts instead: for
# all resources, and for workers (also those of `KafkaMirrorMaker2ClusterSpec`).
SECURITY_PREFIXES = {"ssl.": "`tls`", "sasl.": "`authentication`", "security.": "`tls` and `authentication`"}
WORKER_PREFIXES = {
    **SECURITY_PREFIXES,
    "listeners": "",
    "plugin.path": "",
    "rest.": "",
    "bootstrap.servers": "`bootstrapServers`",
    "consumer.interceptor.classes": "`tracing`",
    "producer.interceptor.classes": "`tracing`",
}
# What begins like this and is taken.
ALLOWED_KEYS = frozenset(
    {"ssl.endpoint.identification.algorithm", "ssl.cipher.suites", "ssl.protocol", "ssl.enabled.protocols"}
)
# Keys of connectors that the operator leaves out (`AbstractConnectorSpec.FORBIDDEN_PARAMETERS`), and what counts.
CONNECTOR_KEYS = {"name": "", "connector.class": "", "tasks.max": "`tasksMax`", "connector.plugin.version": "`version`"}
