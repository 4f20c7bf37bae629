"""Rules on the files that a command of MirrorMaker 1 gives to its consumer and its producer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, listed
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place

_CLIENTS = ("consumer", "producer")
_OPTIONS = frozenset({"consumer.config", "producer.config"})
_OTHER_KINDS = frozenset({FileKind.MIRRORMAKER2, FileKind.CONNECTORS, FileKind.WORKER})
_KINDS = (FileKind.CONSUMER, FileKind.PRODUCER)
OF_STRIMZI = "/tmp/strimzi-"  # noqa: S108
_AGAIN = "MirrorMaker copies each record again and again"


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
