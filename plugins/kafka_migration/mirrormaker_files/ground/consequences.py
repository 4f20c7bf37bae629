"""Which findings say only what follows from another one, so that one cause is one finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from kafka_migration.mirrormaker_files.model.lint_codes import LintCode, Severity
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding

_OF_VALUES = frozenset({LintCode.VALUE_TYPE, LintCode.VALUE_REFUSED})
_OF_KEYS = frozenset({LintCode.KEY_UNKNOWN, LintCode.KEY_MISSPELLED, LintCode.KEY_REPEATED})
# Findings on what a reader makes of a value, and on lines that no reader gets.
_ABOUT_VALUES = ("VALUE_COMMENT", "VALUE_QUOTED", "VALUE_B", "BACKSLASH_", "VALUE_TYPE", "VALUE_REFUSED", "PATTERN_")
_UNREAD = frozenset({LintCode.KEY_OF_ANOTHER_VERSION, LintCode.KEY_MISPLACED, LintCode.KEY_NEVER_EXISTED})


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
