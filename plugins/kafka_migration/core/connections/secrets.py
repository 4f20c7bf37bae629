"""The secrets of a Kafka connection that no log may show, in every form in which clients write them."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping

from kafka_migration.core.connections.checks import as_text, mechanism_of
from kafka_migration.core.connections.java_properties import jaas_line, jaas_quoted
from kafka_migration.core.connections.settings import MECHANISMS, SETTINGS
from kafka_migration.core.text.secret_forms import is_secret_name

# Parts of names whose values are secrets here, although other tables have harmless keys with them.
_SECRET_PART = re.compile(r"(^|[._-])key([._-]|$)|oauthbearer\.config")
_SECRET_NAMES = tuple(name for name, setting in SETTINGS.items() if setting.is_secret)
# How similar, from 0 to 1, a mistyped name is to the one that was meant.
_SIMILAR = 0.87
_PASSWORD_IN_JAAS = re.compile(r"password\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|([^\s;\"']+))", re.IGNORECASE)
# A shorter rest of a key reveals nothing, and might be an ordinary word.
_MIN_LINE = 6


def secret_texts(config: Mapping[str, object]) -> tuple[str, ...]:
    """Return the secrets of a connection's settings, also as written in logs, properties and JSON; sorted."""
    found: set[str] = set()
    for name, value in config.items():
        if _is_secret(name) and (text := as_text(value)):
            found.update(_forms(text))
    found.update(_jaas_lines(config))
    return tuple(sorted(text for text in found if text.strip()))


def without_secrets(text: str, config: Mapping[str, object]) -> str:
    """Return a text with every secret of these settings replaced."""
    for secret in sorted(secret_texts(config), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def _is_secret(name: str) -> bool:
    known = SETTINGS.get(name)
    if known:
        return known.is_secret
    is_near = bool(difflib.get_close_matches(name.lower()[:100], _SECRET_NAMES, 1, _SIMILAR))
    return is_near or is_secret_name(name) or _SECRET_PART.search(name.lower()) is not None


def _forms(value: str) -> Iterator[str]:
    for text in {value, value.strip(), *_passwords_of_jaas(value)}:
        yield from _escaped(text)
        yield from _escaped(jaas_quoted(text)[1:-1])
    yield from _lines_of_pem(value)


def _escaped(text: str) -> Iterator[str]:
    """Yield the text as it is and as JSON, Python and properties files write it."""
    yield text
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield json.dumps(text)[1:-1].replace('\\"', '"')
    yield repr(text)[1:-1]


def _passwords_of_jaas(value: str) -> Iterator[str]:
    for match in _PASSWORD_IN_JAAS.finditer(value):
        quoted = match[1]
        yield match[2] or match[3] or "" if quoted is None else re.sub(r"\\(.)", r"\1", quoted)


def _lines_of_pem(value: str) -> Iterator[str]:
    """Yield the lines of a PEM block, so that it is masked regardless of its line breaks."""
    if "-----BEGIN" in value:
        lines = (line.strip() for line in re.split(r"\r\n|\r|\n|\\n", value))
        yield from (line for line in lines if len(line) >= _MIN_LINE and not line.startswith("-----"))


def _jaas_lines(config: Mapping[str, object]) -> Iterator[str]:
    user, password = (as_text(config.get(name)) for name in ("sasl.username", "sasl.password"))
    mechanism = MECHANISMS.get(mechanism_of(config))
    if user and password and mechanism and mechanism.login_module:
        yield from _escaped(jaas_line(mechanism.login_module, user, password))
