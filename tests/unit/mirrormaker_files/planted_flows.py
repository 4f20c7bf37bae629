"""More files with planted mistakes: of several flows, of connectors that belong together, and of what is missing."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.mirrormaker_files.planted import BYTES, HEAD

_IDENTITY = "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"
_BACK = "new->old.enabled = true\nnew->old.topics = audit\n"
_THREE = """\
clusters = east, west, hub
east.bootstrap.servers = east-1:9092
west.bootstrap.servers = west-1:9092
hub.bootstrap.servers = hub-1:9092
east->hub.enabled = true
west->hub.enabled = true
"""


def connectors(*configs: dict[str, Any]) -> str:
    """Return connectors as JSON, each key on a line of its own; a configuration begins on every twelfth line."""
    return json.dumps([{"name": each["name"], "config": each} for each in configs], indent=1)


def connector(kind: str, **more: str) -> dict[str, Any]:
    """Return the configuration of a connector of the flow old->new; `_` in a name stands for a dot."""
    return {
        "name": f"{kind}-1",
        "connector.class": f"org.apache.kafka.connect.mirror.Mirror{kind.title()}Connector",
        "source.cluster.alias": "old",
        "target.cluster.alias": "new",
        "source.cluster.bootstrap.servers": "old-1:9092",
        "target.cluster.bootstrap.servers": "new-1:9092",
        "key.converter": BYTES,
        "value.converter": BYTES,
        "header.converter": BYTES,
        **{key.replace("_", "."): value for key, value in more.items()},
    }


PLANTED_FLOWS = {
    "off.properties": (HEAD.replace("enabled = true", "enabled = false"), ["4 FLOWS_OFF"]),
    "never-enabled.properties": (HEAD.replace("old->new.enabled = true\n", ""), ["4 NO_FLOW"]),
    "back-not-enabled.properties": (f"{HEAD}new->old.topics = audit\n", ["6 FLOW_NOT_ENABLED"]),
    "broker-keys.properties": (
        f"{HEAD}auto.create.topics.enable = true\nnew.message.max.bytes = 2000000\n",
        ["6 KEY_OF_BROKERS", "7 KEY_OF_BROKERS"],
    ),
    "blank-lists.properties": (
        f"{HEAD.replace('orders, payments[.]eu', '')}old->new.groups =\n",
        ["5 NOTHING_COPIED", "6 NO_GROUPS"],
    ),
    "refresh.properties": (
        f"{HEAD}refresh.topics.enabled = false\nrefresh.groups.enabled = false\n",
        ["6 REFRESH_OFF", "7 REFRESH_OFF"],
    ),
    "checkpoints.properties": (f"{HEAD}old->new.emit.checkpoints.enabled = false\n", ["6 CHECKPOINTS_REFUSED"]),
    "hints.properties": (HEAD, ["4 GROUPS_NOT_SYNCED", "4 ONE_TASK"]),
    "factors.properties": (
        HEAD.replace("new-1:9092", "new-1:9092, new-2:9092") + "replication.factor = 1\n"
        "offset-syncs.topic.replication.factor = 3\n",
        ["6 REPLICATION_TOO_LOW", "7 REPLICATION_ABOVE_BROKERS"],
    ),
    "alias.properties": (f"{HEAD}{_BACK}source.cluster.alias = old\n", ["8 ALIAS_OVERRIDDEN"]),
    "blank-alias.properties": (
        f"{HEAD}source.cluster.alias =\nreplication.policy.separator =\n",
        ["6 NAMES_KEPT_BY_BLANKS"],
    ),
    "blank-separator.properties": (f"{HEAD}replication.policy.separator =\n", ["6 SEPARATOR_BLANK"]),
    "two-separators.properties": (
        f"{HEAD}new->old.enabled = true\nold->new.replication.policy.separator = _\n",
        ["4 LOOP"],
    ),
    "ring.properties": (
        f"{_THREE}hub->east.enabled = true\neast->west.enabled = true\n{_IDENTITY}",
        ["6 NAMES_MERGED", "7 LOOP", "8 LOOP"],
    ),
    "merged.properties": (f"{_THREE}{_IDENTITY}", ["6 NAMES_MERGED"]),
    "shared-workers.properties": (f"{_THREE}hub.group.id = mirror\n", ["7 WORKERS_SHARED"]),
    "looks-copied.properties": (
        HEAD.replace("orders, payments[.]eu", "new.orders, connect-internal"),
        ["5 TOPIC_NOT_COPIED", "5 TOPIC_NOT_COPIED"],
    ),
    "logins.properties": (
        f"{HEAD}old.security.protocol = SASL_SSL\nold.sasl.mechanism = SCRAM-SHA-512\n"
        "new.security.protocol = SASL_SSL\nnew.sasl.mechanism = GSSAPI\n",
        ["6 LOGIN_MISSING", "8 LOGIN_ELSEWHERE"],
    ),
    "overrides.properties": (f"{HEAD}new.producer.override.max.request.size = 2000000\n", ["6 KEY_MISPLACED"]),
    "consumer-override.json": (
        connectors(connector("source", consumer_override_max_poll_records="5")),
        ["14 KEY_MISPLACED"],
    ),
    "addresses.json": (
        connectors({**connector("source"), "source.bootstrap.servers": "old-1:9092"}),
        ["14 KEY_NEVER_EXISTED"],
    ),
    "policies.json": (
        connectors(
            connector("source", replication_policy_class="org.apache.kafka.connect.mirror.IdentityReplicationPolicy"),
            connector("checkpoint"),
        ),
        ["21 POLICIES_DIFFER"],
    ),
    "other-flow.json": (
        connectors(connector("source"), connector("checkpoint", source_cluster_alias="eu")),
        ["21 CONNECTORS_DIFFER"],
    ),
    "no-aliases.json": (
        connectors({k: v for k, v in connector("source").items() if "alias" not in k}),
        ["6 SOURCE_ALIAS_MISSING", "6 TARGET_ALIAS_MISSING"],
    ),
    "field.yaml": (
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaMirrorMaker2\nspec:\n  clusters:\n"
        "    - {alias: a, bootstrapServers: 'a:9092'}\n"
        "    - {alias: b, bootstrapServers: 'b:9092'}\n  connectCluster: b\n  mirrors:\n    - sourceCluster: a\n"
        "      targetCluster: b\n      config:\n        replication.factor: 3\n      sourceConnector: {}\n",
        ["11 FIELD_UNKNOWN"],
    ),
}
