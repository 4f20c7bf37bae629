"""The secrets of a connection that no log may show, in every form in which clients write them."""

from __future__ import annotations

import difflib
import html
import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

from kafka_migration.core.connections.client_settings import SETTINGS, as_text
from kafka_migration.core.connections.mechanisms import MECHANISMS, jaas_line, jaas_quoted, mechanism_of
from kafka_migration.core.text.secret_forms import is_secret_name

# Parts of names whose values are secrets here, although other tables have harmless keys with them.
_SECRET_PART = re.compile(r"(^|[._-])key([._-]|$)|oauthbearer\.config")
_SECRET_NAMES = tuple(name for name, setting in SETTINGS.items() if setting.is_secret)
# How similar, from 0 to 1, a mistyped name is to the one that was meant.
_SIMILAR = 0.87
_PASSWORD_IN_JAAS = re.compile(
    r"password\s{0,100}=\s{0,100}(?:\"((?:[^\"\\]|\\.)*)|'([^']*)|([^\s;\"']+))", re.IGNORECASE
)
# Pairs of settings that log in together: by SASL, at a token endpoint, by HTTP or SSH.
_LOGINS = (
    ("sasl.username", "sasl.password"),
    ("sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret"),
    ("login", "password"),
)
# Airflow 3.2 and 3.3 mask no secret that is this word (`SECRETS_TO_SKIP_MASKING`).
_NEVER_MASKED = "airflow"
# A shorter rest of a key reveals nothing, and might be an ordinary word.
_MIN_LINE = 6
# A connection may have texts that are no Unicode.
_ODD = "surrogatepass"
_STORED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", **{c: f"\\{c}" for c in "\\=:#!"}}


def secret_texts(config: Mapping[str, object]) -> tuple[str, ...]:
    """Return the secrets of a connection's settings, also as written in logs, properties, JSON and requests; sorted.

    The fields of an Airflow connection are the settings `login` and `password`.
    """
    found: set[str] = set()
    for name, value in config.items():
        if _is_secret(name) and (text := as_text(value)):
            found.update(_forms(text))
    found.update(_jaas_lines(config))
    found.update(_encoded_logins(config))
    return tuple(sorted(text for text in found if text.strip()))


def without_secrets(text: str, config: Mapping[str, object]) -> str:
    """Return a text with every secret of these settings replaced."""
    for secret in sorted(secret_texts(config), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def unmasked_names(config: Mapping[str, object], min_length: int) -> tuple[str, ...]:
    """Return the settings whose secrets Airflow does not mask, because they are too short or too common; sorted.

    :param min_length: characters of the shortest secret that Airflow masks
    """
    secrets = {name: value.strip() for name, value in config.items() if isinstance(value, str) and _is_secret(name)}
    return tuple(
        sorted(
            name
            for name, value in secrets.items()
            if value and (len(value) < min_length or value.lower() == _NEVER_MASKED)
        )
    )


def _is_secret(name: str) -> bool:
    known = SETTINGS.get(name)
    if known:
        return known.is_secret
    is_near = bool(difflib.get_close_matches(name.lower()[:100], _SECRET_NAMES, 1, _SIMILAR))
    return is_near or is_secret_name(name) or _SECRET_PART.search(name.lower()) is not None


def _forms(value: str) -> Iterator[str]:
    if "-----BEGIN" in value:
        # Airflow compiles all masks again for each new one, so a long one in many forms would take seconds.
        yield from _lines_of_pem(value)
        return
    for text in {value, value.strip(), *_passwords_of_jaas(value)}:
        yield from _escaped(text)
        yield from _escaped(jaas_quoted(text)[1:-1])


def _escaped(text: str) -> Iterator[str]:
    """Yield the text as it is and as JSON, Python, properties files, URLs, pages and base64 write it."""
    yield text
    yield _stored(text)
    yield from (quote(text, safe="", errors=_ODD), quote(text, errors=_ODD), quote_plus(text, errors=_ODD))
    yield html.escape(text)
    yield from _in_base64(text)
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield json.dumps(text)[1:-1].replace('\\"', '"')
    yield repr(text)[1:-1]


def _stored(text: str) -> str:
    """Return a text as Java's `Properties.store` writes it."""
    return "".join(_STORED.get(c) or (c if " " <= c <= "~" else _unicode(c)) for c in text)


def _unicode(character: str) -> str:
    """Return a character as the units of UTF-16 that Java writes."""
    return json.dumps(character)[1:-1].upper().replace("\\U", "\\u")


def _in_base64(text: str) -> Iterator[str]:
    """Yield a text in base64 without its padding, also in the alphabet for URLs."""
    raw = text.encode(errors=_ODD)
    yield b64encode(raw).decode().rstrip("=")
    yield urlsafe_b64encode(raw).decode().rstrip("=")


def _encoded_logins(config: Mapping[str, object]) -> Iterator[str]:
    """Yield each login as HTTP's basic authentication (RFC 7617, RFC 6749) and SASL PLAIN (RFC 4616) send it."""
    for names in _LOGINS:
        user, password = (as_text(config.get(name)) or "" for name in names)
        if password:
            yield from _in_base64(f"{user}:{password}")
            yield from _in_base64(f"{quote_plus(user, errors=_ODD)}:{quote_plus(password, errors=_ODD)}")
            yield from _in_base64(f"\0{user}\0{password}")
            yield from _in_base64(f"{user}\0{user}\0{password}")


def _passwords_of_jaas(value: str) -> Iterator[str]:
    for match in _PASSWORD_IN_JAAS.finditer(value):
        quoted = match[1]
        yield match[2] or match[3] or "" if quoted is None else re.sub(r"\\(.)", r"\1", quoted)


def _lines_of_pem(value: str) -> Iterator[str]:
    """Yield the lines of a PEM block, so that it is masked regardless of its line breaks; also as URLs have them."""
    lines = (line.strip() for line in re.split(r"\r\n|\r|\n|\\n", value))
    for line in lines:
        if len(line) >= _MIN_LINE and not line.startswith("-----"):
            yield from (line, quote(line, safe=""), quote(line))


def _jaas_lines(config: Mapping[str, object]) -> Iterator[str]:
    user, password = (as_text(config.get(name)) for name in ("sasl.username", "sasl.password"))
    mechanism = MECHANISMS.get(mechanism_of(config))
    if user and password and mechanism and mechanism.login_module:
        yield from _escaped(jaas_line(mechanism.login_module, user, password))
