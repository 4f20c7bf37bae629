"""Describes each mistake of a migration file as a finding."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.patterns import pattern_problem
from kafka_migration.core.text.quoting import yaml_string
from kafka_migration.core.text.shortened import brief, given, some
from kafka_migration.migration_file.scalars import FORMS, is_secret

LONGEST_NAME = 100
LONGEST_MESSAGE = 1_000
# What a regular expression for names is made of, and the signs that no name of a topic has.
_OF_PATTERNS = re.compile(r"[A-Za-z0-9._(){}\[\]|*+?^$\\,:!=<>-]{1,100}")
_SIGNS = frozenset("()[]|*+?^$\\")
# Parts of values that may be secrets: a login in an address, and a password in Java's settings.
_SECRET_PARTS = re.compile(r"(?<=//)[^/\s]{0,300}(?=@)|(?<=password=)[^\s;]+|(?<=secret=)[^\s;]+", re.IGNORECASE)

# What everyone reads as the number that YAML reads.
_PLAIN = re.compile(r"[-+]?(?:0|[1-9][0-9]*|[0-9]+\.[0-9]*)")
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
NOT_ODD = "a number in decimal digits only, a duration with its unit such as 90s, or a text in quotes"


@dataclass(frozen=True, slots=True, repr=False)
class OddNumber:
    """A number that YAML 1.1 reads in another way than people do, such as 0777 (511), 1:30 (90) and 1_000 (1000)."""

    text: str
    value: int | float

    def __str__(self) -> str:
        return f"{self.text}, which YAML reads as the number {given(self.value)}"

    def __repr__(self) -> str:
        return self.text


def is_odd_number(tag: str, text: object) -> bool:
    """Return whether a scalar of this tag is a number that is not written in plain decimal digits."""
    return tag in _NUMBERS and isinstance(text, str) and _PLAIN.fullmatch(text) is None


def invalid(subject: str, found: str, expected: str, happened: str, remedy: str = "") -> Finding:
    """Return the finding for one mistake; the usual remedy is to write what is expected, or to remove what is not."""
    act = "Remove it:" if expected.startswith("no ") else "Write"
    return Finding(
        Code.MIGRATION_FILE_INVALID,
        subject,
        found,
        expected,
        remedy or f"{act} {expected}. `kafka-migration schema` lists every field.",
        happened=happened,
        matters="No run can start with this file.",
    )


def wrong_value(where: str, path: str, found: str, expected: str, remedy: str = "") -> Finding:
    """Return the finding for a value that is not as expected; an empty path means the whole file."""
    happened = f"The value of {path} is {found}." if path else f"The file is {found}."
    return invalid(f"{where}: {path}" if path else where, found, expected, happened, remedy)


# Replacements for pydantic's own messages, with the values of its context.
_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "greater_than_equal": "a number of at least {ge}",
    "int_type": "an integer",
    "invalid_key": "a name in quotes as key",
    "less_than_equal": "a number of at most {le}",
    "list_type": "a list",
    "literal_error": "{expected}",
    "model_type": "a mapping of the fields of this section",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "{min_length} or more characters",
    "string_type": "a text",
    "too_long": "at most {max_length} items",
    "too_short": "{min_length} or more items",
}


def mistakes(form: type[BaseModel], where: str, errors: Sequence[ErrorDetails], most: int) -> tuple[list[Finding], int]:
    """Return findings on the first errors of pydantic, and how many more there are; a wrong key is one mistake."""
    wrong_keys = {error["loc"][:-1] for error in errors if error["loc"][-1:] == ("[key]",)}
    found = [error for error in errors if error["loc"] not in wrong_keys]
    return [_mistake(form, where, error) for error in found[:most]], len(found[most:])


def _mistake(form: type[BaseModel], where: str, details: ErrorDetails) -> Finding:
    path = ".".join(brief(str(part), LONGEST_NAME) or "''" for part in details["loc"])
    if details["type"] == "extra_forbidden":
        known, remedy = _did_you_mean(form, details["loc"])
        return invalid(f"{where}: {path}", "an unknown field", known, f"A migration file has no field {path}.", remedy)
    if details["type"] == "missing":
        remedy = "Add the field; `kafka-migration schema` lists every field."
        required = f"The required field {path} is missing."
        return invalid(f"{where}: {path}", "nothing", "a value; the field is required", required, remedy)
    return wrong_value(where, path, _shown(details), brief(_expected(details), LONGEST_MESSAGE), _as_pattern(details))


def _as_pattern(details: ErrorDetails) -> str:
    """Return how to write a topic's name that is meant as a regular expression; empty for any other value."""
    value = details["input"]
    is_name = details["type"] == "string_pattern_mismatch" and details["loc"][::2] == ("topics", "name")
    if not is_name or _OF_PATTERNS.fullmatch(value) is None or _SIGNS.isdisjoint(value) or pattern_problem(value):
        return ""
    return f"Write it as a pattern: `- pattern: {yaml_string(value)}`."


def _expected(details: ErrorDetails) -> str:
    if isinstance(details["input"], OddNumber):
        return NOT_ODD
    context = details.get("ctx", {})
    if details["type"] == "string_pattern_mismatch":
        return FORMS[context["pattern"]]
    own_message = details["msg"].removeprefix("Value error, ")
    return _EXPECTED[details["type"]].format(**context) if details["type"] in _EXPECTED else own_message


# Fields that one may look for in this section, and that stand elsewhere.
_MOVED = {
    ("validation", "compacted"): "Set compacted in the items of topics.",
    ("validation", "timestamps"): "Set timestamps in the items of topics.",
}


def _shown(details: ErrorDetails) -> str:
    """Return the wrong value without what may be a secret."""
    if any(is_secret(str(part)) for part in details["loc"]) and details["loc"][-1] != "[key]":
        return "a value that may be a secret"
    value = details["input"]
    if isinstance(value, OddNumber):
        return str(value)
    if isinstance(value, dict):
        return f"a mapping of {some([str(key) for key in value])}" if value else "an empty mapping"
    if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        return f"a list of {len(value):,} items"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    shown = _SECRET_PARTS.sub("***", given(value))
    return f"{shown}, which is a text" if isinstance(value, str) and details["type"] == "int_type" else shown


def _did_you_mean(form: type[BaseModel], location: tuple[int | str, ...]) -> tuple[str, str]:
    known = sorted(_fields_at(form, location[:-1]))
    if location in _MOVED:
        return f"one of {', '.join(known)}", _MOVED[location]
    if is_secret(str(location[-1])):
        return "no secret in this file", "Put it in the Airflow connection, and remove the field."
    near = difflib.get_close_matches(str(location[-1]), known, n=1, cutoff=0.5)
    hint = f"Write {near[0]!r} if that was meant, or remove the field." if near else "Remove the field."
    return f"one of {', '.join(known)}", hint


def _fields_at(form: type[BaseModel], location: tuple[int | str, ...]) -> set[str]:
    model = form
    # A number is an index in a list of models, which all have the same fields.
    for part in (part for part in location if isinstance(part, str)):
        model = next(_models_in(model.model_fields[part].annotation), model)
    return set(model.model_fields)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in an annotation, such as those of a list of models."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)
