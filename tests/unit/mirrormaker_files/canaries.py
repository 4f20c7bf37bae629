"""MirrorMaker files in which one value is a secret, under a key that says so, a mistyped key, or in the form of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tests.unit.mirrormaker_files.planted import CLEAN, PLANTED
from tests.unit.mirrormaker_files.public_files import PUBLIC

CANARY = "Zq7canary"
# A key and its value in properties, JSON or YAML, or an option of a command with its value.
_PAIR = re.compile(r"""(?P<key>[\w.>-]*[\w>])(?P<between>["']?[ ]*(?:=|:[ ])[ ]*["']?|[ ]+)(?P<value>[^",}\]\n]+)""")

KEYS: tuple[Callable[[str], str], ...] = (
    # Mistyped: a letter too few or too many, two letters changed places, another case or separator.
    lambda key: key[:-2] + key[-1],
    lambda key: f"{key}{key[-1]}",
    lambda key: key[:-2] + key[-2:][::-1],
    lambda key: key.replace(".", "_") + "_",
    lambda key: key.title(),
    # Words of secrets at any place of the key.
    lambda key: f"{key}.password",
    lambda key: f"{key}.vault.token",
    lambda key: f"{key}.aws.secret.access.key",
    lambda key: f"{key}ApiKey",
    lambda key: re.sub(r"[\w-]+$", "sasl.jaas.confg", key),
    lambda key: re.sub(r"[\w-]+$", "ssl.keystore.pasword", key),
    lambda key: re.sub(r"[\w-]+$", "sasl_jaas_config", key),
    lambda key: re.sub(r"[\w-]+$", "SASL_PASSWORD", key),
    lambda key: re.sub(r"[\w-]+$", "config.providers.vault.param.token", key),
    lambda key: re.sub(r"[\w-]+$", "x.secret.interval.ms", key),
    lambda key: re.sub(r"[\w-]+$", "token.class", key),
)
VALUES = (CANARY, f'"{CANARY}"', f"{CANARY} ", f"{CANARY} # comment", f"{CANARY}*", f"{CANARY}\\.x", f"ab{{1,{CANARY}")
FORMS = (
    f"password={CANARY}",
    f"a, client_secret={CANARY}",
    f"ssl.keystore.pasword={CANARY}",
    f"4 # the password is {CANARY}",
    f"4 # {CANARY}",
    f"required username='u' password='{CANARY}';",
    f"https://user:{CANARY}@host/path",
    f"user:{CANARY}@broker:9092",
    f"amqp:/user:{CANARY}@broker:9092",
    f"https://host/x?sig={CANARY}",
    f"-----BEGIN PRIVATE KEY-----{CANARY}",
    f"eyJhbGciOiJIUzI1NiJ9.{CANARY}",
    f"Basic {CANARY}{CANARY}",
    f"Bearer {CANARY}{CANARY}",
    f"AKIA{CANARY.upper()}ABCDEFGH",
    f"a3B9xK2mQ8zR5tY1wP6vL4nJ7{CANARY}",
    f"9f86d081884c7d659a2feaa0c55ad015{CANARY}".replace("Zq7canary", "a3bf4f1b2b0b822c"),
    f"-Djavax.net.ssl.keyStorePassword={CANARY}",
    f"x --token {CANARY}",
    f"token {CANARY}",
    f"sasl.password: {CANARY}",
    f"\\u0070assword={CANARY}",
)


def texts() -> Iterator[tuple[str, str]]:
    """Yield each sample file with its name."""
    yield from ((name, text) for name, (text, _) in PLANTED.items())
    yield from CLEAN.items()
    yield from ((name, text) for files in PUBLIC.values() for name, text in files.items())


def with_secret_keys(text: str) -> Iterator[str]:
    """Yield the text with one value replaced by the canary, under each of the keys."""
    for match in _PAIR.finditer(text):
        for number, change in enumerate(KEYS):
            value = VALUES[number % len(VALUES)]
            yield _replaced(text, match, f"{change(match['key'])}{match['between']}{value}")


def with_secret_forms(text: str) -> Iterator[str]:
    """Yield the text with one value replaced by each form of a secret."""
    for match in _PAIR.finditer(text):
        for form in FORMS:
            yield _replaced(text, match, f"{match['key']}{match['between']}{form}")


def _replaced(text: str, match: re.Match[str], new: str) -> str:
    return f"{text[: match.start()]}{new}{text[match.end() :]}"
