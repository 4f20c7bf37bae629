"""What looks like a secret: names of settings, and forms of values. Code that quotes foreign text uses these functions.

Every pattern has bounded repetitions, so that a hostile text of a megabyte is searched in linear time.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import lru_cache

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.shortened import given

HIDDEN = "a value that is not shown"
_MASK = "***"
# Words that stand for a secret wherever they are in a name, written without separators.
_WORDS = (
    *("password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "jaas", "apikey", "accesskey"),
    *("privatekey", "sharedkey", "accountkey", "keystorekey", "bearer", "basicauth", "userinfo", "authorization"),
)
# The same as a whole part of a name; other names contain their letters by chance.
_PARTS = frozenset({"pass", "passwort", "pwd", "pw", "pin", "sas", "jwt", "auth", "creds"})
_PART = regex(r"[A-Z]?[a-z0-9]{1,40}|[A-Z0-9]{1,40}")
LONGEST_NAME = 1_000
# A longer value is not shown, and not searched.
_LONGEST_VALUE = 10_000

_GAP = r"[\s._-]{0,3}"
_NAMED = "|".join(
    rf"{left}{_GAP}{right}"
    for left, right in (
        *(("pass", "(?:word|wd|phrase|code|wort)"), ("api", "key"), ("access", "key"), ("private", "key")),
        *(("shared", "(?:access)?key"), ("account", "key"), ("secret", ""), ("token", ""), ("credential", "")),
        *(("jaas", ""), ("pwd", ""), ("user", "info"), ("authorization", ""), ("signature", "")),
    )
)
# Searched in lower case: the first letters of its words are found quickly.
_WORD_IN_TEXT = regex(_NAMED)
# password=…, "client_secret": "…", token%3D…
_VALUE_FOLLOWS = regex(r"[\w.\]\\-]{0,60}[\"'\\]{0,3}\s{0,20}(?:=|:|%3d)")
# --password …, -Dtoken …
_ARGUMENT_BEGINS = regex(r"-[\w.-]{0,60}$")
_ARGUMENT_FOLLOWS = regex(r"[\w.-]{0,60}\s{1,20}\S")
# The end of a login in an address; a path has only one slash.
_LOGIN_ENDS = regex(r":/{0,3}[^\s/@:]{1,300}@")
# Each begins with letters that are found quickly.
_FORMS = (
    regex("-----BEGIN"),
    regex(r"eyJ[\w-]{6,}"),
    # Keys of AWS, GitHub, GitLab, Slack and Google.
    regex(r"A(?:KIA|SIA|ROA)[A-Z0-9]{12,}"),
    regex(r"gh[pousr]_\w{16,}"),
    regex("glpat-"),
    regex("xox[abprs]-"),
    regex(r"AIza[\w-]{30,}"),
)
_FORMS_IN_LOWER_CASE = (
    regex("[?&](?:sig|key|code|auth)="),
    regex(r"b(?:asic|earer)(?:\s|%20|\+){1,20}[\w+/.~-]{6,}"),
)
# Only capital letters of ASCII change, so that places in both texts are the same.
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_RUN = regex(r"[A-Za-z0-9+/]{20,}={0,2}")
_HEX = regex(r"(?<![0-9A-Za-z])[0-9a-fA-F]{32,}")
# Random letters change between upper case, lower case and digits at six of ten places, and words at less than three.
_CHANGES = 0.4
# A lookahead of a regular expression is no assignment.
_ASSIGNMENT = regex(r"[\w)\]\"'}\\]\s{0,20}=|[\w\"']:\s|\s-{1,2}\w")


@lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Return whether a setting of this name may hold a secret, also if the name is mistyped or too long to search."""
    if len(name) > LONGEST_NAME:
        return True
    compact = re.sub(r"[^a-z0-9]", "", name.lower())
    if any(word in compact for word in _WORDS):
        return True
    parts = [part.lower() for part in _PART.findall(name)]
    return any(part in _PARTS or _is_mistyped(part) for part in parts)


