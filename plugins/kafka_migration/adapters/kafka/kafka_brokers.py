"""The rights of a login on a Kafka cluster and the settings of its brokers, as the brokers report them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ConfigResource,
    ResourcePatternType,
    ResourceType,
)

from kafka_migration.adapters.kafka.kafka_client import ClusterClient, call_timeout_s
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import THE_CLUSTER, Acl, Operation, Resource, ResourceKind

Granted = frozenset[Operation]
# Rights on a prefix are those on any name with it; this group does not exist.
_EXAMPLE = "kafka-migration-check"
_OPERATIONS = {AclOperation[operation.name]: operation for operation in Operation}
# Brokers deny a topic that may not be described; whether it may be created is not known then.
_WITHOUT_DESCRIBE = frozenset({Operation.CREATE})
_EVERY_ACL = AclBindingFilter(
    ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
)
_KINDS: Mapping[ResourceType, ResourceKind] = {
    ResourceType.TOPIC: "topic",
    ResourceType.GROUP: "group",
    ResourceType.BROKER: "cluster",
    ResourceType.TRANSACTIONAL_ID: "transactional-id",
}
_DENIED = {KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED}


class BrokerCalls(ClusterClient):
    """The methods of `core.kafka.cluster.KafkaCluster` about rights and brokers."""

    def granted(self, resources: Collection[Resource]) -> Mapping[Resource, Granted]:
        """Return the operations that the login may do on each resource, without those that brokers do not report."""
        topics = self._existing([each for each in resources if each.kind == "topic"])
        groups = {_name_of(each): each for each in resources if each.kind == "group"}
        return {
            **self._granted(topics, self._ask_topics),
            **self._granted_on_groups(groups),
            **(self._on_cluster() if THE_CLUSTER in resources else {}),
        }

    def acls(self) -> tuple[Acl, ...]:
        """Return the access control lists on topics, groups, cluster and transactional ids, sorted."""
        # Without this right confluent-kafka 2.16.1 returns no lists, and no error.
        if Operation.DESCRIBE not in self._on_cluster().get(THE_CLUSTER, ()):
            raise Refused([self._may_not_read_lists()])
        try:
            found = self._call(
                lambda: self._answer(self._admin.describe_acls(_EVERY_ACL, request_timeout=call_timeout_s()))
            )
        except TransientError as error:
            if isinstance(error.__cause__, KafkaException) and _has_no_authorizer(error.__cause__):
                return ()
            raise
        return tuple(sorted(_acl(each) for each in found if each.restype in _KINDS))

    def broker_settings(self, *names: str) -> Mapping[int, Mapping[str, str]]:
        """Return the settings of each broker, defaults included; those that a broker does not have are missing."""
        brokers = [node.id for node in self._described_cluster().nodes]
        return {
            broker: {name: entries[name].value for name in names if name in entries and entries[name].value is not None}
            for broker, entries in self._results(self._ask_brokers, brokers).items()
        }

    def _may_not_read_lists(self) -> Finding:
        return Finding(
            Code.RIGHT_MISSING,
            self.name,
            "no right Describe on the cluster",
            "this right, to read access control lists",
            "Grant Describe on the cluster to the user of the Airflow connection, or name a connection with another "
            "user. Then run the command again.",
            happened=f"The user of {self.name} has no right Describe on the cluster.",
            matters="Without this right the access control lists cannot be read, so the command printed none.",
        )

    def _existing(self, topics: Collection[Resource]) -> dict[str, Resource]:
        """Return a name for each: its own, or that of a topic with the prefix; a prefix without a topic is missing."""
        prefixes = [each for each in topics if each.is_prefix]
        names = sorted(self._call(self._all_topics).topics) if prefixes else []
        examples = {name: each for each in prefixes for name in names if name.startswith(each.name)}
        return {**examples, **{each.name: each for each in topics if not each.is_prefix}}

    def _granted_on_groups(self, groups: Mapping[str, Resource]) -> dict[Resource, Granted]:
        """Ask again if not all answer: the first question makes a new cluster create its topic of offsets, slowly."""
        with suppress(TransientError):
            found = self._granted(groups, self._ask_groups)
            if len(found) == len(groups):
                return found
        return self._granted(groups, self._ask_groups)

    def _granted(self, named: Mapping[str, Resource], ask: Any) -> dict[Resource, Granted]:
        if not named:
            return {}
        found = {}
        for name, outcome in self._outcomes(ask, list(named)).items():
            if not isinstance(outcome, KafkaException):
                found[named[name]] = _operations(outcome.authorized_operations)
            elif outcome.args[0].code() in _DENIED:
                found[named[name]] = _WITHOUT_DESCRIBE
        return {resource: operations for resource, operations in found.items() if operations is not None}

    def _ask_topics(self, names: Sequence[str]) -> Any:
        return self._admin.describe_topics(TopicCollection(list(names)), **_asking_for_rights())

    def _ask_groups(self, names: Sequence[str]) -> Any:
        return self._admin.describe_consumer_groups(list(names), **_asking_for_rights())

    def _ask_brokers(self, brokers: Sequence[int]) -> Mapping[int, Any]:
        # librdkafka takes one broker per call. All calls are made before waiting for the first answer.
        asked = {
            broker: self._admin.describe_configs(
                [ConfigResource(ResourceType.BROKER, str(broker))], request_timeout=call_timeout_s()
            )
            for broker in brokers
        }
        return {broker: next(iter(futures.values())) for broker, futures in asked.items()}

    def _on_cluster(self) -> dict[Resource, Granted]:
        """Return the operations on the cluster; brokers report them only to a user who may describe it."""
        operations = _operations(self._described_cluster(include_authorized_operations=True).authorized_operations)
        return {THE_CLUSTER: operations} if operations else {}


def _asking_for_rights() -> dict[str, Any]:
    return {"include_authorized_operations": True, "request_timeout": call_timeout_s()}


def _has_no_authorizer(error: KafkaException) -> bool:
    return bool(error.args[0].code() == KafkaError.SECURITY_DISABLED)


def _acl(binding: AclBinding) -> Acl:
    resource = Resource(
        _KINDS[binding.restype],
        binding.name,
        is_prefix=binding.resource_pattern_type is ResourcePatternType.PREFIXED,
    )
    operation = "".join(word.capitalize() for word in binding.operation.name.split("_"))
    is_allowed = binding.permission_type is AclPermissionType.ALLOW
    return Acl(resource, binding.principal, binding.host, operation, is_allowed)


def _name_of(group: Resource) -> str:
    if group.name == "*":
        return _EXAMPLE
    return f"{group.name}{_EXAMPLE}" if group.is_prefix else group.name


def _operations(reported: Iterable[AclOperation] | None) -> Granted | None:
    """Return the reported operations; `None` without any, because a user who gets an answer has Describe at least."""
    return frozenset(_OPERATIONS[each] for each in reported or () if each in _OPERATIONS) or None
