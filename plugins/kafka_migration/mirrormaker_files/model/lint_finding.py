"""What every lint rule shares: the finding, the versions that it is judged against, and safe ways to show a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.secret_forms import HIDDEN, is_secret_name, masked, may_be_shown
from kafka_migration.core.text.shortened import brief, given
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode, Severity
from kafka_migration.mirrormaker_files.model.mirror_settings import COMMENT, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import NOT_IN_TABLES, OLD_KEYS, is_free

_SECRET = regex(r"(?:password|passwd|secret|credentials)$|ssl\.keystore\.key$|jaas\.config$|basic\.auth\.user\.info$")
# Certificates are public, although Kafka hides them.
_PUBLIC = frozenset({"ssl.keystore.certificate.chain", "ssl.truststore.certificates"})
# An option of a JAAS configuration with its value.
_JAAS_OPTION = regex(
    r"(?<![\w.-])(?P<name>[\w.-]{1,100})\s{0,20}=\s{0,20}\\?(?:\"(?P<quoted>[^\"]{0,2000})|(?P<bare>[^\s;\"]{1,2000}))"
)
# `${provider:path:key}`, `${VARIABLE}`, `$(VARIABLE)` and `{{ expression }}`.
REFERENCE = regex(r"\$\{[^{}]{0,500}\}|\$\([^()]{0,500}\)|\{\{[^{}]{0,500}\}\}")
_SHOWN_OPTIONS = frozenset(
    {"whitelist", "include", "blacklist", "num.streams", "offset.commit.interval.ms", "abort.on.send.failure"}
)
# Keys of internal topics, which no table has and which are numbers.
_NUMBERS = regex(
    r"(?:topic\.creation\.[\w-]{1,100}|(?:config|offset|status)\.storage)"
    r"\.(?:replication\.factor|partitions|min\.insync\.replicas)"
)
# `value_of` leaves only the sign of a comment.
_FOREIGN_COMMENT = regex(r"\s#(?!…)")
_PLACEHOLDER = regex(r"<[A-Za-z][\w .:-]{0,60}>")
_BASE64 = regex(r"[A-Za-z0-9]*[+/=][A-Za-z0-9+/=]*")
# Findings about a key or an option, wherever its value stands.
_ABOUT_NAMES = ("KEY", "OPTION", "CLIENT_FILE", "START", "ALIAS")
# A message has at most so many characters, of which at most so many are searched for secrets.
_LONGEST_TEXT, _MOST_SEARCHED = 600, 2_000


@dataclass(frozen=True, slots=True)
class LintFinding(Document):
    """One mistake in a file. A line of 0 means the file as a whole.

    `found` is what is written, `effect` its consequence, `fix` what to do. `others` are further lines with the same
    cause.
    """

    code: LintCode
    file: str
    line: int
    key: str
    found: str
    effect: str
    fix: str
    others: tuple[int, ...] = ()

    @property
    def severity(self) -> Severity:
        """The severity of the code; a key that only costs time if its default stays is a warning."""
        is_slow = self.code in _OF_MEANT_KEYS and _COSTS_TIME.search(f"{self.key} {self.fix}")
        return Severity.WARNING if is_slow else self.code.severity

    @property
    def message(self) -> str:
        """What is wrong and what to do, without severity, code and place."""
        subject = f"{self.key}: " if self.key else ""
        lines = f" (also {_lines(self.others)})" if self.others else ""
        return subject + " ".join(map(_sentence, (self.found + lines, self.effect, self.fix)))

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{self.severity} {self.code} · {place} · {self.message}"


_OF_MEANT_KEYS = frozenset({LintCode.KEY_MISSPELLED, LintCode.KEY_NEVER_EXISTED})
_COSTS_TIME = regex(
    r"refresh|interval|linger|batch\.size|backoff|timeout|tasks|client\.id|retention|buffer|metric|poll|queue|lag\.max|fetch"
)
_MOST_LINES = 8


def _lines(numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - _MOST_LINES:,} more" if len(numbers) > _MOST_LINES else ""
    return f"line{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers[:_MOST_LINES]))}{more}"


def _sentence(text: str) -> str:
    """Return a text with a capital letter, unless it starts with a name, and a full stop."""
    text = text if text[:1] in {"`", ""} else text[0].upper() + text[1:]
    return text if text.endswith((".", "!")) else f"{text}."


def minor(version: str) -> str:
    """Return `major.minor` of a version."""
    return ".".join(version.split(".")[:2])


def at(
    file: MirrorFile,
    setting: MirrorSetting,
    code: LintCode,
    found: str,
    effect: str,
    fix: str,
    others: tuple[int, ...] = (),
) -> LintFinding:
    """Return a finding about one setting, and about further lines with the same cause."""
    texts = quoted(found), quoted(effect), quoted(fix)
    is_of_value = setting.origin is not None and not code.startswith(_ABOUT_NAMES)
    name, line = setting.origin if setting.origin and is_of_value else (file.name, setting.line)
    return LintFinding(code, name, line, name_of(setting), *texts, others)


def on_file(file: MirrorFile, code: LintCode, found: str, effect: str, fix: str, line: int = 0) -> LintFinding:
    """Return a finding about what is missing: on the line that it belongs to, or about the file as a whole."""
    return LintFinding(code, file.name, line, "", quoted(found), quoted(effect), quoted(fix))


def may_be_secret(setting: MirrorSetting) -> bool:
    """Return whether the value of this key may be a secret, also if no part of Kafka reads the key."""
    return _SECRET.search(setting.key.lower()) is not None or is_read_as_secret(setting)


def is_read_as_secret(setting: MirrorSetting) -> bool:
    """Return whether Kafka or a plug-in reads the value as a secret, so that it should not be in a file.

    Kafka hides the values of type PASSWORD; providers and plug-ins read keys that no table has.
    """
    if setting.place is Place.FIELD or setting.key in _PUBLIC:
        return False
    types = kafka_keys().types_of(setting.key)
    return "PASSWORD" in types or (not types and is_free(setting) and _names_secret(setting.key))


def _names_secret(key: str) -> bool:
    """Return whether the key of a plug-in names a secret, and not where the secret is."""
    return is_secret_name(key) and not key.endswith(_PLACES_OF_SECRETS)


_PLACES_OF_SECRETS = (".class", ".url", ".uri", ".path", ".paths", ".file", ".location", ".type", ".source", ".name")


def has_secret(setting: MirrorSetting) -> bool:
    """Return whether the value holds a secret as plain text, alone or beside a reference."""
    if not is_read_as_secret(setting):
        return False
    if not setting.key.endswith("jaas.config"):
        return _is_plain(setting.value)
    options = _JAAS_OPTION.finditer(setting.value)
    return any(is_secret_name(each["name"]) and _is_plain(each["quoted"] or each["bare"] or "") for each in options)


def has_comment(setting: MirrorSetting) -> bool:
    """Return whether a value is followed by what looks like a comment."""
    return not is_read_as_secret(setting) and COMMENT.search(setting.value) is not None


def _is_plain(text: str) -> bool:
    """Return whether letters or digits remain after references are taken out; a placeholder `<word>` is no secret."""
    return not _PLACEHOLDER.fullmatch(text.strip().strip("\"'")) and any(map(str.isalnum, REFERENCE.sub("", text)))


def the_value(setting: MirrorSetting, part: str | None = None) -> str:
    """Return "the value 'x'", or the named part of it, for a finding; or that it is not shown."""
    return f"the value {value_of(setting, part)}" if is_shown(setting) else HIDDEN


def value_of(setting: MirrorSetting, part: str | None = None) -> str:
    """Return the value, or the named part of it, for a finding; or that it is not shown.

    Every message gets values from here. A value is shown if its key is one of Kafka's that holds no secret, and the
    whole value has no form of a secret. The text of a comment is never shown.
    """
    if not is_shown(setting):
        return HIDDEN
    if part is not None:
        return given(part)
    text, comment, _ = setting.value.partition(_comment_in(setting.value))
    return given(f"{text}{comment}…" if comment else setting.value)


def value_as_read(setting: MirrorSetting, value: str) -> str:
    """Return what a reader gets of a setting, such as its value without blanks; or that it is not shown."""
    return value_of(setting) if COMMENT.search(value) else value_of(setting, value)


@lru_cache(maxsize=1024)
def value_of_kafka(value: str) -> str:
    """Return a value that Kafka makes, which may hold an alias or the name of a connector, unless it has a secret."""
    return given(quoted(value)) if may_be_shown(value) else HIDDEN


@lru_cache(maxsize=1024)
def shown_key(key: str) -> str:
    """Return the key under which a reader gets a value."""
    return brief(quoted(_visible(key)), 100)


@lru_cache(maxsize=8)
def is_shown(setting: MirrorSetting) -> bool:
    """Return whether the value may be shown."""
    text = COMMENT.split(setting.value, maxsplit=1)[0]
    return _has_shown_key(setting) and may_be_shown(text)


def _comment_in(value: str) -> str:
    found = COMMENT.search(value)
    return found[0] if found else "\0"


def _has_shown_key(setting: MirrorSetting) -> bool:
    """Return whether the key is known and holds no secret; a mistyped key is unknown."""
    if setting.place in {Place.FIELD, Place.OPTION}:
        return setting.place is Place.OPTION and setting.key in _SHOWN_OPTIONS
    types = kafka_keys().types_of(setting.key)
    is_known = types or setting.key in OLD_KEYS or setting.key in NOT_IN_TABLES or _NUMBERS.fullmatch(setting.key)
    return bool(is_known) and "PASSWORD" not in types and not is_secret_name(setting.key)


def name_of(setting: MirrorSetting) -> str:
    """Return the name of a setting as it is shown. A value whose key stands on the line before is read as a name."""
    is_word = not setting.value and "." not in setting.name and setting.place not in {Place.OPTION, Place.FIELD}
    if is_word and not kafka_keys().roles_of(setting.name):
        return HIDDEN
    return brief(_visible(setting.name), 100)


def key_of(setting: MirrorSetting, key: str | None = None) -> str:
    """Return the key of a setting, or one that is made from it, as a value that was given."""
    return given(_visible(setting.key if key is None else key))


def place_of(setting: MirrorSetting) -> str:
    """Return the place of a setting with its owner."""
    return brief(f"{setting.place} {_visible(setting.owner)}".strip(), 100)


def _visible(name: str) -> str:
    return name if may_be_shown(name) and not _BASE64.fullmatch(name) else "***"


def quoted(text: str) -> str:
    """Return a text with foreign words for a finding: no comment, nothing that looks like a secret, not too long."""
    return brief(_FOREIGN_COMMENT.split(masked(text[:_MOST_SEARCHED]), maxsplit=1)[0], _LONGEST_TEXT)


# What happened and why it matters, by the code of a refusal.
_SENTENCES = {
    Code.MIRROR_FILE_UNREADABLE: (
        "Instead of {expected}, the file has: {found}.",
        "Nothing in this file was judged or imported.",
    ),
    Code.MIRROR_FILE_NOT_IMPORTED: (
        "The files have {found}; an import needs {expected}.",
        "No migration file was made, because a guess could copy other records than MirrorMaker does.",
    ),
}


def refusal(code: Code, subject: str, found: str, expected: str, remedy: str) -> Finding:
    """Return a finding that refuses a file, with one of the two codes of such findings."""
    subject, found, expected, remedy = map(quoted, (subject, found, expected, remedy))
    happened, matters = _SENTENCES[code]
    happened = happened.format(found=found, expected=expected)
    return Finding(code, subject, found, expected, remedy, happened=happened, matters=matters)


def listed(value: str) -> list[str]:
    """Return the items of a list as Kafka splits it."""
    return [item for item in map(str.strip, value.split(",")) if item]


def is_true(setting: MirrorSetting | None) -> bool:
    """Return whether a boolean is given and true."""
    return setting is not None and setting.value.strip().lower() == "true"


def is_false(setting: MirrorSetting | None) -> bool:
    """Return whether a boolean is given and false."""
    return setting is not None and setting.value.strip().lower() == "false"


def span(versions: Sequence[str]) -> str:
    """Return the versions in words."""
    first, last = minor(versions[0]), minor(versions[-1])
    return f"Kafka {first}" if first == last else f"Kafka {first} to {last}"
