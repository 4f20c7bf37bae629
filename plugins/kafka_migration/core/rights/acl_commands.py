"""Rights as commands of `kafka-acls.sh`, one for all resources of a kind that need the same operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kafka_migration.core.kafka.cluster import Operation, Resource
from kafka_migration.core.rights.rights import Client, Need, Right
from kafka_migration.core.text.shell import shell_word


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
