"""All findings on MirrorMaker files, without those that only follow from another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kafka_migration.kafka_tables.kafka_keys import KafkaKeys
from kafka_migration.mirrormaker_files.effective.all_files import readers_of
from kafka_migration.mirrormaker_files.effective.dedicated import with_flows
from kafka_migration.mirrormaker_files.effective.readers import Readers, kafka_version
from kafka_migration.mirrormaker_files.ground.given_variables import with_variables
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.line_rules.address_rules import ADDRESS_RULES, REFERENCE_RULES
from kafka_migration.mirrormaker_files.line_rules.class_rules import CLASS_RULES
from kafka_migration.mirrormaker_files.line_rules.jaas_rules import JAAS_RULES
from kafka_migration.mirrormaker_files.line_rules.key_rules import KEY_RULES
from kafka_migration.mirrormaker_files.line_rules.name_rules import NAME_RULES
from kafka_migration.mirrormaker_files.line_rules.pattern_rules import PATTERN_RULES
from kafka_migration.mirrormaker_files.line_rules.place_rules import PLACE_RULES
from kafka_migration.mirrormaker_files.line_rules.text_rules import TEXT_RULES, without_consequences
from kafka_migration.mirrormaker_files.line_rules.value_rules import VALUE_RULES
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode, Severity
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, minor
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile
from kafka_migration.mirrormaker_files.rules.client_rules import CLIENT_RULES, client_files
from kafka_migration.mirrormaker_files.rules.connect_rules import ALIAS_RULES, CONNECT_RULES, partners
from kafka_migration.mirrormaker_files.rules.flow_rules import FLOW_RULES
from kafka_migration.mirrormaker_files.rules.replication_rules import REPLICATION_RULES
from kafka_migration.mirrormaker_files.rules.resource_rules import RESOURCE_RULES
from kafka_migration.mirrormaker_files.rules.start_rules import COMMAND_RULES, scripts, starts
from kafka_migration.mirrormaker_files.rules.worker_rules import DEDICATED_RULES, WORKER_RULES

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
_OF_VALUES = frozenset({LintCode.VALUE_TYPE, LintCode.VALUE_REFUSED})
_OF_KEYS = frozenset({LintCode.KEY_UNKNOWN, LintCode.KEY_MISSPELLED, LintCode.KEY_REPEATED})
# Findings on what a reader makes of a value, and on lines that no reader gets.
_ABOUT_VALUES = ("VALUE_COMMENT", "VALUE_QUOTED", "VALUE_B", "BACKSLASH_", "VALUE_TYPE", "VALUE_REFUSED", "PATTERN_")
_UNREAD = frozenset({LintCode.KEY_OF_ANOTHER_VERSION, LintCode.KEY_MISPLACED, LintCode.KEY_NEVER_EXISTED})


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


def without_explained(findings: Sequence[LintFinding]) -> list[LintFinding]:
    """Return the findings without those that another one explains."""
    causes = _Causes(findings)
    return [each for each in findings if not causes.explain(each)]


class _Causes:
    """The findings of all files, by what they explain."""

    def __init__(self, findings: Sequence[LintFinding]) -> None:
        self._keys = defaultdict[tuple[str, int, LintCode], set[str]](set)
        for each in findings:
            self._keys[each.file, each.line, each.code].add(each.key)
        logins = (each for each in findings if each.code is LintCode.LOGIN_REFUSED)
        self._cut = {(each.file, line) for each in logins for line in each.others}
        self._switches = {(each.file, each.line) for each in findings if _is_error_of_switch(each)}

    def explain(self, finding: LintFinding) -> bool:
        """Return whether a finding follows from another one."""
        return (
            self._is_refused_field(finding)
            or (finding.code in _OF_KEYS and (finding.file, finding.line) in self._cut)
            or self._is_old_name(finding)
            or self._is_unread(finding)
            or (finding.code is LintCode.NO_FLOW and (finding.file, finding.line) in self._switches)
        )

    def _has(self, finding: LintFinding, code: LintCode, line: int = 0) -> bool:
        return (finding.file, line or finding.line, code) in self._keys

    def _is_refused_field(self, finding: LintFinding) -> bool:
        """Return whether the definition of a resource refuses the value already."""
        fields = self._keys.get((finding.file, finding.line, LintCode.FIELD_REFUSED), ())
        return finding.code in _OF_VALUES and any(field.endswith(finding.key) for field in fields)

    def _is_old_name(self, finding: LintFinding) -> bool:
        """Return whether another finding speaks of the old and the new name of the key."""
        if finding.code is LintCode.KEY_REMOVED:
            return self._has(finding, LintCode.KEYS_OVERLAP)
        places = (finding.line, *finding.others) if finding.code is LintCode.KEYS_OVERLAP else ()
        return any(self._has(finding, LintCode.KEY_OF_ANOTHER_VERSION, line) for line in places)

    def _is_unread(self, finding: LintFinding) -> bool:
        """Return whether a finding is about a value that nothing reads, or about the pattern of a placeholder."""
        if not finding.code.startswith(_ABOUT_VALUES):
            return False
        of_pattern = {LintCode.VALUE_PLACEHOLDER} if finding.code.startswith("PATTERN_") else set()
        codes = _UNREAD | of_pattern
        return any(finding.key in self._keys.get((finding.file, finding.line, code), ()) for code in codes)


def _is_error_of_switch(finding: LintFinding) -> bool:
    """Return whether a finding is about the line that should switch a flow on."""
    is_other = finding.code is not LintCode.NO_FLOW and finding.severity is Severity.ERROR
    return bool(finding.line) and is_other and finding.key.endswith(("enabled", "enable"))
