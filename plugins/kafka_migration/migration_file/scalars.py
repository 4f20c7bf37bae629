"""The base of the models of migration files, and their scalar types, with the expected values for error messages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from difflib import get_close_matches
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from croniter import croniter
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from kafka_migration.core.findings.codes import ACCEPTABLE
from kafka_migration.core.migration.aliases import ALIAS_FORM, ALIAS_WORDS
from kafka_migration.core.migration.client_tuning import tuning_problem
from kafka_migration.core.migration.patterns import pattern_problem
from kafka_migration.core.migration.secret_properties import SECRET_PROPERTIES
from kafka_migration.core.migration.settings import NightlySettings

_DURATION = re.compile(r"([0-9]{1,6})([smhd])")
# The properties of a connection's Java clients that may be secrets.
SECRETS = sorted(SECRET_PROPERTIES)
_SECRET = re.compile(r"passw|passphrase|secret|token|credential|jaas|private.?key|api.?key", re.IGNORECASE)
_TIME_OF_DAY = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
# Any moment works; a fixed one gives the same result every day.
_SOME_DAY = datetime(2030, 1, 1)  # noqa: DTZ001
LONGEST_S = 366 * 86_400
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Strict(BaseModel):
    """No unknown keys, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _duration_s(value: Any) -> int:
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError('a duration: digits and one of s, m, h, d, such as "90s" or "6h"')
    seconds = int(match[1]) * _SECONDS[match[2]]
    if seconds == 0:
        raise ValueError("a duration of at least 1s")
    if seconds > LONGEST_S:
        raise ValueError(f"a duration of at most {LONGEST_S // 86_400}d")
    return seconds


def up_to(limit: str) -> AfterValidator:
    """Return the check that a duration is not longer than the given one."""

    def check(seconds: int) -> int:
        if seconds > _duration_s(limit):
            raise ValueError(f"a duration of at most {limit}")
        return seconds

    return AfterValidator(check)


def _regular_expression(value: str) -> str:
    if problem := pattern_problem(value):
        raise ValueError(problem)
    return value


def _version(value: Any) -> int:
    """Refuse values that equal 1 in Python, such as `true`."""
    if type(value) is int and value > 1:
        raise ValueError("the number 1; a file of a later version needs a later release of this package")
    if type(value) is not int or value != 1:
        raise ValueError("the number 1")
    return value


def _acceptable(code: str) -> str:
    if code not in ACCEPTABLE:
        near = get_close_matches(code.upper(), ACCEPTABLE, 1)
        raise ValueError(near[0] if near else "a code that may be accepted")
    return code


def _no_secret(name: str) -> str:
    if is_secret(name):
        raise ValueError("an argument without a secret, such as the id of an Airflow connection")
    return name


def is_secret(name: str) -> bool:
    """Return whether a field of this name usually has a secret as its value."""
    return _SECRET.search(name) is not None


def _any_case(pattern: str) -> str:
    """Return a regular expression of letters for either case: that of JSON Schema has no flags."""
    return re.sub("[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", pattern)


def _tuning_key(value: str) -> str:
    problem = tuning_problem(value)
    if problem:
        raise ValueError(problem)
    return value


_CRON = 'a cron expression of five fields with values that exist, such as "0 1 * * *"'


def _cron_expression(value: str) -> str:
    # In croniter a field that starts with `R` is a random value, which changes at each evaluation.
    if len(value.split()) != 5 or any(field.upper().startswith("R") for field in value.split()):
        raise ValueError(_CRON)
    try:
        croniter(value, _SOME_DAY).get_next()
    except ValueError:
        raise ValueError(f"{_CRON}, with a date that occurs") from None
    return value


def last_tick(settings: NightlySettings, now: datetime) -> datetime:
    """Return the newest tick of the schedule up to now, in UTC."""
    # `get_prev` excludes a tick at exactly the given moment.
    local = now.astimezone(ZoneInfo(settings.timezone)) + timedelta(microseconds=1)
    tick: datetime = croniter(settings.cron, local).get_prev(datetime)
    return tick.astimezone(UTC)


def _time_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (OSError, ValueError, KeyError):
        raise ValueError('a time zone of the IANA database, such as "UTC" or "Europe/Berlin"') from None
    return value


def _time_of_day(value: Any) -> time:
    match = _TIME_OF_DAY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError('a local time between "00:00" and "23:59", in quotes')
    return time(int(match[1]), int(match[2]))


# What editors check: JSON Schema cannot say how long a duration may be.
DURATION_SCHEMA = {
    "type": "string",
    "pattern": "^(?!0+[smhd])[0-9]{1,6}[smhd]$",
    "examples": ["90s", "10m", "6h", "2d"],
}
TIME_OF_DAY_SCHEMA = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$", "examples": ["05:30"]}

Duration = Annotated[int, BeforeValidator(_duration_s), Field(ge=1), WithJsonSchema(DURATION_SCHEMA)]
"""Seconds, written as `90s`, `10m`, `6h` or `2d`."""

