"""A small model of MirrorMaker 2: which topics and groups a dedicated configuration copies, and under which names.

It is written from Kafka's documentation and classes (`MirrorMakerConfig`, `DefaultTopicFilter`, `DefaultGroupFilter`,
`DefaultReplicationPolicy`), and shares no code with the importer. A configuration is a map from names to values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_CLASSES = "org.apache.kafka.connect.mirror."


@dataclass(frozen=True)
class Model:
    """One flow of a dedicated MirrorMaker 2."""

    config: Mapping[str, str]
    source: str
    target: str

    def value(self, key: str, usual: str = "") -> str:
        """Return what a connector gets: the flow's value, else the one of the top level."""
        flow = f"{self.source}->{self.target}.{key}"
        return self.config.get(flow, self.config.get(key, usual))

    def name_of(self, topic: str) -> str:
        """Return the name of a topic on the target."""
        if self.value("replication.policy.class").endswith(".IdentityReplicationPolicy"):
            return topic
        alias = self.value("source.cluster.alias", self.source).strip()
        return alias + self.value("replication.policy.separator", ".") + topic

    def copies(self, topic: str) -> bool:
        """Return whether the topic is copied."""
        excluded = self._listed("topics.exclude", "topics.blacklist", r".*[\-\.]internal,.*\.replica,__.*")
        is_internal = topic.startswith(("__", ".")) or topic.endswith((".internal", "-internal"))
        return (
            _is_in(topic, self.value("topics", ".*"))
            and not _is_in(topic, excluded)
            and not is_internal
            and not self._is_cycle(topic)
        )

    def _is_cycle(self, topic: str) -> bool:
        if self.name_of("x") == "x" or "." not in topic:
            return False
        first, _, rest = topic.partition(".")
        return first == self.value("target.cluster.alias", self.target) or self._is_cycle(rest)

    def selects(self, group: str) -> bool:
        """Return whether the checkpoint connector's filter selects the group."""
        excluded = self._listed("groups.exclude", "groups.blacklist", "console-consumer-.*,connect-.*,__.*")
        return _is_in(group, self.value("groups", ".*")) and not _is_in(group, excluded)

    def _listed(self, new: str, old: str, usual: str) -> str:
        return self.value(new, self.value(old, usual))

    def client(self, alias: str, key: str) -> str | None:
        """Return a setting of the client of the records on a cluster."""
        return self.config.get(f"{alias}.{key}")


def _is_in(name: str, items: str) -> bool:
    patterns = [item.strip() for item in items.split(",") if item.strip()]
    return bool(patterns) and re.fullmatch("|".join(patterns), name) is not None
