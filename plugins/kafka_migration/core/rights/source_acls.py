"""The access control lists of the source that concern a migration, and what to grant on the target for them.

Nothing is granted beyond the migration's own topics and groups: a list on a prefix or on all names becomes one on each
of them. What MirrorMaker 2 does with each list is that of `MirrorSourceConnector` in Kafka 3.9.1 (`shouldReplicateAcl`
and `targetAclBinding`), if `sync.topic.acls.enabled` were true; migrations switch it off.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kafka_migration.core.kafka.cluster import Acl, Resource
from kafka_migration.core.text.quoting import shell_word

ALL_NAMES = "*"


class ByMirrorMaker(StrEnum):
    """What MirrorMaker 2 would do with a list."""

    SAME = "MirrorMaker 2 would carry it over"
    ONLY_READ = "MirrorMaker 2 would carry over only Read"
    WRITES = "MirrorMaker 2 would leave it out, because it allows writing"
    PATTERN = "MirrorMaker 2 would leave it out, because it is not on one name"
    GROUP = "MirrorMaker 2 would leave it out, because it is on groups"


@dataclass(frozen=True, slots=True)
class MovedAcl:
    """A list of the source, the lists for the target, and what MirrorMaker 2 would do."""

    acl: Acl
    on_target: tuple[Acl, ...]
    by_mirrormaker: ByMirrorMaker


def moves(
    acls: Iterable[Acl], topics: Mapping[str, str], groups: Collection[str], principals: Collection[str] = ()
) -> list[MovedAcl]:
    """Return what concerns these topics and groups, sorted; `principals` limits it, and none means all.

    `topics` are {name on the source: name on the target}. Groups keep their names.
    """
    names: Mapping[str, Mapping[str, str]] = {"topic": topics, "group": {group: group for group in groups}}
    found = []
    for acl in sorted(acls):
        covered = [new for old, new in sorted(names.get(acl.resource.kind, {}).items()) if covers(acl.resource, old)]
        if covered and (not principals or acl.principal in principals):
            found.append(MovedAcl(acl, tuple(_on(acl, name) for name in covered), by_mirrormaker(acl)))
    return found


def not_moved(acls: Iterable[Acl], principals: Collection[str]) -> list[str]:
    """Return the lists of these users on the cluster and on transactional ids, as texts; they are never moved."""
    kinds = {"cluster", "transactional-id"}
    return [_shown(acl) for acl in sorted(acls) if acl.resource.kind in kinds and acl.principal in principals]


def covers(resource: Resource, name: str) -> bool:
    """Whether a list on a resource applies to a name."""
    if resource.is_prefix:
        return name.startswith(resource.name)
    return resource.name in {ALL_NAMES, name}


def _on(acl: Acl, name: str) -> Acl:
    return Acl(Resource(acl.resource.kind, name), acl.principal, acl.host, acl.operation, acl.is_allowed)


def by_mirrormaker(acl: Acl) -> ByMirrorMaker:
    """Return what MirrorMaker 2 would do with a list."""
    if acl.resource.kind != "topic":
        return ByMirrorMaker.GROUP
    if acl.resource.is_prefix or acl.resource.name == ALL_NAMES:
        return ByMirrorMaker.PATTERN
    if acl.is_allowed and acl.operation == "Write":
        return ByMirrorMaker.WRITES
    return ByMirrorMaker.ONLY_READ if acl.is_allowed and acl.operation == "All" else ByMirrorMaker.SAME


def move_lines(found: Sequence[MovedAcl], bootstrap: str) -> Iterator[str]:
    """Yield a comment for each list of the source, and the commands that give the target the same."""
    given: set[Acl] = set()
    for move in found:
        yield f"# {_shown(move.acl)}. {move.by_mirrormaker}."
        yield from (_command(acl, bootstrap) for acl in move.on_target if acl not in given)
        given.update(move.on_target)


def _shown(acl: Acl) -> str:
    name = f"{acl.resource.name}*" if acl.resource.is_prefix else acl.resource.name
    verb = "may" if acl.is_allowed else "may not"
    return f"{acl.principal} from {acl.host} {verb} {acl.operation} {acl.resource.kind} {name}"


def _command(acl: Acl, bootstrap: str) -> str:
    kind = "allow" if acl.is_allowed else "deny"
    words = ["kafka-acls.sh", "--bootstrap-server", bootstrap, "--command-config", "admin.properties", "--add"]
    words += [f"--{kind}-principal", shell_word(acl.principal), f"--{kind}-host", shell_word(acl.host)]
    return " ".join([*words, "--operation", acl.operation, f"--{acl.resource.kind}", shell_word(acl.resource.name)])
