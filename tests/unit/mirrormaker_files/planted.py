"""Files with planted mistakes: name, text, and each mistake as `line CODE`, or as `file CODE`."""

from __future__ import annotations

from textwrap import dedent

HEAD = """\
clusters = old, new
old.bootstrap.servers = old-1:9092, old-2:9092
new.bootstrap.servers = new-1:9092
old->new.enabled = true
old->new.topics = orders, payments[.]eu
"""
ADDRESS = "bootstrap.servers=old-1:9092\n"
CONSUMER = f"{ADDRESS}group.id=mirror\nauto.offset.reset=earliest\n"
PRODUCER = "bootstrap.servers=new-1:9092\nlinger.ms=5\n"
START = "bin/kafka-mirror-maker.sh --consumer.config c.properties --producer.config p.properties"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
CONVERTERS = f""""key.converter": "{BYTES}", "value.converter": "{BYTES}", "header.converter": "{BYTES}","""


def _connector(more: str, converters: str = CONVERTERS) -> str:
    return dedent(f"""\
        {{"name": "copy", "config": {{
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "old", "target.cluster.alias": "new",
        "source.cluster.bootstrap.servers": "old-1:9092", "target.cluster.bootstrap.servers": "new-1:9092",
        {converters}
        {more}
        "topics": "orders"}}}}
        """)


def _resource(more: str, config: str = "sync.topic.acls.enabled: false") -> str:
    return dedent(f"""\
        apiVersion: kafka.strimzi.io/v1beta2
        kind: KafkaMirrorMaker2
        metadata: {{name: copy}}
        spec:
          version: 3.9.0
          connectCluster: new
          clusters:
            - {{alias: old, bootstrapServers: "old-1:9092"}}
            - {{alias: new, bootstrapServers: "new-1:9092"}}
          mirrors:
            - sourceCluster: old
              targetCluster: new
              topicsPattern: orders
              sourceConnector:
                config:
                  {config}
              {more}
        """)


