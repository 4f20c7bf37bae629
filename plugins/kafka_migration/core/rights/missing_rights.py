"""The rights that a login lacks, as findings with the command that grants them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Operation, Resource
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.rights.acl_commands import acl_lines
from kafka_migration.core.rights.rights import Client, Need, Right
from kafka_migration.core.text.shortened import some

Granted = Mapping[Resource, Collection[Operation]]


def rights_for(mode: Mode, rights: Sequence[Right]) -> list[Right]:
    """Return the rights that a run of this mode needs."""
    needs = _needs(mode)
    clients = set(Client) if mode.mirrors else {Client.AIRFLOW, Client.SPARK}
    return [right for right in rights if right.need in needs and right.client in clients]


def _needs(mode: Mode) -> set[Need]:
    if mode is Mode.RESTORE:
        return {Need.RESTORE}
    if mode is Mode.FAIL_BACK:
        return {Need.FAIL_BACK}
    needs = {Need.SYNC}
    if mode.plans_groups:
        needs.add(Need.PLAN)
    if mode.moves_groups:
        needs.add(Need.CUTOVER)
    return needs


def missing_findings(subject: str, rights: Sequence[Right], granted: Granted, principal: str) -> Iterator[Finding]:
    """Yield one `RIGHT_MISSING` finding with all missing rights, if there are any.

    A resource whose rights are not known counts as one with all rights, unless a right is missing elsewhere: then the
    commands grant what is not known too, because a new login lacks that as well. `principal` is the user in them.
    """
    lacking = [right for right in rights if _is_missing(right, granted)]
    if not lacking:
        return
    clients = [client for client in Client if any(right.client is client for right in lacking)]
    # Brokers do not report the right to create a topic that the login may not describe.
    denied = {right.resource for right in lacking}
    to_grant = [right for right in rights if right.resource not in granted or right.resource in denied]
    commands = [line for line in acl_lines(to_grant, '"$BOOTSTRAP"', principal) if not line.startswith("#")]
    texts = list(_lacking_texts(lacking))
    yield Finding(
        Code.RIGHT_MISSING,
        subject,
        f"no right {'; no right '.join(texts)}",
        f"these rights, for {' and '.join(clients)}",
        f"Ask a Kafka administrator to run: {'; '.join(commands)}",
        happened=f"The login has not all rights that {', '.join(clients)} need: it lacks {'; '.join(texts)}.",
        matters="The run would fail at the first request that the brokers refuse.",
    )


def _lacking_texts(lacking: Sequence[Right]) -> Iterator[str]:
    """Yield the missing operations with their resources, those with the same operations together."""
    found: defaultdict[tuple[str, tuple[Operation, ...]], list[str]] = defaultdict(list)
    for resource in dict.fromkeys(right.resource for right in lacking):
        operations = sorted({right.operation for right in lacking if right.resource == resource})
        found[resource.kind, tuple(operations)].append(_shown(resource))
    for (kind, operations_of), names in found.items():
        yield f"{', '.join(operations_of)} on {kind} {some(names)}"


def _is_missing(right: Right, granted: Granted) -> bool:
    return right.resource in granted and right.operation not in granted[right.resource]


def _shown(resource: Resource) -> str:
    return f"{resource.name}*" if resource.is_prefix else resource.name
