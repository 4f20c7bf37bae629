"""Rules on the consumers and producers that copy: records skipped, lost or reordered, and refused settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.ground.ground import Ground, at_given, is_given, lines_in
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, is_true, on_file
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import OLD_KEYS

# Without idempotence, more requests in flight can change the order after a retry.
_ORDERED, _ORDERED_IF_IDEMPOTENT = 1, 5
_IN_FLIGHT = "max.in.flight.requests.per.connection"
# Another value is refused by Kafka's definition, or replaced later.
_PROTOCOLS = frozenset({"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"})
# What a protocol must have in its name so that the key has an effect.
_NEEDS = {
    "sasl.jaas.config": "SASL_",
    "sasl.mechanism": "SASL_",
    "ssl.truststore.location": "SSL",
    "ssl.keystore.location": "SSL",
}
_PASSWORD_MECHANISMS = regex(r"PLAIN|SCRAM-SHA-(?:256|512)|OAUTHBEARER|AWS_MSK_IAM")
_IDEMPOTENCE, _TRANSACTION = "enable.idempotence", "transactional.id"
_MOST_IN_FLIGHT = 5
_NUMBER = regex(r"[0-9]{1,9}")
# What idempotence requires of each key, and what to write.
_REQUIRED = {
    "acks": ("`acks` is not all", "Write `acks=all`"),
    "retries": ("`retries` is 0", "Remove it"),
    _IN_FLIGHT: (f"`{_IN_FLIGHT}` is above {_MOST_IN_FLIGHT}", f"Write at most {_MOST_IN_FLIGHT}"),
}


def consumers(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for consumers that skip records."""
    for each in _of_records(ground, "consumer"):
        given = each.given_in(file, "auto.offset.reset")
        if given and each.says("auto.offset.reset", "latest"):
            found = "the consumer begins at the end of a partition without a position"
            effect = "records that exist before MirrorMaker first reads the partition are not copied"
            yield at_given(file, given, LintCode.RESET_TO_LATEST, found, effect, "Write `earliest`.")
    if file.kind is FileKind.CONSUMER:
        yield from _mirrormaker1_consumer(file, ground)


