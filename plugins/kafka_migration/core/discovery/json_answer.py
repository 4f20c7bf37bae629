"""A part of a JSON answer, read with its place, so that an error names what is missing where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kafka_migration.core.text.secret_forms import given_unless_secret

_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")


class UnexpectedAnswer(ValueError):
    """A part of an answer is missing or is something else."""

    def __init__(self, place: str, found: str, expected: str) -> None:
        self.found, self.expected = f"{found} in {place}", expected
        super().__init__(f"{self.found}, not {expected}")


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON value and its place in the answer."""

    value: Any
    place: str

    def part(self, name: str) -> Answer:
        """Return the value of a name, `None` if the object does not have it."""
        if not isinstance(self.value, dict):
            raise self.unexpected("an object")
        return Answer(self.value.get(name), f"{self.place}, {name}")

    def at(self, *names: str) -> Answer:
        """Return the value below several names."""
        return self.part(names[0]).at(*names[1:]) if names else self

    def items(self, name: str) -> list[Answer]:
        """Return the values of a list."""
        found = self.part(name)
        if not isinstance(found.value, list):
            raise found.unexpected("a list")
        return [Answer(value, f"{found.place}[{number}]") for number, value in enumerate(found.value)]

    def text(self, name: str) -> str:
        """Return a text that is not empty."""
        found = self.part(name)
        if not isinstance(found.value, str) or not found.value.strip():
            raise found.unexpected("a text")
        return found.value

    def maybe_text(self, name: str) -> str | None:
        """Return a text, `None` if it is missing or empty."""
        value = self.part(name).value
        return None if value is None or value == "" else self.text(name)

    def host(self, name: str) -> str:
        """Return the name or address of a host."""
        text = self.text(name)
        if not _HOST.fullmatch(text):
            raise self.part(name).unexpected("a host name")
        return text

    def unexpected(self, expected: str) -> UnexpectedAnswer:
        """Return the error for this value."""
        # The parts of a list or an object may be secrets.
        kinds = {type(None): "nothing", list: "a list", dict: "an object"}
        return UnexpectedAnswer(self.place, kinds.get(type(self.value)) or given_unless_secret(self.value), expected)


def is_true(settings: Answer, name: str) -> bool | None:
    """Return a setting that is true or false, `None` if it is not set."""
    text = settings.maybe_text(name)
    if text is None:
        return None
    if text.strip().lower() not in {"true", "false"}:
        raise settings.part(name).unexpected("true or false")
    return text.strip().lower() == "true"


def is_port(digits: str) -> bool:
    """Return whether up to five digits are a port."""
    return 0 < int(digits) < 1 << 16


def port(settings: Answer, name: str) -> int | None:
    """Return a setting that is a port, `None` if it is not set."""
    text = settings.maybe_text(name)
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", text.strip()) or not is_port(text):
        raise settings.part(name).unexpected("a port")
    return int(text)