TimeOfDay = Annotated[time, BeforeValidator(_time_of_day), WithJsonSchema(TIME_OF_DAY_SCHEMA)]
"""A local time, written as `"05:30"`; without quotes YAML reads a number."""

# What a text of each form must be, by its regular expression.
FORMS: dict[str, str] = {}


def _form(pattern: str, expected: str, min_length: int | None = None, max_length: int | None = None) -> Any:
    FORMS[pattern] = expected
    return StringConstraints(pattern=pattern, min_length=min_length, max_length=max_length)


_NAME = _form(
    r"^[a-z0-9][a-z0-9-]{0,62}$", "lower-case ASCII letters, digits and hyphens, at most 63, not first a hyphen"
)
_CONNECTION_ID = _form(
    r"^[A-Za-z0-9_.-]{1,200}$", "the id of an Airflow connection: ASCII letters, digits, dots, _ and -"
)
_ID = _form(r"^[A-Za-z0-9_.-]{1,249}$", "the id of a DAG: ASCII letters, digits, dots, _ and -")
_TOPIC = _form(
    r"^([A-Za-z0-9_-]|\.[A-Za-z0-9_-]|\.\.[A-Za-z0-9._-])[A-Za-z0-9._-]{0,248}$",
    "the name of a topic: ASCII letters, digits, dots, _ and -, at most 249, not only one or two dots",
    max_length=249,
)
_PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f]+$"
_PRINTED = "a text without control characters"
_CLASS = _form(r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+$", "a class path such as shop.kafka.Notifier")
_TOPIC_PATTERN = _form(
    r"^[A-Za-z0-9._-]*\{topic\}[A-Za-z0-9._-]*$",
    "{topic} once, with ASCII letters, digits, dots, _ and -",
    max_length=200,
)
_PROPERTY = _form(r"^(consumer|producer)\.[a-z][a-z0-9._-]{0,100}$", "a client setting such as producer.linger.ms")
_PROPERTY_VALUE = _form(r"^[A-Za-z0-9._-]{1,100}$", "ASCII letters, digits, dots, _ and -, in quotes")
_CONFIG = _form(r"^[a-z][a-z0-9]*(\.[a-z0-9]+)+$", "a topic setting such as retention.ms", max_length=100)
_CONFIG_VALUE = _form(r"^[A-Za-z0-9._:,*-]{1,200}$", "a value in quotes: ASCII letters, digits, and . , : * _ -")
_SECRET_PROPERTY = _form(f"^({'|'.join(map(re.escape, SECRETS))})$", f"one of {', '.join(SECRETS)}")
_REFERENCE = _form(
    r"^\$\{[A-Za-z0-9_.-]{1,100}:[^\x00-\x1f\x7f-\x9f${}]{1,500}\}$",
    'a reference through a config provider of the workers, such as "${file:/etc/kafka-connect/shop.properties:source}"',
)
_PATH = _form(r"^/[A-Za-z0-9._/+-]{0,500}$", "an absolute path of ASCII letters, digits, dots, /, +, _ and -")

AcceptedCode = Annotated[
    str, AfterValidator(_acceptable), WithJsonSchema({"type": "string", "enum": sorted(map(str, ACCEPTABLE))})
]
Name = Annotated[str, _NAME]
ConnectionId = Annotated[str, _CONNECTION_ID]
TopicName = Annotated[str, _TOPIC]
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=500), AfterValidator(_regular_expression)]
UserId = Annotated[str, _form(_PRINTABLE, _PRINTED, min_length=1, max_length=250)]
GroupName = Annotated[str, _form(_PRINTABLE, _PRINTED, min_length=1, max_length=1000)]
Version = Annotated[Literal[1], BeforeValidator(_version)]
DagId = Annotated[str, _ID]
Alias = Annotated[str, _form(ALIAS_FORM, ALIAS_WORDS)]
ArgumentName = Annotated[
    str, AfterValidator(_no_secret), WithJsonSchema({"type": "string", "not": {"pattern": _any_case(_SECRET.pattern)}})
]
ClassName = Annotated[str, _CLASS]
TopicPattern = Annotated[str, _TOPIC_PATTERN]
PropertyName = Annotated[str, _PROPERTY, AfterValidator(_tuning_key)]
PropertyValue = Annotated[str, _PROPERTY_VALUE]
TopicConfigName = Annotated[str, _CONFIG]
TopicConfigValue = Annotated[str, _CONFIG_VALUE]
HostPath = Annotated[str, _PATH]
SecretProperty = Annotated[str, _SECRET_PROPERTY]
SecretReference = Annotated[str, _REFERENCE]
CronExpression = Annotated[
    str,
    StringConstraints(max_length=200),
    AfterValidator(_cron_expression),
    WithJsonSchema({"type": "string", "maxLength": 200, "pattern": r"^\s*\S+(\s+\S+){4}\s*$"}),
]
TimeZone = Annotated[str, AfterValidator(_time_zone)]