def _mirrormaker1_consumer(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    first = file.settings[0].line if file.settings else 0
    address = file.last(Place.CLIENT, "bootstrap.servers")
    line = address.line if address else first
    # A resource without the field has a finding of its own.
    may_be_elsewhere = file.is_partial or file.lacks("groupId")
    if not file.last(Place.CLIENT, "group.id") and not may_be_elsewhere:
        found, effect = "the file has no `group.id`", "MirrorMaker 1 does not start"
        yield on_file(file, LintCode.GROUP_MISSING, found, effect, "Add `group.id`.", line)
    if not file.last(Place.CLIENT, "auto.offset.reset") and not file.is_partial:
        group = file.last(Place.CLIENT, "group.id")
        effect = "records that exist before MirrorMaker first reads a partition are not copied"
        is_old = file.last(Place.CLIENT, "zookeeper.connect") and ground.is_at_least("2.0") is False
        # The consumer with ZooKeeper has words of its own.
        first_word, last_word = ("smallest", "largest") if is_old else ("earliest", "latest")
        found = f"the file has no `auto.offset.reset`, whose default is {last_word}"
        fix = f"Add `auto.offset.reset={first_word}`."
        if address and address.name != address.key:
            fix = "Add `auto.offset.reset: earliest` to `config` of the consumer."
        yield on_file(file, LintCode.RESET_TO_LATEST, found, effect, fix, group.line if group else line)
    commit = file.last(Place.CLIENT, "enable.auto.commit")
    if commit and is_true(commit):
        found = "the consumer commits by itself"
        effect = "it commits records that the producer may not have written; after a crash they are not copied"
        yield at(file, commit, LintCode.AUTO_COMMIT, found, effect, "Remove it. MirrorMaker commits by itself.")


def producers(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for producers that can lose or reorder records."""
    for each in _of_records(ground, "producer"):
        for key in ("acks", "request.required.acks"):
            given = each.given_in(file, key)
            if given and given.value.strip() in {"0", "1"} and not is_refused(each, key):
                found = "brokers confirm a record before all in-sync replicas have it"
                effect = "a confirmed record is lost if the leader fails; MirrorMaker does not copy it again"
                is_old = key in OLD_KEYS and ground.is_at_least("2.0") is False
                fix = "Write `-1`." if is_old else "Write `all`, or remove it."
                yield at_given(file, given, LintCode.ACKS_TOO_LOW, found, effect, fix)
        retries = each.given_in(file, "retries")
        if retries and retries.value.strip() == "0" and not is_refused(each, "retries"):
            found = "the producer does not try again"
            effect = "a failure that would pass, such as a change of the leader, loses records or stops the copy"
            yield at_given(file, retries, LintCode.RETRIES_OFF, found, effect, "Remove it.")
        yield from _order(file, each, ground)


def _order(file: MirrorFile, each: Effective, ground: Ground) -> Iterator[LintFinding]:
    given = each.given_in(file, _IN_FLIGHT)
    is_judged = given is not None and not is_refused(each, _IN_FLIGHT)
    if given and is_judged and _reorders(given.value.strip(), _idempotence(each, ground)):
        found = "several requests may be in flight without idempotence"
        effect = "a retry can change the order of records"
        fix = "Remove it, or add enable.idempotence=true and write at most 5."
        yield at_given(file, given, LintCode.ORDER_NOT_KEPT, found, effect, fix)


def _idempotence(each: Effective, ground: Ground) -> str:
    """Return whether the producer is idempotent: from 3.2 on by default, if nothing is set against it."""
    given, acks = each.value("enable.idempotence"), each.value("acks", "all")
    is_default = ground.is_at_least("3.2") and acks in {"all", "-1"} and each.value("retries", "1") != "0"
    return given or ("true" if is_default else "")


def _reorders(requests: str, idempotence: str) -> bool:
    most = _ORDERED_IF_IDEMPOTENT if idempotence.lower() == "true" else _ORDERED
    return requests.isdecimal() and len(requests) < 10 and int(requests) > most


def _of_records(ground: Ground, role: str) -> list[Effective]:
    return list(ground.readers.at(role, duty="records"))


def logins(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each login or certificate that its clients cannot or do not use."""
    found = dict[tuple[int, str, int], LintFinding]()
    for each in ground.readers.at("consumer", "producer", "admin"):
        protocol = each.values.get("security.protocol")
        name = protocol.value.strip().upper() if protocol else "PLAINTEXT"
        if name not in _PROTOCOLS:
            continue
        if name.startswith("SASL_") and protocol and is_given(protocol, file) and not file.is_partial:
            yield from _missing_login(file, each, protocol)
        unused = [each.values.get(key) for key, needs in _NEEDS.items() if needs not in name]
        if given := [one for one in unused if one and _is_judged(file, one) and one.value.strip()]:
            cause = id(given[0].setting), name, id(protocol and protocol.setting)
            first = found.setdefault(cause, _unused(file, given[0], protocol, name))
            others = {*first.others, *(one.setting.line for one in given[1:] if one.setting)}
            found[cause] = replace(first, others=tuple(sorted(others)))
    yield from found.values()


def key_stores(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a hint for each key store that is also the trust store of a client that logs in with SASL."""
    for each in ground.readers.at("consumer", "producer", "admin"):
        key, trust = each.given_in(file, "ssl.keystore.location"), each.values.get("ssl.truststore.location")
        is_same = key is not None and trust is not None and key.value.strip() == trust.value.strip() != ""
        if key and trust and trust.setting and is_same and each.says("security.protocol", "sasl_ssl"):
            found = "the key store is the file of the trust store"
            effect = "if it has no key, the clients send no certificate; they log in with SASL without one"
            fix = "Remove the key store, if the brokers require no certificate of clients."
            yield at_given(file, key, LintCode.KEY_STORE_IS_TRUST_STORE, found, effect, fix, lines_in(file, trust))


def _is_judged(file: MirrorFile, given: Given) -> bool:
    """Return whether a line is in the file, and no rule on the fields of a resource has a finding on it."""
    line = given.setting.line if given.setting else 0
    return is_given(given, file) and all(each.line != line for each in file.faults)


def _missing_login(file: MirrorFile, each: Effective, protocol: Given) -> Iterator[LintFinding]:
    mechanism = each.value("sasl.mechanism", "GSSAPI")
    if each.value("sasl.jaas.config") or each.value("sasl.client.callback.handler.class"):
        return
    found = "the clients of this cluster have no `sasl.jaas.config`"
    fix = "Add `sasl.jaas.config` beside this line, or check the file of java.security.auth.login.config."
    if _PASSWORD_MECHANISMS.fullmatch(mechanism):
        effect = "they cannot log in, unless a system property of Java names a file with the login"
        yield at_given(file, protocol, LintCode.LOGIN_MISSING, found, effect, fix)
    elif mechanism == "GSSAPI":
        effect = "they take the Kerberos login from the file that a system property of Java names"
        yield at_given(file, protocol, LintCode.LOGIN_ELSEWHERE, found, effect, "Check that the process has it.")


def _unused(file: MirrorFile, given: Given, line: Given | None, protocol: str) -> LintFinding:
    found = f"the clients of this cluster use {protocol}"
    effect = "this login or certificate is not used, so a secured cluster refuses the connection"
    want = "SASL_SSL or SASL_PLAINTEXT" if "sasl" in (given.setting.key if given.setting else "") else "SSL or SASL_SSL"
    fix = f"Add `security.protocol` ({want}) beside it."
    others = lines_in(file, line)
    if others:
        fix = f"Write {want} as `security.protocol`, or remove the login."
    return at_given(file, given, LintCode.LOGIN_NOT_USED, found, effect, fix, others)


def is_refused(each: Effective, key: str) -> bool:
    """Return whether a producer with idempotence that is switched on by a line, or by Kafka, does not allow a value."""
    return each.says(_IDEMPOTENCE, "true") and _breaks(key, each.value(key))


def _breaks(key: str, word: str) -> bool:
    if key == "acks":
        return word in {"0", "1"}
    is_number = _NUMBER.fullmatch(word) is not None
    return is_number and (int(word) == 0 if key == "retries" else int(word) > _MOST_IN_FLIGHT)


def idempotence(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each value that a producer with idempotence, or a transaction without it, does not allow.

    `ProducerConfig.postProcessAndValidateIdempotenceConfigs` decides in the same way.
    """
    for each in ground.readers.at("producer"):
        for key, (words, fix) in _REQUIRED.items():
            given = each.given_in(file, key)
            if given and is_refused(each, key):
                yield _refused(file, given, each, words, f"{fix}, or remove `{_IDEMPOTENCE}=true`.")
        given = each.given_in(file, _TRANSACTION)
        if given and each.says(_IDEMPOTENCE, "false"):
            yield _refused(file, given, each, "it is a transaction", f"Add `{_IDEMPOTENCE}=true` beside it.")


def _refused(file: MirrorFile, given: Given, each: Effective, words: str, fix: str) -> LintFinding:
    state = "on" if each.says(_IDEMPOTENCE, "true") else "off"
    effect = "Kafka refuses to make this producer, so nothing is written with it"
    found, others = f"{words}, and idempotence is {state}", lines_in(file, each.values[_IDEMPOTENCE])
    return at_given(file, given, LintCode.IDEMPOTENCE_REFUSED, found, effect, fix, others)


CLIENT_RULES = (consumers, producers, logins, key_stores, idempotence)
