"""All findings on MirrorMaker files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_migration.kafka_tables.kafka_keys import KafkaKeys
from kafka_migration.mirrormaker_files.effective.all_files import readers_of
from kafka_migration.mirrormaker_files.effective.dedicated import with_flows
from kafka_migration.mirrormaker_files.effective.kafka_version import kafka_version
from kafka_migration.mirrormaker_files.effective.readers import Readers
from kafka_migration.mirrormaker_files.ground.consequences import without_explained
from kafka_migration.mirrormaker_files.ground.given_variables import with_variables
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.line_rules.address_rules import ADDRESS_RULES
from kafka_migration.mirrormaker_files.line_rules.class_rules import CLASS_RULES
from kafka_migration.mirrormaker_files.line_rules.jaas_rules import JAAS_RULES
from kafka_migration.mirrormaker_files.line_rules.key_rules import KEY_RULES
from kafka_migration.mirrormaker_files.line_rules.name_rules import NAME_RULES
from kafka_migration.mirrormaker_files.line_rules.pattern_rules import PATTERN_RULES
from kafka_migration.mirrormaker_files.line_rules.place_rules import PLACE_RULES
from kafka_migration.mirrormaker_files.line_rules.reference_rules import REFERENCE_RULES
from kafka_migration.mirrormaker_files.line_rules.text_rules import TEXT_RULES, without_consequences
from kafka_migration.mirrormaker_files.line_rules.value_rules import VALUE_RULES
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, minor
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile
from kafka_migration.mirrormaker_files.rules.alias_rules import ALIAS_RULES
from kafka_migration.mirrormaker_files.rules.client_file_rules import client_files
from kafka_migration.mirrormaker_files.rules.client_rules import CLIENT_RULES
from kafka_migration.mirrormaker_files.rules.command_rules import COMMAND_RULES
from kafka_migration.mirrormaker_files.rules.connect_rules import CONNECT_RULES, partners
from kafka_migration.mirrormaker_files.rules.dedicated_rules import DEDICATED_RULES
from kafka_migration.mirrormaker_files.rules.flow_rules import FLOW_RULES
from kafka_migration.mirrormaker_files.rules.replication_rules import REPLICATION_RULES
from kafka_migration.mirrormaker_files.rules.resource_rules import RESOURCE_RULES
from kafka_migration.mirrormaker_files.rules.start_rules import scripts, starts
from kafka_migration.mirrormaker_files.rules.worker_rules import WORKER_RULES

_ALONE = frozenset({FileKind.MIRRORMAKER2, FileKind.STRIMZI, FileKind.LOGINS})
RULES = (
    *TEXT_RULES,
    *KEY_RULES,
    *PLACE_RULES,
    *VALUE_RULES,
    *ADDRESS_RULES,
    *PATTERN_RULES,
    *CLASS_RULES,
    *REFERENCE_RULES,
    *FLOW_RULES,
    *NAME_RULES,
    *ALIAS_RULES,
    *REPLICATION_RULES,
    *CLIENT_RULES,
    *JAAS_RULES,
    *CONNECT_RULES,
    *COMMAND_RULES,
    *DEDICATED_RULES,
    *RESOURCE_RULES,
    *WORKER_RULES,
)


def lint(files: Sequence[MirrorFile], keys: KafkaKeys, version: str = "") -> list[LintFinding]:
    """Return the findings of all rules, file by file, each by line.

    `version` is the Kafka version of MirrorMaker; without it the file's own, or else all versions count.
    """
    order = {file.name: number for number, file in enumerate(files)}
    of_scripts = list(scripts(files))
    files = [file for file in with_variables(files) if file.kind is not FileKind.VARIABLES]
    files = [with_flows(each, kafka_version(version or each.kafka_version)) for each in files]
    groups = [(group, readers_of(group, version)) for group in read_together(files)]
    findings = [*of_scripts, *client_files(files), *starts(files)]
    for group, readers in groups:
        findings += partners(group, Ground(keys, minor(version), readers))
        findings += [each for file in group for each in _of_file(file, keys, version, readers)]
    findings = without_consequences(list(dict.fromkeys(findings)), files)
    findings = without_explained(findings)
    if any(file.kind is FileKind.LOGINS for file in files):
        findings = [each for each in findings if each.code is not LintCode.LOGIN_ELSEWHERE]
    return sorted(findings, key=lambda each: (order[each.file], each.line))


def _of_file(file: MirrorFile, keys: KafkaKeys, version: str, readers: Readers) -> Iterator[LintFinding]:
    ground = Ground(keys, minor(version or _known(file.kafka_version, keys)), readers)
    for rule in RULES:
        yield from rule(file, ground)


def read_together(files: Sequence[MirrorFile]) -> list[list[MirrorFile]]:
    """Return the files that one process or one cluster of workers reads together."""
    alone = [[file] for file in files if file.kind in _ALONE]
    first = [file for file in files if file.kind.is_mirrormaker1]
    connect = [file for file in files if file.kind in {FileKind.CONNECTORS, FileKind.WORKER}]
    return [*alone, *filter(None, (first, connect))]


def _known(version: str, keys: KafkaKeys) -> str:
    """Return the version if the tables have it: a resource may name a later one."""
    return version if minor(version) in {minor(each) for each in keys.versions} else ""
