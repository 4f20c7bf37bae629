"""What every lint rule shares: the finding, the versions that it is judged against, and safe ways to show a value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.text.brief import brief, given
from kafka_migration.mirrormaker_files.kafka_keys import KafkaKey, KafkaKeys
from kafka_migration.mirrormaker_files.lint_codes import LintCode
from kafka_migration.mirrormaker_files.mirror_settings import MirrorFile, MirrorSetting

_SECRET = re.compile(
    r"(?:password|passwd|secret|credentials)$|ssl\.keystore\.key$|jaas\.config$|basic\.auth\.user\.info$"
)
_JAAS_SECRET = re.compile(r"(?:password|clientSecret)\s{0,20}=")
COMMENT = re.compile(r"\s#")


@dataclass(frozen=True, slots=True)
class LintFinding(Document):
    """One mistake in a file. A line of 0 means the file as a whole."""

    code: LintCode
    file: str
    line: int
    key: str
    found: str
    expected: str
    fix: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        subject = f"{self.key}: " if self.key else ""
        mistake = f"{subject}found {self.found}; expected {self.expected}"
        return f"{self.code.severity} {self.code} · {place} · {mistake}. {self.fix}"


@dataclass(frozen=True, slots=True)
class Ground:
    """Kafka's keys, and the version that a file is for as `major.minor`; an empty version means any."""

    keys: KafkaKeys
    version: str = ""

    def has(self, key: KafkaKey) -> bool:
        """Return whether the version has the key."""
        return not self.version or any(minor(each) == self.version for each in key.versions)

    def is_at_least(self, version: str) -> bool | None:
        """Return whether the version is this one or later; `None` if no version is named."""
        return _numbers(self.version) >= _numbers(version) if self.version else None


def minor(version: str) -> str:
    """Return `major.minor` of a version."""
    return ".".join(version.split(".")[:2])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def at(file: MirrorFile, setting: MirrorSetting, code: LintCode, found: str, expected: str, fix: str) -> LintFinding:
    """Return a finding about one setting."""
    return LintFinding(code, file.name, setting.line, brief(setting.name, 100), found, expected, fix)


def on_file(file: MirrorFile, code: LintCode, found: str, expected: str, fix: str) -> LintFinding:
    """Return a finding about the file as a whole."""
    return LintFinding(code, file.name, 0, "", found, expected, fix)


def may_be_secret(setting: MirrorSetting) -> bool:
    """Return whether a value of this key must not be shown."""
    return _SECRET.search(setting.key.lower()) is not None


def has_secret(setting: MirrorSetting) -> bool:
    """Return whether the value holds a secret as plain text."""
    if setting.is_reference or not setting.value.strip() or not may_be_secret(setting):
        return False
    return not setting.key.endswith("jaas.config") or _JAAS_SECRET.search(setting.value) is not None


def value_of(setting: MirrorSetting) -> str:
    """Return the value for a finding, or that it is not shown."""
    return "a value that is not shown" if may_be_secret(setting) else given(setting.value)


def listed(value: str) -> list[str]:
    """Return the items of a list as Kafka splits it."""
    return [item for item in map(str.strip, value.split(",")) if item]


def is_true(setting: MirrorSetting | None) -> bool:
    """Return whether a boolean is given and true."""
    return setting is not None and setting.value.strip().lower() == "true"


def is_false(setting: MirrorSetting | None) -> bool:
    """Return whether a boolean is given and false."""
    return setting is not None and setting.value.strip().lower() == "false"


def span(versions: Sequence[str]) -> str:
    """Return the versions in words."""
    first, last = minor(versions[0]), minor(versions[-1])
    return f"Kafka {first}" if first == last else f"Kafka {first} to {last}"
