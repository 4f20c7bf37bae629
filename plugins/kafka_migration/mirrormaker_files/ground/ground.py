"""What the rules of `lint` are judged against: Kafka's keys, the version, and what each reader gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafka_migration.kafka_tables.kafka_keys import KafkaKey, KafkaKeys, numbers
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given, Readers
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, minor, on_file
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting, Place

SOURCE, CHECKPOINT, HEARTBEAT = "mirror_source", "mirror_checkpoint", "mirror_heartbeat"
CONNECTORS = (SOURCE, CHECKPOINT, HEARTBEAT)


class Ground(NamedTuple):
    """Kafka's keys, the version that a file is for as `major.minor` (empty: any), and the readers of the files."""

    keys: KafkaKeys
    version: str = ""
    readers: Readers = Readers(())

    @property
    def known(self) -> str:
        """Return the version of the tables that is nearest below the judged one, or else their first; empty for any."""
        if not self.version:
            return ""
        known = list(map(minor, self.keys.versions))
        below = [each for each in known if numbers(each) <= numbers(self.version)]
        return below[-1] if below else known[0]

    def has(self, key: KafkaKey) -> bool:
        """Return whether the version has the key; what the tables do not cover is judged as the nearest version."""
        return not self.version or any(minor(each) == self.known for each in key.versions)

    def is_at_least(self, version: str) -> bool | None:
        """Return whether the version is this one or later; `None` if no version is named."""
        return numbers(self.version) >= numbers(version) if self.version else None


def connectors(ground: Ground, flow: Flow, *roles: str) -> Iterator[Effective]:
    """Yield the connectors of a flow."""
    yield from ground.readers.at(*(roles or CONNECTORS), flow=str(flow))


def of_flows(file: MirrorFile, ground: Ground, *roles: str) -> Iterator[tuple[Flow, Effective]]:
    """Yield the connectors of all flows of a file, each with its flow."""
    for flow in file.flows:
        for each in connectors(ground, flow, *roles):
            yield flow, each


def value(each: Effective, key: str, default: str = "") -> str:
    """Return the value that a reader gets for a key, without blanks around it."""
    given = each.values.get(key)
    return given.value.strip() if given else default


def is_given(given: Given | None, file: MirrorFile) -> bool:
    """Return whether a value stands in this file."""
    return given is not None and given.setting is not None and given.file == file.name


def given_in(file: MirrorFile, each: Effective, key: str) -> Given | None:
    """Return what a reader gets for a key, if it stands in this file."""
    given = each.values.get(key)
    return given if is_given(given, file) else None


def lines_in(file: MirrorFile, *given: Given | None) -> tuple[int, ...]:
    """Return the lines of those values that stand in this file."""
    return tuple(each.setting.line for each in given if each and each.setting and is_given(each, file))


def says(each: Effective, key: str, word: str) -> bool:
    """Return whether a reader gets this word for a key, in upper or lower case."""
    return value(each, key).lower() == word


def default_of(ground: Ground, role: str, key: str) -> str | None:
    """Return the default of a role's key in the judged version, else in the latest; `None` if there is none."""
    found = ground.keys.get(role, key)
    return default_in(found, ground) if found else None


def default_in(key: KafkaKey, ground: Ground) -> str | None:
    """Return the default of a key in the judged version, else in the latest."""
    value: str | None = None
    for version in key.versions:
        value = key.defaults.get(version, value)
        if ground.version and version.startswith(f"{ground.known}."):
            break
    return value


def defaults_in(key: KafkaKey, ground: Ground) -> set[str | None]:
    """Return the default of a key in the judged version; without one, all that it has had."""
    return {default_in(key, ground)} if ground.version else set(key.defaults.values())


def running_flows(file: MirrorFile, ground: Ground) -> frozenset[str]:
    """Return the flows that copy: those that are enabled, or of connectors, also if an alias is blank."""
    flows = frozenset(map(str, file.flows))
    if file.kind is not FileKind.CONNECTORS:
        return flows
    return flows | {each.reader.flow for each in ground.readers.at(*CONNECTORS) if is_of(file, each)}


def at_given(
    file: MirrorFile, given: Given, code: LintCode, found: str, effect: str, fix: str, others: tuple[int, ...] = ()
) -> LintFinding:
    """Return a finding about the line of a given value, and about further lines with the same cause."""
    setting = given.setting
    return at(file, setting, code, found, effect, fix, others) if setting else on_file(file, code, found, effect, fix)


def line_of_flow(file: MirrorFile, flow: Flow) -> int:
    """Return the line that a flow is about: its `enabled`, else its first line; 0 if it has none."""
    own = [each for each in file.at(Place.FLOW, str(flow)) if not each.side]
    first = next((each for each in own if each.key == "enabled"), own[0] if own else None)
    return first.line if first else line_of_clusters(file)


def is_of(file: MirrorFile, each: Effective) -> bool:
    """Return whether a connector stands in this file; those of the dedicated MirrorMaker have no file of their own."""
    return file.kind is not FileKind.CONNECTORS or is_given(each.values.get("connector.class"), file)


def line_of(file: MirrorFile, each: Effective, flow: Flow) -> int:
    """Return the line that a connector is about: its class, or its field, else that of its flow."""
    fields = {(owner, field): line for owner, field, line in file.marks}
    if mark := fields.get((str(flow), f"{each.reader.role.removeprefix('mirror_')}Connector")):
        return mark
    given = each.values.get("connector.class")
    is_own = given is not None and is_given(given, file)
    return given.setting.line if given and given.setting and is_own else line_of_flow(file, flow)


def line_of_clusters(file: MirrorFile) -> int:
    """Return the line of `clusters`; 0 if there is none."""
    setting = file.last(Place.TOP, "clusters")
    return setting.line if setting else 0


def line_of_connector(file: MirrorFile, owner: str) -> int:
    """Return the line of a connector's class; 0 if there is none."""
    setting = file.last(Place.CONNECTOR, "connector.class", owner)
    return setting.line if setting else 0


def is_dedicated(file: MirrorFile) -> bool:
    """Return whether the dedicated MirrorMaker 2 reads the file."""
    return file.kind is FileKind.MIRRORMAKER2


def hosts(addresses: str) -> list[str]:
    """Return the addresses of a list."""
    return [item for item in map(str.strip, addresses.split(",")) if item]


def lines(settings: list[MirrorSetting]) -> tuple[int, ...]:
    """Return the lines of further settings with the same cause."""
    return tuple(each.line for each in settings)


def lacks(file: MirrorFile, field: str) -> bool:
    """Return whether a resource lacks a required field, which has a finding of its own."""
    return any(each.missing == field or f"`{field}`" in each.found for each in file.faults)
