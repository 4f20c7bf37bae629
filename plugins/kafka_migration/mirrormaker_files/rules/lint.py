"""All findings on MirrorMaker files."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_migration.mirrormaker_files.model.judging import Ground, LintFinding, minor
from kafka_migration.mirrormaker_files.model.kafka_keys import KafkaKeys
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile
from kafka_migration.mirrormaker_files.rules.address_rules import ADDRESS_RULES
from kafka_migration.mirrormaker_files.rules.class_rules import CLASS_RULES
from kafka_migration.mirrormaker_files.rules.client_rules import CLIENT_RULES, mirrormaker1_loop
from kafka_migration.mirrormaker_files.rules.flow_rules import FLOW_RULES
from kafka_migration.mirrormaker_files.rules.key_rules import KEY_RULES
from kafka_migration.mirrormaker_files.rules.pattern_rules import PATTERN_RULES
from kafka_migration.mirrormaker_files.rules.reference_rules import REFERENCE_RULES
from kafka_migration.mirrormaker_files.rules.replica_rules import REPLICA_RULES
from kafka_migration.mirrormaker_files.rules.value_rules import VALUE_RULES

_VALUE_RULES = (*VALUE_RULES, *ADDRESS_RULES, *PATTERN_RULES, *CLASS_RULES, *REFERENCE_RULES, *REPLICA_RULES)

RULES = (*KEY_RULES, *_VALUE_RULES, *FLOW_RULES, *CLIENT_RULES)


def lint(files: Sequence[MirrorFile], keys: KafkaKeys, version: str = "") -> list[LintFinding]:
    """Return the findings of all rules, file by file, each by line.

    `version` is the Kafka version of MirrorMaker; without it the file's own, or else all versions count.
    """
    findings = list(mirrormaker1_loop(files))
    order = {file.name: number for number, file in enumerate(files)}
    for file in files:
        ground = Ground(keys, minor(version or _known(file.kafka_version, keys)))
        findings += [each for rule in RULES for each in rule(file, ground)]
    return sorted(dict.fromkeys(findings), key=lambda each: (order[each.file], each.line))


def _known(version: str, keys: KafkaKeys) -> str:
    """Return the version if the tables have it: a resource may name a later one."""
    return version if minor(version) in {minor(each) for each in keys.versions} else ""
