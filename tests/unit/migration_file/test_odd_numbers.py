"""Rules of numbers that YAML reads in another way than people do."""

from __future__ import annotations

import pytest
import yaml

from kafka_migration.core.findings.errors import Refused
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.migration_file.mistakes import NOT_ODD, is_odd_number

# Each as YAML 1.1 reads it.
ODD = {
    "0777": 511,
    "007": 7,
    "1:30": 90,
    "1:00:00": 3600,
    "1:30.5": 90.5,
    "1_000": 1000,
    "1_000.5": 1000.5,
    "0x10": 16,
    "0b11": 3,
    "+0777": 511,
    "1.5e+3": 1500.0,
    ".5": 0.5,
    ".inf": float("inf"),
    "-.inf": float("-inf"),
}
PLACES = [
    ("tasks: 2", "tasks: {}", "mirror.tasks"),
    ("stall_after: 60s", "stall_after: {}", "watch.stall_after"),
    ("name: shop", "name: {}", "name"),
    ("[orders, audit]", "[orders, {}]", "topics.1"),
    ("tasks: 2", "tasks: 2\n  exactly_once: {}", "mirror.exactly_once"),
    ("tasks: 2", "tasks: 2\n  properties: {{producer.linger.ms: {}}}", "mirror.properties.producer.linger.ms"),
    ("version: 1", "version: {}", "version"),
    (
        "version: 1",
        "version: 1\nalerts: {{notifiers: [{{notifier: a.B, arguments: {{to: {}}}}}]}}",
        "alerts.notifiers.0.arguments.to",
    ),
]


def refusal(text: str) -> str:
    """Return the one finding with which a file is refused."""
    with pytest.raises(Refused) as raised:
        load_migration(text, where="shop.yaml")
    (finding,) = raised.value.findings
    return str(finding)


@pytest.mark.parametrize("number", ODD)
@pytest.mark.parametrize(("old", "new", "place"), PLACES)
def test_odd_number_is_refused_with_what_yaml_reads(
    migration_text: str, number: str, old: str, new: str, place: str
) -> None:
    """At every kind of field, the one finding names the field, the number as written and as YAML reads it."""
    found = refusal(migration_text.replace(old, new.format(number)))

    assert f": {place}: The value of {place} is {number}, which YAML reads as the number {ODD[number]}." in found
    assert f"Write {NOT_ODD}." in found


def test_yaml_reads_them_so() -> None:
    """The other readings are those of the YAML library itself."""
    assert ODD == {number: yaml.safe_load(number) for number in ODD}


@pytest.mark.parametrize("number", ["2", "+2", "10", "100"])
def test_plain_number_is_taken(migration_text: str, number: str) -> None:
    """Decimal digits are read alike by everyone."""
    file = migration_text.replace("tasks: 2", f"tasks: {number}")

    assert int(number) == load_migration(file, where="shop.yaml").mirror.tasks


@pytest.mark.parametrize("number", ["0o17", "1e3", "'2'", "0_o1", "1,000"])
def test_text_that_looks_like_a_number_is_called_a_text(migration_text: str, number: str) -> None:
    """What YAML reads as a text is refused as one, also if it looks like a number."""
    shown = number.strip("'")

    assert f"is '{shown}', which is a text. No run can start with this file. Write an integer." in refusal(
        migration_text.replace("tasks: 2", f"tasks: {number}")
    )


def test_odd_key_is_shown_as_written(migration_text: str) -> None:
    """A number as a key is shown as it is in the file."""
    assert "shop.yaml: mirror.0777: " in refusal(migration_text.replace("tasks: 2", "tasks: 2\n  0777: 5"))


def test_two_spellings_of_a_key_are_two_keys(migration_text: str) -> None:
    """An odd number equals no other value, so no key replaces another one unseen."""
    with pytest.raises(Refused) as raised:
        load_migration(f"{migration_text}0777: 1\n511: 2\n", where="shop.yaml")

    assert 2 == len(raised.value.findings)


def test_texts_are_never_odd() -> None:
    """Only numbers are."""
    assert not is_odd_number("tag:yaml.org,2002:str", "0777")
