"""Rights of a user on a real cluster: granted and taken away by an administrator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.rights.rights import Right, rights_for
from kafka_migration.engines.engine_rights import required_rights
from kafka_migration.migration_file.loading import load_migration_file
from sandbox.data.clients import client_config
from sandbox.sandbox import Sandbox
from sandbox.security.listeners import Way

_KINDS = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "cluster": ResourceType.BROKER,
    "transactional-id": ResourceType.TRANSACTIONAL_ID,
}
_WAIT_S = 60


class Rights:
    """The rights of one user on one cluster, written by the user of the listener without a login."""

    def __init__(self, bootstrap: str, principal: str) -> None:
        self.principal = principal
        # A client that is not kept ends its open calls.
        self._admin = AdminClient(client_config(bootstrap))

    def grant(self, rights: Iterable[Right]) -> None:
        """Grant rights; one that exists stays."""
        bindings = list({self._binding(right) for right in rights})
        if not bindings:
            return
        for future in self._admin.create_acls(bindings).values():
            future.result(_WAIT_S)

    def revoke_all(self) -> None:
        """Take all rights away."""
        self._delete(
            AclBindingFilter(
                ResourceType.ANY,
                None,
                ResourcePatternType.ANY,
                self.principal,
                None,
                AclOperation.ANY,
                AclPermissionType.ANY,
            )
        )

    @contextmanager
    def without(self, right: Right) -> Iterator[None]:
        """Take one right away for the time of the block."""
        each = self._binding(right)
        self._delete(
            AclBindingFilter(
                each.restype,
                each.name,
                each.resource_pattern_type,
                each.principal,
                each.host,
                each.operation,
                each.permission_type,
            )
        )
        try:
            yield
        finally:
            self.grant([right])

    def _delete(self, which: AclBindingFilter) -> None:
        for future in self._admin.delete_acls([which]).values():
            future.result(_WAIT_S)

    def _binding(self, right: Right) -> AclBinding:
        pattern = ResourcePatternType.PREFIXED if right.resource.is_prefix else ResourcePatternType.LITERAL
        operation = AclOperation[right.operation.name]
        kind = _KINDS[right.resource.kind]
        return AclBinding(kind, right.resource.name, pattern, self.principal, "*", operation, AclPermissionType.ALLOW)


def grant_what_a_cutover_needs(sandbox: Sandbox, file: Path, ways: Mapping[Side, Way]) -> None:
    """Grant the users of these ways the rights that `acls` prints for a cutover, and no more."""
    for side, way in ways.items():
        grant_to(sandbox.security[side].principal(way), sandbox, file, side)


def grant_to(principal: str, sandbox: Sandbox, file: Path, side: Side) -> None:
    """Grant a user the rights that `acls` prints for a cutover on one side."""
    _, migration = load_migration_file(file)
    rights = rights_for(Mode.CUTOVER, required_rights(migration, side))
    Rights(sandbox.bootstraps[side], principal).grant(rights)