PLANTED = {
    "misspelled.properties": (
        f"{HEAD}task.max = 4\nReplication.factor = 3\nold->new.emit.heartbeat.enabled = false\n",
        ["6 KEY_MISSPELLED", "7 KEY_MISSPELLED", "8 KEY_MISSPELLED"],
    ),
    "guide-keys.properties": (
        f"{HEAD}readahead.queue.capacity = 100\ncheckpoints.topic.retention.ms = 100000\n"
        "sync.group.offsets.interval.ms = 5000\nrefresh.groups.interval.ms = 5000\nemit.heartbeats = false\n",
        [f"{line} KEY_NEVER_EXISTED" for line in range(6, 11)],
    ),
    "enable.properties": (
        HEAD.replace("enabled", "enable"),
        ["4 KEY_NEVER_EXISTED"],
    ),
    "plugin-key.properties": (f"{HEAD}com.acme.audit.folder = /tmp/audit\n", ["6 KEY_UNKNOWN"]),
    "misplaced.properties": (
        f"{HEAD}producer.acks = all\nconsumer.max.poll.records = 100\noffset.flush.interval.ms = 5000\n"
        "new.topics = orders\nlinger.ms = 5\nold->new.offset.flush.timeout.ms = 9000\n",
        [*(f"{line} KEY_MISPLACED" for line in (6, 7, 8, 9, 11)), "10 KEY_WITHOUT_EFFECT"],
    ),
    "blacklists.properties": (
        f"{HEAD}topics.blacklist = tmp[.].*\ntopics.exclude = tmp[.].*\ngroups.blacklist = console-.*\n",
        ["6 KEYS_OVERLAP", "8 KEY_REMOVED"],
    ),
    "repeated.properties": (
        f"{HEAD}tasks.max = 2\n# later\ntasks.max = 8\n",
        ["6 KEY_REPEATED"],
    ),
    "flow-producer.properties": (f"{HEAD}old->new.producer.compression.type = lz4\n", ["6 CLIENT_LIMITED"]),
    "aliases.properties": (
        f"{HEAD}us-west->new.topics = audit\nolf.consumer.max.poll.records = 5\nneu.security.protocol = SSL\n",
        ["6 ALIAS_UNKNOWN", "7 ALIAS_UNKNOWN", "8 ALIAS_UNKNOWN"],
    ),
    "one-cluster.properties": (
        "clusters = old\nold.bootstrap.servers = old-1:9092\n",
        ["1 CLUSTERS_MISSING"],
    ),
    "no-address.properties": (
        "clusters = old, new\nold.bootstrap.servers = old-1:9092\nold->new.enabled = true\n",
        ["1 BOOTSTRAP_MISSING"],
    ),
    "comments.properties": (
        f"{HEAD}tasks.max = 4 # four\nold->new.groups = shop # and others\n",
        ["6 VALUE_COMMENT", "7 VALUE_COMMENT"],
    ),
    "quotes.properties": (
        f"{HEAD}topics.exclude = \"*.internal,__.*\"\nold->new.groups = 'shop'\n",
        ["6 VALUE_QUOTED", "7 VALUE_QUOTED"],
    ),
    "blanks.properties": (
        HEAD.replace("enabled = true", "enabled = true ") + "tasks.max = 4  \nemit.heartbeats.enabled = false \n"
        "replication.policy.separator = _ \n",
        ["4 VALUE_BLANK_KEPT", "8 VALUE_BLANK_KEPT"],
    ),
    "backslashes.properties": (
        HEAD.replace("payments[.]eu", "payments\\.eu")
        + "topics.exclude = .*\\\\.replica, [\\-\\.]tmp\nnew.ssl.truststore.location = C:\\kafka\\ssl\n",
        ["5 VALUE_BACKSLASH", "7 BACKSLASH_LOST", "7 LOGIN_NOT_USED"],
    ),
    "types.properties": (
        f"{HEAD}tasks.max = four\nsync.topic.acls.enabled = no\noffset.lag.max = 1e3\nnew.producer.linger.ms = 5ms\n",
        [f"{line} VALUE_TYPE" for line in range(6, 10)],
    ),
    "units.properties": (
        f"{HEAD}refresh.topics.interval.seconds = 60000\nemit.checkpoints.interval.seconds = 100000\n"
        "new.offset.flush.interval.ms = 5\n",
        [f"{line} INTERVAL_UNIT" for line in range(6, 9)],
    ),
    "classes.properties": (
        f"{HEAD}replication.policy.class = org.apache.kafka.connect.mirror.LegacyReplicationPolicy\n"
        "topic.filter.class = DefaultTopicFilter\n",
        ["6 CLASS_UNKNOWN", "7 CLASS_UNKNOWN"],
    ),
    "replicas.properties": (
        f"{HEAD}replication.factor = 1\nnew.config.storage.replication.factor = 1\n",
        ["6 REPLICATION_ONE"],
    ),
    "min-insync.properties": (
        f"{HEAD}replication.factor = 1\nnew.offset.storage.replication.factor = 1\n"
        "new.offset.storage.min.insync.replicas = 2\nold.status.storage.min.insync.replicas = 1\n",
        ["6 REPLICATION_ONE", "8 REPLICATION_BELOW_MIN_INSYNC"],
    ),
    "secrets.properties": (
        f"{HEAD}old.security.protocol = SASL_PLAINTEXT\nold.sasl.mechanism = PLAIN\n"
        "old.sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="u" password="planted-secret";\nnew.ssl.truststore.password = planted-secret\n'
        "new.ssl.endpoint.identification.algorithm =\n",
        ["6 LOGIN_UNENCRYPTED", "8 SECRET_IN_FILE", "9 SECRET_IN_FILE", "10 HOST_NAME_CHECK_OFF"],
    ),
    "loop.properties": (
        f"{HEAD}new->old.enabled = true\nnew->old.topics = orders\n"
        "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n",
        ["4 LOOP"],
    ),
    "same-cluster.properties": (HEAD.replace("new-1", "old-2"), ["3 LOOP"]),
    "patterns.properties": (
        f"{HEAD}old->new.groups = shop*, *-web, a{{1,3}}\n",
        ["6 PATTERN_GLOB", "6 PATTERN_INVALID", "6 PATTERN_SPLIT"],
    ),
    "globs.properties": (
        f"{HEAD}old->new.groups = shop*, [a-z*]+-\\\\d*\ntopics.exclude = *-web\n",
        ["6 PATTERN_GLOB", "7 PATTERN_INVALID"],
    ),
    "refused.properties": (
        f"{HEAD}replication.factor = 0\nold.sasl.mechanism = SCRAM-SHA-521\n"
        "old.consumer.max.poll.records = 3000000000\nnew.sasl.mechanism = OTP\n",
        [
            "6 VALUE_REFUSED",
            "7 LOGIN_NOT_USED",
            "7 VALUE_REFUSED",
            "8 VALUE_TYPE",
            "9 LOGIN_NOT_USED",
            "9 MECHANISM_UNKNOWN",
        ],
    ),
    "addresses.properties": (
        "clusters = old, new, far\nold.bootstrap.servers = old-1:99999\nnew.bootstrap.servers = <new>:9092\n"
        "far.bootstrap.servers = http://far-1:9092\nold->new.enabled = true\n",
        ["2 ADDRESS_REFUSED", "3 ADDRESS_PLACEHOLDER", "4 ADDRESS_SCHEME"],
    ),
    "references.properties": (
        f"{HEAD}new.ssl.truststore.password = abc${{file:/etc/kafka/secrets:key}}\nold->new.groups = ${{GROUPS}}\n",
        ["6 PROVIDER_MISSING", "6 SECRET_IN_FILE", "7 VARIABLE_NOT_REPLACED"],
    ),
    "template.properties": (f"{HEAD}tasks.max = ${{TASKS:-1}}\n", ["6 TEMPLATE"]),
    "references.json": (
        _connector('"source.cluster.ssl.truststore.password": "${vault:kafka:key}",'),
        ["6 PROVIDER_OF_WORKER"],
    ),
    "policy.properties": (f"{HEAD}replication.policy.class = com.acme.KeepNames\n", ["6 CLASS_OF_PLUGIN"]),
    "group-sync.properties": (
        f"{HEAD}sync.group.offsets.enabled = true\nemit.checkpoints.enabled = false\n",
        ["7 GROUP_SYNC_WITHOUT_CHECKPOINTS"],
    ),
    "exactly-once.properties": (
        f"{HEAD}new.exactly.once.source.support = enabled\n",
        ["6 EXACTLY_ONCE_INCOMPLETE"],
    ),
    "clients.properties": (
        f"{HEAD}new.producer.acks = 1\nnew.producer.retries = 0\n"
        "new.producer.max.in.flight.requests.per.connection = 5\nold.consumer.auto.offset.reset = latest\n",
        ["6 ACKS_TOO_LOW", "7 RETRIES_OFF", "8 ORDER_NOT_KEPT", "9 RESET_TO_LATEST"],
    ),
    "converter.properties": (
        f"{HEAD}value.converter = org.apache.kafka.connect.json.JsonConverter\n",
        ["6 CONVERTER_CHANGES_BYTES"],
    ),
    "connector.json": (
        _connector('"sync.topic.acl.enabled": "false", "tasks.max": "many",', '"key.converter": "ByteArrayConverter",'),
        ["2 CONVERTER_NOT_NAMED", "6 KEY_MISSPELLED", "6 VALUE_TYPE"],
    ),
    "connector-class.json": (
        _connector('"replication.factor": 1,').replace("MirrorSourceConnector", "MirrorSinkConnector"),
        ["2 CLASS_UNKNOWN"],
    ),
    "resource.yaml": (
        _resource("groupsPattern: 'shop*'", "refresh.topic.interval.seconds: 60"),
        ["16 KEY_MISSPELLED", "17 PATTERN_GLOB"],
    ),
    "resource-alias.yaml": (
        _resource("").replace("sourceCluster: old", "sourceCluster: odl"),
        ["11 ALIAS_UNKNOWN"],
    ),
    "consumer.properties": (
        "bootstrap.servers=old-1:9092\nenable.auto.commit=true\nzookeeper.connect=zk:2181\nacks=all\n",
        ["1 GROUP_MISSING", "1 RESET_TO_LATEST", "2 AUTO_COMMIT", "3 KEY_OF_ANOTHER_VERSION"],
    ),
    "producer.properties": (
        "metadata.broker.list=new-1:9092\nacks=0\nmax.in.flight.requests.per.connection=5\nretries=0\n",
        ["1 KEY_OF_ANOTHER_VERSION", "2 ACKS_TOO_LOW", "3 ORDER_NOT_KEPT", "4 RETRIES_OFF"],
    ),
    "start.sh": (
        f"#!/bin/sh\n{START} \\\n  --blacklist 'a*' --new.consumer --abort.on.send.failure false --num.streams x "
        "--queue.size 5 &\n",
        [
            "3 FAILURE_IGNORED",
            "3 OPTION_OF_ANOTHER_VERSION",
            "3 OPTION_UNKNOWN",
            "3 OPTION_WITHOUT_EFFECT",
            "3 PATTERN_GLOB",
            "3 VALUE_TYPE",
        ],
    ),
    "start-without.sh": (
        "bin/kafka-mirror-maker.sh --producer.config p.properties --offset.commit.interval.ms 60\n",
        ["1 INTERVAL_UNIT", "1 OPTION_MISSING", "1 OPTION_MISSING"],
    ),
    "text.properties": (
        f"{HEAD}tasks.max = 1\ntopics.exclude = a,\\ \n  b\n# c, \\\n  d, e\n"
        "old->new.groups = a,\\\n  # b,\\\n  c\nstray\n"
        "refresh.topics.enabled = true\u00a0\nold->new.groups.exclude = é\n",
        [
            "7 LINE_NOT_CONTINUED",
            "9 COMMENT_NOT_CONTINUED",
            "12 COMMENT_IN_VALUE",
            "14 SEPARATOR_MISSING",
            "15 CHARACTER_MISLEADING",
            "16 ENCODING_WRONG",
        ],
    ),
    "escape.properties": (f"{HEAD}topics.exclude = a\\u00g1\n", ["6 FILE_NOT_LOADED"]),
    "not-text.json": (_connector('"topics.exclude": ["a"], "groups": null,'), ["6 VALUE_NOT_TEXT", "6 VALUE_NULL"]),
    "other.json": ('{"connector.class": "com.acme.Sink"}', ["1 CONNECTOR_OF_OTHER_PRODUCT"]),
    "quotes.sh": (
        f"{START} --whitelist a|b\n{START} --whitelist a --whitelist b\n"
        f"{START} --whitelist a.* --message.handler x.Y\n",
        ["1 PATTERN_PIPED", "2 OPTION_REPEATED", "3 MESSAGE_HANDLER", "3 PATTERN_UNQUOTED"],
    ),
}

