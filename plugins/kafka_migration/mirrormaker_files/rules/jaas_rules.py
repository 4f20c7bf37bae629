"""Rules on logins that Kafka's `JaasConfig` refuses. No word of a login is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kafka_migration.mirrormaker_files.model.jaas import is_cut, refusal_of_jaas, tokens_of
from kafka_migration.mirrormaker_files.model.judging import REFERENCE, LintFinding, at
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.rules.ground import Ground
from kafka_migration.mirrormaker_files.rules.text_rules import read_otherwise
from kafka_migration.mirrormaker_files.rules.value_rules import is_quoted
from kafka_migration.mirrormaker_files.rules.views import value

_LOGIN = "sasl.jaas.config"
# A letter that no file has stands for what is filled in later.
_FILLED = "\ufffe"
_VARIABLE = re.compile(r"\$\w|%\w{1,100}%")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,60}")
_ENDS = re.compile(r";\s{0,20}$")


def logins_refused(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each login that a client reads and Kafka refuses."""
    for place, setting in enumerate(file.settings):
        if setting.key != _LOGIN or not _is_read(setting, ground) or is_quoted(setting):
            continue
        refusal = refusal_of_jaas(REFERENCE.sub(_FILLED, setting.value))
        if not refusal or _is_filled_in(setting.value):
            continue
        follows = lines_cut_off(file.settings, place) if is_cut(refusal) else []
        if any(each.line in read_otherwise(file) for each in follows):
            # The blank after the backslash is the cause.
            continue
        fix = 'Write `class required name="value" … ;`, with quotes around values and one `;` at the end.'
        if follows:
            fix = f"End line {follows[0].line - 1} with a backslash, so that the login continues."
        effect = "Kafka refuses the login, so no client of this cluster can be made"
        others = sorted({each.line + before for each in follows for before in (-1, 0)} - {setting.line})
        yield at(file, setting, LintCode.LOGIN_REFUSED, f"the login has {refusal}", effect, fix, tuple(others))


def lines_cut_off(settings: Sequence[MirrorSetting], place: int) -> list[MirrorSetting]:
    """Return the settings after a login that are its options: each has the name of one, the last one ends with `;`."""
    found = list[MirrorSetting]()
    for each in settings[place + 1 : place + 20]:
        if each.place is Place.OPTION or not _NAME.fullmatch(each.name):
            return []
        found.append(each)
        if _ENDS.search(each.value):
            return found
    return []


def _is_read(setting: MirrorSetting, ground: Ground) -> bool:
    """Return whether a client of a cluster with SASL gets the login."""
    return any(_has_sasl(value(each, "security.protocol")) for each, key in ground.readers.uses_of(setting))


def _has_sasl(protocol: str) -> bool:
    return protocol.upper().startswith("SASL_") or "$" in protocol or "{{" in protocol


def _is_filled_in(text: str) -> bool:
    """Return whether what is filled in outside of quotes may be any part of the login."""
    words = [each.text or "" for each in tokens_of(REFERENCE.sub(_FILLED, text)) if each.kind == "word"]
    return any(_FILLED in word or word.startswith("$") for word in words) or _VARIABLE.match(text) is not None


JAAS_RULES = (logins_refused,)
