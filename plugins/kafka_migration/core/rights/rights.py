"""The rights that Airflow and Spark need on each cluster, the commands that grant them, and those that a login lacks.

Kafka's authorizer grants Describe with Read, Write, Delete and Alter, and DescribeConfigs with AlterConfigs. A right
that another one includes is not listed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import THE_CLUSTER, Operation, Resource, Side
from kafka_migration.core.migration.settings import Migration, Mode
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.text.shortened import some

# The consumer that reads single records has a group id with this prefix; it joins no group and commits nothing.
READER_PREFIX = "kafka-migration-reader-"


class Client(StrEnum):
    """Which client needs a right; all but the workers share the login of the Kafka connection."""

    AIRFLOW = "Airflow"
    MIRRORMAKER = "MirrorMaker"
    SPARK = "Spark"
    WORKERS = "workers of Kafka Connect"


class Need(StrEnum):
    """What a right is needed for, as the modes of a run: every run, planning groups, and writing their offsets."""

    SYNC = "every run"
    PLAN = "rehearsal and cutover"
    CUTOVER = "cutover"
    RESTORE = "rollback in mode restore"
    FAIL_BACK = "rollback in mode fail_back"


@dataclass(frozen=True, slots=True)
class Right:
    """One operation on one resource, who needs it, and what for."""

    resource: Resource
    operation: Operation
    client: Client
    need: Need


def airflow_rights(migration: Migration, side: Side) -> Iterator[Right]:
    """Yield what Airflow's tasks and triggers need."""
    wanted = _on_source(migration) if side == "source" else _on_target(migration)
    for need, resource, operations in wanted:
        for operation in operations:
            yield Right(resource, operation, Client.AIRFLOW, need)


def spark_rights(migration: Migration, side: Side) -> Iterator[Right]:
    """Yield what the validation needs; a limit on its reading is a quota, which it sets on both clusters."""
    for topic in topics_on(migration, side):
        yield Right(topic, Operation.READ, Client.SPARK, Need.SYNC)
    if migration.validation.max_bytes_per_s is not None:
        yield Right(THE_CLUSTER, Operation.ALTER_CONFIGS, Client.SPARK, Need.SYNC)


def topics_on(migration: Migration, side: Side) -> list[Resource]:
    """Return the migration's topics by their names on a side."""
    names = [topic if side == "source" else migration.target_topic(topic) for topic in migration.topics]
    return [Resource("topic", name) for name in names]


_Wanted = Iterator[tuple[Need, Resource, tuple[Operation, ...]]]


def _on_source(migration: Migration) -> _Wanted:
    for topic in topics_on(migration, "source"):
        # It describes the topics and reads single records.
        yield Need.SYNC, topic, (Operation.DESCRIBE_CONFIGS, Operation.READ)
    yield Need.SYNC, Resource("group", READER_PREFIX, is_prefix=True), (Operation.DESCRIBE,)
    for group in selected_groups(migration):
        yield Need.PLAN, group, (Operation.DESCRIBE,)
        yield Need.FAIL_BACK, group, (Operation.READ,)


def _on_target(migration: Migration) -> _Wanted:
    for topic in topics_on(migration, "target"):
        # It creates topics, adds partitions, sets retention, and reads single records.
        yield Need.SYNC, topic, (Operation.CREATE, Operation.ALTER, Operation.ALTER_CONFIGS, Operation.READ)
    yield Need.SYNC, Resource("group", READER_PREFIX, is_prefix=True), (Operation.DESCRIBE,)
    for group in selected_groups(migration):
        yield Need.PLAN, group, (Operation.DESCRIBE,)
        yield Need.CUTOVER, group, (Operation.READ,)
        yield Need.RESTORE, group, (Operation.READ, Operation.DELETE)


def selected_groups(migration: Migration) -> list[Resource]:
    """Return the groups of `cutover.groups`: a pattern that is neither a name nor `prefix.*` stands for all groups."""
    found = [_group(pattern) for pattern in migration.cutover.groups]
    return [Resource("group", "*")] if Resource("group", "*") in found else list(dict.fromkeys(found))


def _group(pattern: str) -> Resource:
    start = pattern.removesuffix(".*")
    is_plain = re.fullmatch(r"(?:[\w-]|\\.)+", start) is not None
    if not is_plain:
        return Resource("group", "*")
    return Resource("group", re.sub(r"\\(.)", r"\1", start), is_prefix=start != pattern)


@dataclass
class Grant:
    """Operations on a resource that belong together, and the clients that need them."""

    resource: Resource
    operations: set[Operation] = field(default_factory=set)
    clients: set[Client] = field(default_factory=set)


def grants(rights: Sequence[Right]) -> dict[Need, list[Grant]]:
    """Return what to grant for each need, in the order of `Need`; what an earlier need grants is not repeated."""
    found: dict[Need, list[Grant]] = {}
    granted: set[tuple[Resource, Operation]] = set()
    for need in Need:
        of_need = [right for right in rights if right.need is need]
        new = [right for right in of_need if (right.resource, right.operation) not in granted]
        granted |= {(right.resource, right.operation) for right in new}
        if new:
            found[need] = _by_resource(new)
    return found


def _by_resource(rights: Iterable[Right]) -> list[Grant]:
    found: dict[Resource, Grant] = {}
    for right in rights:
        grant = found.setdefault(right.resource, Grant(right.resource))
        grant.operations.add(right.operation)
        grant.clients.add(right.client)
    return list(found.values())


def acl_lines(rights: Sequence[Right], bootstrap: str, principal: str) -> list[str]:
    """Return the commands that grant the rights, after a comment for each need and its clients."""
    lines = []
    for need, wanted in grants(rights).items():
        clients = ", ".join(client for client in Client if any(client in grant.clients for grant in wanted))
        lines.append(f"# For {need}: {clients}")
        lines += [_command(alike, bootstrap, principal) for alike in _alike(wanted)]
    return lines


def _alike(wanted: Iterable[Grant]) -> list[list[Grant]]:
    """Return the grants that one command can make: one kind of resource and pattern, and the same operations."""
    found: defaultdict[tuple[str, bool, frozenset[Operation]], list[Grant]] = defaultdict(list)
    for grant in wanted:
        found[grant.resource.kind, grant.resource.is_prefix, frozenset(grant.operations)].append(grant)
    return list(found.values())


def _command(alike: Sequence[Grant], bootstrap: str, principal: str) -> str:
    first = alike[0]
    words = ["kafka-acls.sh", "--bootstrap-server", bootstrap, "--command-config", "admin.properties", "--add"]
    words += ["--allow-principal", shell_word(principal)]
    words += [word for operation in sorted(first.operations) for word in ("--operation", str(operation))]
    if first.resource.kind == "cluster":
        return " ".join([*words, "--cluster"])
    if first.resource.is_prefix:
        words += ["--resource-pattern-type", "prefixed"]
    return " ".join([*words, *(f"--{g.resource.kind} {shell_word(g.resource.name)}" for g in alike)])


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
    lacking = [r for r in rights if r.resource in granted and r.operation not in granted[r.resource]]
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
        f"Ask a Kafka administrator to run these commands, then trigger the run again: {'; '.join(commands)}",
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


def _shown(resource: Resource) -> str:
    return f"{resource.name}*" if resource.is_prefix else resource.name