CLEAN = {
    "dedicated.properties": f"""\
{HEAD}# A comment on its own line
old->new.groups = shop-.*
tasks.max = 4
replication.factor = 3
replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy
sync.group.offsets.enabled = true
refresh.topics.interval.seconds = 60
new.offset.flush.interval.ms = 5000
new.producer.acks = all
old.consumer.isolation.level = read_committed
old.consumer.auto.offset.reset = earliest
old.security.protocol = SASL_SSL
old.sasl.mechanism = SCRAM-SHA-512
old.sasl.jaas.config = ${{file:/etc/kafka/secrets.properties:jaas}}
config.providers = file
config.providers.file.class = org.apache.kafka.common.config.provider.FileConfigProvider
new.config.storage.replication.factor = 3
task.shutdown.graceful.timeout.ms = 60000
""",
    "both-ways.properties": f"{HEAD}new->old.enabled = true\nnew->old.topics = .*\nemit.heartbeats.enabled = true\n",
    "consumer.properties": f"{CONSUMER}max.poll.records=500\nexclude.internal.topics=true\n",
    "producer.properties": f"{PRODUCER}acks=all\ncompression.type=lz4\nmax.in.flight.requests.per.connection=1\n",
    "start.sh": f"{START} --num.streams 4 --whitelist 'orders|payments.*' > mirror.log 2>&1 &\n",
    "connector.json": _connector('"tasks.max": "4", "source.consumer.max.poll.records": "500",'),
    "resource.yaml": _resource("groupsPattern: shop-.*"),
}