@lru_cache(maxsize=1024)
def _is_mistyped(part: str) -> bool:
    """Return whether a part of a name is a word for a secret with one wrong letter, two in a longer word, or mixed."""
    part = part.removesuffix("s")
    words = [word for word in _WORDS if len(word) > 4 and abs(len(part) - len(word)) <= 2]
    return any(sorted(part) == sorted(word) or _is_near(part, word, len(word) // 5) for word in words)


def _is_near(part: str, word: str, most: int) -> bool:
    """Return whether so few letters are wrong. Each letter that only one of the words has is a wrong one."""
    letters, of_word = set(part), set(word)
    return len(letters - of_word) <= most and len(of_word - letters) <= most and _distance(part, word) <= most


def _distance(one: str, other: str) -> int:
    """Return how many letters must be added, removed or changed to make one word the other."""
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        before, row[0] = row[0], number
        for place, other_letter in enumerate(other, 1):
            best = min(row[place] + 1, row[place - 1] + 1, before + (letter != other_letter))
            before, row[place] = row[place], best
    return row[-1]


def has_secret_form(text: str) -> bool:
    """Return whether a part of the text looks like a secret."""
    return next(_places(text), None) is not None


def has_key_form(text: str) -> bool:
    """Return whether a part of the text is like a key of a known service, or random: a digest or a word is neither."""
    return any(pattern.search(text) for pattern in _FORMS) or any(map(_is_random, _RUN.findall(text)))


def masked(text: str) -> str:
    """Return the text up to the first part that looks like a secret: what follows may belong to it."""
    start = min(_places(text), default=len(text))
    return text if start == len(text) else f"{text[:start]}{_MASK}"


def may_be_shown(value: str) -> bool:
    """Return whether a value can be shown: it has no form of a secret, no second setting, and is not very long."""
    if len(value) > _LONGEST_VALUE:
        return False
    return not (has_secret_form(value) or _ASSIGNMENT.search(value) or any(map(_names_a_secret, value.split(","))))


def given_unless_secret(value: object) -> str:
    """Return a value as it was given, truncated; a value with the form of a secret is not shown."""
    return given(value) if may_be_shown(str(value)) else HIDDEN


def _names_a_secret(item: str) -> bool:
    """Return whether blanks separate a word for a secret from what may be the secret."""
    words = item.split()
    return len(words) > 1 and any(map(is_secret_name, words))


def _places(text: str) -> Iterator[int]:
    lower = text.translate(_LOWER)
    yield from _named_values(lower)
    if login := _LOGIN_ENDS.search(text):
        yield _word_begins(text, login.start())
    found = [pattern.search(text) for pattern in (*_FORMS, _HEX)]
    found += [pattern.search(lower) for pattern in _FORMS_IN_LOWER_CASE]
    yield from (match.start() for match in found if match)
    yield from (match.start() for match in _RUN.finditer(text) if _is_random(match[0]))


def _word_begins(text: str, place: int) -> int:
    """Return where the word at a place begins, after a blank or a slash; a long word begins at most 600 before."""
    before = text[max(0, place - 600) : place]
    return place - len(re.split(r"[ /\n\t]", before)[-1])


def _named_values(text: str) -> Iterator[int]:
    """Yield where a word for a secret begins to which a value follows; in a lower-case text."""
    for word in _WORD_IN_TEXT.finditer(text):
        if _VALUE_FOLLOWS.match(text, word.end()):
            yield word.start()
        elif _argument_follows(text, word) and (argument := _argument_before(text, word.start())):
            yield word.start() - len(argument)


def _argument_follows(text: str, word: re.Match[str]) -> bool:
    """Return whether a blank and a value follow; the blank may belong to the match."""
    return _ARGUMENT_FOLLOWS.match(text, word.start() + len(word[0].rstrip())) is not None


def _argument_before(text: str, end: int) -> str:
    """Return the beginning of a command's argument before a place, such as `--my-`; empty if there is none."""
    found = _ARGUMENT_BEGINS.search(text[max(0, end - 62) : end])
    return found[0] if found else ""


def _is_random(run: str) -> bool:
    kinds = ["9" if letter.isdigit() else "A" if letter.isupper() else "a" for letter in run if letter.isalnum()]
    changes = sum(one != other for one, other in itertools.pairwise(kinds))
    return {"9", "A", "a"} <= set(kinds) and changes >= _CHANGES * (len(kinds) - 1)
