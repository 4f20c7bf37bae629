"""Numbers that YAML 1.1 reads in another way than people do, such as 0777 (511), 1:30 (90) and 1_000 (1000)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_migration.core.text.shortened import given

# What everyone reads as the number that YAML reads.
_PLAIN = re.compile(r"[-+]?(?:0|[1-9][0-9]*|[0-9]+\.[0-9]*)")
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


EXPECTED = "a number in decimal digits only, a duration with its unit such as 90s, or a text in quotes"


@dataclass(frozen=True, slots=True, repr=False)
class OddNumber:
    """A number as it is in the file, and as YAML reads it."""

    text: str
    value: int | float

    def __str__(self) -> str:
        return f"{self.text}, which YAML reads as the number {given(self.value)}"

    def __repr__(self) -> str:
        return self.text


def is_odd_number(tag: str, text: object) -> bool:
    """Return whether a scalar of this tag is a number that is not written in plain decimal digits."""
    return tag in _NUMBERS and isinstance(text, str) and _PLAIN.fullmatch(text) is None
