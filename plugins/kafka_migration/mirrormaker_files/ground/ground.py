"""What the rules of `lint` are judged against: Kafka's keys, the version, and what each reader gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafka_migration.kafka_tables.kafka_keys import KafkaKey, KafkaKeys, numbers
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given, Readers, kafka_version
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, minor, on_file
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile, MirrorSetting

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
        return kafka_version(self.version).version if self.version else ""

    def has(self, key: KafkaKey) -> bool:
        """Return whether the version has the key; what the tables do not cover is judged as the nearest version."""
        return not self.version or any(minor(each) == self.known for each in key.versions)

    def is_at_least(self, version: str) -> bool | None:
        """Return whether the version is this one or later; `None` if no version is named."""
        return numbers(self.version) >= numbers(version) if self.version else None

    def connectors(self, flow: Flow, *roles: str) -> Iterator[Effective]:
        """Yield the connectors of a flow."""
        yield from self.readers.at(*(roles or CONNECTORS), flow=str(flow))

    def of_flows(self, file: MirrorFile, *roles: str) -> Iterator[tuple[Flow, Effective]]:
        """Yield the connectors of all flows of a file, each with its flow."""
        for flow in file.flows:
            for each in self.connectors(flow, *roles):
                yield flow, each

    def default_in(self, key: KafkaKey) -> str | None:
        """Return the default of a key in the judged version, else in the latest."""
        return key.default(self.known)

    def defaults_in(self, key: KafkaKey) -> set[str | None]:
        """Return the default of a key in the judged version; without one, all that it has had."""
        return {self.default_in(key)} if self.version else set(key.defaults.values())

    def running_flows(self, file: MirrorFile) -> frozenset[str]:
        """Return the flows that copy: those that are enabled, or of connectors, also if an alias is blank."""
        flows = frozenset(map(str, file.flows))
        if file.kind is not FileKind.CONNECTORS:
            return flows
        return flows | {each.reader.flow for each in self.readers.at(*CONNECTORS) if is_of(file, each)}


def is_given(given: Given | None, file: MirrorFile) -> bool:
    """Return whether a value stands in this file."""
    return given is not None and given.is_in(file)


def lines_in(file: MirrorFile, *given: Given | None) -> tuple[int, ...]:
    """Return the lines of those values that stand in this file."""
    return tuple(each.setting.line for each in given if each and each.setting and is_given(each, file))


def at_given(
    file: MirrorFile, given: Given, code: LintCode, found: str, effect: str, fix: str, others: tuple[int, ...] = ()
) -> LintFinding:
    """Return a finding about the line of a given value, and about further lines with the same cause."""
    setting = given.setting
    return at(file, setting, code, found, effect, fix, others) if setting else on_file(file, code, found, effect, fix)


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
    return given.setting.line if given and given.setting and is_own else file.line_of_flow(flow)


def lines(settings: list[MirrorSetting]) -> tuple[int, ...]:
    """Return the lines of further settings with the same cause."""
    return tuple(each.line for each in settings)
