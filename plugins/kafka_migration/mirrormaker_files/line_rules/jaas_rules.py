"""Rules on logins that Kafka's `JaasConfig` refuses. No word of a login is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.effective.readers import Given
from kafka_migration.mirrormaker_files.ground.ground import Ground, at_given, is_given
from kafka_migration.mirrormaker_files.line_rules.text_rules import read_otherwise
from kafka_migration.mirrormaker_files.line_rules.value_rules import is_quoted
from kafka_migration.mirrormaker_files.model.jaas import is_cut, refusal_of_jaas, tokens_of
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import REFERENCE, LintFinding, at
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting, Place

_LOGIN = "sasl.jaas.config"
# A letter that no file has stands for what is filled in later.
_FILLED = "\ufffe"
_MECHANISM, _DEFAULT_MECHANISM = "sasl.mechanism", "GSSAPI"
_HANDLER = "sasl.client.callback.handler.class"
_OF_KAFKA = "org.apache.kafka.common.security"
_PLAIN, _SCRAM = f"{_OF_KAFKA}.plain.PlainLoginModule", f"{_OF_KAFKA}.scram.ScramLoginModule"
_OAUTH = f"{_OF_KAFKA}.oauthbearer.OAuthBearerLoginModule"
_IAM = "software.amazon.msk.auth.iam.IAMLoginModule"
_KERBEROS = ("com.sun.security.auth.module.Krb5LoginModule", "com.ibm.security.auth.module.Krb5LoginModule")
# The modules with which a client can log in. Java itself has PLAIN, which takes the name and password of SCRAM, too.
_MODULES = {
    "PLAIN": (_PLAIN, _SCRAM),
    "SCRAM-SHA-256": (_SCRAM,),
    "SCRAM-SHA-512": (_SCRAM,),
    "OAUTHBEARER": (_OAUTH,),
    "GSSAPI": _KERBEROS,
    "AWS_MSK_IAM": (_IAM,),
}
_ALL_MODULES = frozenset(module for each in _MODULES.values() for module in each)
_VARIABLE = regex(r"\$\w|%\w{1,100}%")
_NAME = regex(r"[A-Za-z][A-Za-z0-9]{0,60}")
_ENDS = regex(r";\s{0,20}$")


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
        ends = [setting.last] if setting.last and is_cut(refusal) else []
        others = sorted({*ends, *(each.line + before for each in follows for before in (-1, 0))} - {setting.line})
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
    return any(_has_sasl(each.value("security.protocol")) for each, key in ground.readers.uses_of(setting))


def _has_sasl(protocol: str) -> bool:
    return protocol.upper().startswith("SASL_") or "$" in protocol or "{{" in protocol


def _is_filled_in(text: str) -> bool:
    """Return whether what is filled in outside of quotes may be any part of the login."""
    words = (each.text or "" for each in tokens_of(REFERENCE.sub(_FILLED, text)) if each.kind == "word")
    return _VARIABLE.match(text) is not None or any(_FILLED in word or word.startswith("$") for word in words)


def modules(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each login whose module does not bring what its SASL mechanism needs."""
    for each in ground.readers.at("consumer", "producer", "admin"):
        login, mechanism = each.values.get(_LOGIN), each.values.get(_MECHANISM)
        word = each.value(_MECHANISM) or _DEFAULT_MECHANISM
        if not login or not _has_sasl(each.value("security.protocol")) or _HANDLER in each.values:
            continue
        module, fitting = _module_of(login.value), _MODULES.get(word, ())
        if module in _ALL_MODULES and fitting and module not in fitting:
            yield from _unlike(file, login, mechanism, word, fitting[0])


def _unlike(file: MirrorFile, login: Given, mechanism: Given | None, word: str, module: str) -> Iterator[LintFinding]:
    given = next((each for each in (mechanism, login) if each and is_given(each, file)), None)
    if given is None:
        return
    other = login.setting.line if given is not login and login.setting and is_given(login, file) else 0
    name = module.rpartition(".")[2]
    found = f"the mechanism is {word}, and the login module is not {name}"
    if mechanism is None:
        found = f"no `{_MECHANISM}` is given, so it is {word}, and the login module is not {name}"
    effect = "the clients of this cluster cannot log in"
    fix = f"Write the mechanism of the module, or `{module}` as the module."
    yield at_given(file, given, LintCode.LOGIN_MODULE_WRONG, found, effect, fix, (other,) if other else ())


def _module_of(login: str) -> str:
    """Return the class of the login module; empty if it is not written."""
    first = next(tokens_of(login), None)
    return (first.text or "") if first else ""


JAAS_RULES = (logins_refused, modules)
