"""Rules of enums that are tables."""

from __future__ import annotations

import copy
import pickle
from typing import NamedTuple

import pytest

from kafka_migration.core.text.row_enum import RowEnum


class Row(NamedTuple):
    """What `Fruit` says of a fruit."""

    color: str
    is_sweet: bool = False


class Fruit(RowEnum):
    """A table of two rows."""

    color: str
    is_sweet: bool

    LEMON = Row("yellow")
    RED_PLUM = Row("red", is_sweet=True)


class Small(RowEnum):
    """A table whose texts are not its names."""

    color: str

    @classmethod
    def text_of(cls, name: str) -> str:
        return name.lower()

    RED_PLUM = Row("red")


def test_member_is_its_name_and_carries_its_row() -> None:
    """A row says its name once; the member is this text, and has the fields of the row, also those by default."""
    assert ["LEMON", "RED_PLUM"] == list(Fruit)
    assert [("yellow", False), ("red", True)] == [(each.color, each.is_sweet) for each in Fruit]
    assert Fruit("LEMON") is Fruit.LEMON is Fruit["LEMON"]
    assert Fruit.LEMON.value == "LEMON"
    with pytest.raises(ValueError, match="PEAR"):
        Fruit("PEAR")


def test_table_may_write_its_texts_in_another_way() -> None:
    """The text follows from the name."""
    assert ["red_plum"] == list(Small)
    assert Small("red_plum") is Small.RED_PLUM


def test_member_stays_itself_as_a_copy() -> None:
    """A member that was copied, or sent to another process, is the same one."""
    assert copy.deepcopy(Fruit.LEMON) is Fruit.LEMON
    assert pickle.loads(pickle.dumps(Fruit.LEMON)) is Fruit.LEMON
