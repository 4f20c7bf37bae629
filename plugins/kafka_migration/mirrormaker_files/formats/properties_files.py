"""Properties: of the dedicated MirrorMaker 2, of a worker of Connect, and of a client of MirrorMaker 1.

The place of each key of MirrorMaker 2 is that to which `MirrorMakerConfig` resolves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

from kafka_migration.core.text.regex import regex
from kafka_migration.kafka_tables.accepted import trimmed
from kafka_migration.mirrormaker_files.formats.properties_reader import Entry
from kafka_migration.mirrormaker_files.model.lint_limits import LONGEST_ALIAS, require_few_clusters
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    CLIENTS,
    FileKind,
    Flow,
    MirrorFile,
    MirrorSetting,
    Place,
)

# Keys of connectors that begin like a prefix.
_WHOLE_KEYS = frozenset(
    {"consumer.poll.timeout.ms", "admin.timeout.ms", "source.cluster.alias", "target.cluster.alias"}
)
_SIDES = regex(r"(?:(source|target)\.)?(cluster|producer|consumer|admin)(?:\.override)?\.(.+)")


def mirrormaker2_file(name: str, entries: Sequence[Entry]) -> MirrorFile:
    """Return the file with each setting at its place. An entry without an alias of `clusters` is at the top level."""
    aliases = clusters_of(entries)
    require_few_clusters(aliases)
    known = frozenset(aliases)
    settings = tuple(_placed(entry, known) for entry in entries)
    return MirrorFile(name, FileKind.MIRRORMAKER2, settings, aliases, tuple(_enabled(settings, aliases)))


def clusters_of(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the aliases that `clusters` lists; empty if it is missing."""
    values = [entry.value for entry in entries if entry.name == "clusters"]
    return tuple(dict.fromkeys(filter(None, map(str.strip, values[-1].split(","))))) if values else ()


def _placed(entry: Entry, aliases: frozenset[str]) -> MirrorSetting:
    if entry.name not in _WHOLE_KEYS:
        if "->" in entry.name:
            return _of_flow(entry, aliases)
        if alias := _beginning(entry.name, ".", aliases):
            return _split(entry, Place.CLUSTER, alias, entry.name.removeprefix(f"{alias}."))
    return _split(entry, Place.TOP, "", entry.name)


def _of_flow(entry: Entry, aliases: frozenset[str]) -> MirrorSetting:
    source = _beginning(entry.name, "->", aliases) or entry.name.partition("->")[0]
    rest = entry.name.removeprefix(f"{source}->")
    target = _beginning(rest, ".", aliases) or rest.partition(".")[0]
    owner = f"{source}->{target}" if source and target else entry.name
    return prefixed(entry, Place.FLOW, owner, rest[len(target) + 1 :] if target else "")


def _beginning(name: str, separator: str, aliases: frozenset[str]) -> str:
    """Return the longest alias with which a name starts, before a separator; empty if there is none."""
    found, place = "", name.find(separator)
    while 0 <= place <= LONGEST_ALIAS:
        found = name[:place] if name[:place] in aliases else found
        place = name.find(separator, place + 1)
    return found


def _split(entry: Entry, place: Place, owner: str, key: str) -> MirrorSetting:
    client, _, rest = key.partition(".")
    if client in CLIENTS and key not in _WHOLE_KEYS:
        return _setting(entry, place, rest, owner, client)
    return _setting(entry, place, key, owner)


def prefixed(entry: Entry, place: Place, owner: str, key: str) -> MirrorSetting:
    """Return a setting of a flow or connector, whose clients have prefixes such as `source.consumer.`."""
    match = _SIDES.fullmatch(key)
    if match and key not in _WHOLE_KEYS:
        return _setting(entry, place, match[3], owner, match[2], match[1] or "")
    return _setting(entry, place, key, owner)


def _setting(entry: Entry, place: Place, key: str, owner: str, client: str = "", side: str = "") -> MirrorSetting:
    texts = entry.line, entry.name, entry.value
    return MirrorSetting(*texts, place, key, owner, client, side, entry.dropped, last=entry.last)


def _enabled(settings: Iterable[MirrorSetting], aliases: Sequence[str]) -> Iterator[Flow]:
    """Yield the flows whose connectors are to run: they read `enabled` without blanks, and that of the top level too.

    Whether a flow has a worker is decided by the version (`Dedicated.has_worker`).
    """
    values = {each.owner: trimmed(each.value).lower() for each in settings if _is_switch(each)}
    order = {alias: number for number, alias in enumerate(aliases)}
    pairs = (owner.partition("->")[::2] for owner, value in values.items() if value == "true")
    found = {(order[source], order[target]) for source, target in pairs if source in order and target in order}
    if values.get("") == "true":
        found |= {pair for pair in permutations(range(len(aliases)), 2) if _name(pair, aliases) not in values}
    return (Flow(aliases[source], aliases[target]) for source, target in sorted(found) if source != target)


def _is_switch(setting: MirrorSetting) -> bool:
    return setting.key == "enabled" and setting.place in {Place.FLOW, Place.TOP} and not setting.client


def _name(pair: tuple[int, int], aliases: Sequence[str]) -> str:
    return f"{aliases[pair[0]]}->{aliases[pair[1]]}"


def client_file(name: str, kind: FileKind, entries: Iterable[Entry]) -> MirrorFile:
    """Return a consumer or producer file."""
    settings = (
        MirrorSetting(each.line, each.name, each.value, Place.CLIENT, each.name, dropped=each.dropped, last=each.last)
        for each in entries
    )
    return MirrorFile(name, kind, tuple(settings))


def worker_file(name: str, entries: Sequence[Entry], version: str = "", line: int = 0) -> MirrorFile:
    """Return the settings of a Connect worker; `producer.`, `consumer.` and `admin.` are those of its clients."""
    settings = []
    for each in entries:
        client, _, rest = each.name.partition(".")
        is_client = client in CLIENTS and bool(rest)
        key, client = (rest, client) if is_client else (each.name, "")
        settings.append(
            MirrorSetting(
                *(each.line, each.name, each.value, Place.WORKER, key),
                client=client,
                dropped=each.dropped,
                last=each.last,
            )
        )
    return MirrorFile(name, FileKind.WORKER, tuple(settings), kafka_version=version, line=line)
