"""Enums that are tables: a member is its name, and carries what its row says."""

from __future__ import annotations

from enum import EnumType, StrEnum
from typing import NamedTuple, Self


class _RowEnumType(EnumType):
    """Gives each row of a table its name, so that the table says it once.

    (`auto` could do this only from Python 3.11.1 on.)
    """

    def __new__(cls, name: str, bases: tuple[type, ...], names: dict[str, object]) -> _RowEnumType:
        for member, row in names.items():
            if isinstance(row, tuple) and not member.startswith("_"):
                # The dictionary of an enum refuses to replace a member.
                dict.__setitem__(names, member, (member, row))
        return super().__new__(cls, name, bases, names)  # type: ignore[arg-type]


class RowEnum(StrEnum, metaclass=_RowEnumType):
    """A table whose rows are named tuples; a subclass declares their fields, which its members have as attributes."""

    def __new__(cls, name: str, *rows: NamedTuple) -> Self:
        """Make a member from its name and its one row."""
        member = str.__new__(cls, cls.text_of(name))
        member._value_ = str(member)
        for row in rows:
            for field, value in row._asdict().items():
                setattr(member, field, value)
        return member

    @classmethod
    def text_of(cls, name: str) -> str:
        """Return the text of the member with a name."""
        return name
