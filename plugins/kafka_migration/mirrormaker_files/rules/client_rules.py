"""Rules on the consumers and producers that copy: records skipped, lost or reordered, refused settings, wrong files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from kafka_migration.core.text.regex import regex
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.ground.ground import Ground, at_given, is_given, lines_in
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, is_true, listed, on_file
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
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
_CLIENTS = ("consumer", "producer")
_OPTIONS = frozenset({"consumer.config", "producer.config"})
_OTHER_KINDS = frozenset({FileKind.MIRRORMAKER2, FileKind.CONNECTORS, FileKind.WORKER})
_KINDS = (FileKind.CONSUMER, FileKind.PRODUCER)
OF_STRIMZI = "/tmp/strimzi-"  # noqa: S108
_AGAIN = "MirrorMaker copies each record again and again"


def consumers(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for consumers that skip records."""
    for each in _of_records(ground, "consumer"):
        if given := each.given_in(file, "auto.offset.reset", "latest"):
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


def client_files(files: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield a finding for each command whose clients get the wrong files, or files of one cluster."""
    named, given = set[int](), [file for file in files if file.kind in _KINDS]
    for command in files:
        options = [command.last(Place.OPTION, f"{client}.config") for client in _CLIENTS]
        if command.kind is FileKind.COMMAND and options[0] and options[1] and not _is_foreign(command, files):
            both = [file_named(command, option.value, given) for option in options if option]
            named |= {id(file) for file in both if file}
            yield from _of_command(command, options[0], options[1], both)
    if not named:
        yield from _of_no_command(given)


def _of_no_command(given: Sequence[MirrorFile]) -> Iterator[LintFinding]:
    """Yield a loop of files that no command names; which of several belong together is not known."""
    consumers, producers = ([file for file in given if file.kind is kind] for kind in _KINDS)
    if min(len(consumers), len(producers)) == 1:
        yield from (each for one in consumers for other in producers for each in _loop(one, other))


def _is_foreign(command: MirrorFile, files: Sequence[MirrorFile]) -> bool:
    """Return whether a client gets a file that is for no client, which has a finding of its own."""
    others = [file for file in files if file.kind in _OTHER_KINDS]
    return any(file_named(command, each.value, others) for each in command.at(Place.OPTION) if each.key in _OPTIONS)


def file_named(command: MirrorFile, path: str, files: Sequence[MirrorFile]) -> MirrorFile | None:
    """Return the file that a command names: the nearest of the same script or resource, else the only one."""
    parts = PurePosixPath(path.replace("\\", "/")).parts[::-1]
    fitting = [(_common(parts, file), file) for file in files]
    most = max((number for number, _ in fitting), default=0)
    found = [file for number, file in fitting if number == most] if most else []
    own = [file for file in found if file.name == command.name]
    if own:
        # A script writes a file before its command; the parts of a resource are after its first line.
        is_after = path.startswith(OF_STRIMZI)
        return min(own, key=lambda file: ((file.line < command.line) is is_after, abs(file.line - command.line)))
    return found[0] if len(found) == 1 else None


def _common(parts: Sequence[str], file: MirrorFile) -> int:
    """Return how many of the last parts of two paths are the same."""
    own = PurePosixPath((file.part or file.name).replace("\\", "/")).parts[::-1]
    pairs = list(zip(parts, own, strict=False))
    return next((place for place, (one, other) in enumerate(pairs) if one != other), len(pairs))


def _of_command(
    command: MirrorFile, consumer: MirrorSetting, producer: MirrorSetting, both: Sequence[MirrorFile | None]
) -> Iterator[LintFinding]:
    if consumer.value == producer.value and consumer.value:
        found = "the consumer and the producer get the same file, which names one cluster"
        yield at(command, producer, LintCode.LOOP, found, _AGAIN, "Name a file with the address of the target.")
        return
    options = (consumer, producer)
    wrong = [
        option
        for option, file, other in zip(options, both, reversed(_CLIENTS), strict=True)
        if _client(option, file) == other
    ]
    if len(wrong) == 2:
        first, second = sorted(wrong, key=lambda each: each.line)
        found = "the consumer gets the file of a producer, and the producer the file of a consumer"
        effect = "MirrorMaker does not start, or it copies from the target to the source"
        fix = "Exchange the two names."
        yield at(command, first, LintCode.CLIENT_FILES_EXCHANGED, found, effect, fix, (second.line,))
    elif wrong:
        yield _one_wrong(command, wrong[0])
    elif both[0] and both[1]:
        yield from _loop(both[0], both[1])


def _one_wrong(command: MirrorFile, option: MirrorSetting) -> LintFinding:
    client, other = _CLIENTS if option.key.startswith("consumer") else _CLIENTS[::-1]
    found = f"the {client} gets a file that is for a {other}"
    effect = f"the {client} ignores the settings of a {other}, and lacks its own"
    return at(command, option, LintCode.CLIENT_FILE_OF_OTHER, found, effect, f"Name the file of the {client}.")


def _client(option: MirrorSetting, file: MirrorFile | None) -> str:
    """Return the client that a file is for: the only one that has its keys, else the only one in its name."""
    roles = [kafka_keys().roles_of(each.key) for each in file.settings] if file else []
    clients = [set(_CLIENTS) & set(each) for each in roles]
    only = {next(iter(each)) for each in clients if len(each) == 1}
    name = PurePosixPath(option.value.replace("\\", "/")).name.lower()
    found = only or {client for client in _CLIENTS if client in name and not option.is_reference}
    return found.pop() if len(found) == 1 else ""


def _loop(consumer: MirrorFile, producer: MirrorFile) -> Iterator[LintFinding]:
    setting = producer.last(Place.CLIENT, "bootstrap.servers")
    if setting and _addresses(consumer) & _addresses(producer):
        found = "the address is one of the consumer's cluster"
        yield at(producer, setting, LintCode.LOOP, found, _AGAIN, "Write an address of the target.")


def _addresses(file: MirrorFile) -> frozenset[str]:
    setting = file.last(Place.CLIENT, "bootstrap.servers")
    return frozenset(each for each in listed(setting.value) if "$" not in each) if setting else frozenset()
