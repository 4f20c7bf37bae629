"""Rules on producers that Kafka refuses, because idempotence is on and another setting does not allow it.

As `ProducerConfig.postProcessAndValidateIdempotenceConfigs` decides.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.ground.views import at_given, is_given, says, value
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile

_IDEMPOTENCE, _TRANSACTION = "enable.idempotence", "transactional.id"
_MOST_IN_FLIGHT = 5
_NUMBER = regex(r"[0-9]{1,9}")
# What idempotence requires of each key, and what to write.
_REQUIRED = {
    "acks": ("`acks` is not all", "Write `acks=all`"),
    "retries": ("`retries` is 0", "Remove it"),
    "max.in.flight.requests.per.connection": (
        f"`max.in.flight.requests.per.connection` is above {_MOST_IN_FLIGHT}",
        f"Write at most {_MOST_IN_FLIGHT}",
    ),
}


def is_refused(each: Effective, key: str) -> bool:
    """Return whether a producer with idempotence that is switched on by a line, or by Kafka, does not allow a value."""
    return says(each, _IDEMPOTENCE, "true") and _breaks(key, value(each, key))


def _breaks(key: str, word: str) -> bool:
    if key == "acks":
        return word in {"0", "1"}
    is_number = _NUMBER.fullmatch(word) is not None
    return is_number and (int(word) == 0 if key == "retries" else int(word) > _MOST_IN_FLIGHT)


def idempotence(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each value that a producer with idempotence, or a transaction without it, does not allow."""
    for each in ground.readers.at("producer"):
        for key, (words, fix) in _REQUIRED.items():
            given = each.values.get(key)
            if given and is_given(given, file) and is_refused(each, key):
                yield _refused(file, given, each, words, f"{fix}, or remove `{_IDEMPOTENCE}=true`.")
        given = each.values.get(_TRANSACTION)
        if given and is_given(given, file) and says(each, _IDEMPOTENCE, "false"):
            yield _refused(file, given, each, "it is a transaction", f"Add `{_IDEMPOTENCE}=true` beside it.")


def _refused(file: MirrorFile, given: Given, each: Effective, words: str, fix: str) -> LintFinding:
    switch = each.values[_IDEMPOTENCE]
    state = "on" if says(each, _IDEMPOTENCE, "true") else "off"
    effect = "Kafka refuses to make this producer, so nothing is written with it"
    others = (switch.setting.line,) if switch.setting and is_given(switch, file) else ()
    found = f"{words}, and idempotence is {state}"
    return at_given(file, given, LintCode.IDEMPOTENCE_REFUSED, found, effect, fix, others)


IDEMPOTENCE_RULES = (idempotence,)
