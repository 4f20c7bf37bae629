"""A problem with a Kafka connection, and how the values of its settings are read and shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.secret_forms import HIDDEN, has_secret_form
from kafka_migration.core.text.shortened import sentence

Config = Mapping[str, object]

IN_EXTRA = "in the extra of the Airflow connection"
_MAX_SHOWN = 80
_NO_CLIENT = "No Kafka client is created from this connection, so nothing can read or write the cluster."


class Problem(NamedTuple):
    """A problem with a connection; it never shows a value that may be a secret.

    `says` continues a sentence that begins with the name of the connection.
    """

    says: str
    found: str
    expected: str
    remedy: str
    matters: str = _NO_CLIENT
    code: Code = Code.CONNECTION_INVALID

    def finding(self, connection: str) -> Finding:
        """Return the problem as a finding about the connection."""
        return Finding(
            self.code,
            f"connection {connection}",
            self.found,
            self.expected,
            self.remedy,
            happened=sentence(f"The connection {connection} {self.says}"),
            matters=self.matters,
        )


def of_value(name: str, says: str, found: str, expected: str, hint: str = "") -> Problem:
    """Return the problem of the value of a setting; a hint is a sentence after the remedy."""
    remedy = " ".join(filter(None, (f"Set {name} to {expected} {IN_EXTRA}.", hint)))
    return Problem(f"has the setting {name} with {says}", f"setting {name}: {found}", expected, remedy)


def as_text(value: object) -> str | None:
    """Return a setting's value as text for the client; `None` if it is not a text, a number or a boolean."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)) and math.isfinite(value):
        return str(value)
    return value if isinstance(value, str) else None


def text_of(config: Config, name: str) -> str:
    """Return a setting as text; empty if it is missing or has no text."""
    return as_text(config.get(name)) or ""


def shown(value: str) -> str:
    """Return a value as a finding may show it: short, on one line, and hidden if it looks like a secret."""
    if has_secret_form(value):
        return HIDDEN
    text = ascii(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"
