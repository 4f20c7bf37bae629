"""What the rules of `lint` are judged against: Kafka's keys, the version, and who reads what."""

from __future__ import annotations

from typing import NamedTuple

from kafka_migration.kafka_tables.kafka_keys import KafkaKey, KafkaKeys, numbers
from kafka_migration.mirrormaker_files.effective.readers import Readers
from kafka_migration.mirrormaker_files.model.lint_finding import minor


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
