"""The command of MirrorMaker 1 that is imported, if a script has several."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.text.shortened import some
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_import.chosen_flow import not_imported

TOPIC_OPTIONS = frozenset({"whitelist", "include"})


def command_of(file: MirrorFile, setting: MirrorSetting) -> int:
    """Return the line on which the command of an option starts."""
    return file.line or setting.line


def chosen_command(files: Sequence[MirrorFile], named: int | None) -> int:
    """Return the line of the command to import; 0 if there is no command.

    Raises `Refused` if there are several commands and none is named, or none of that line.
    """
    found = [(file.name, command_of(file, each)) for file in files for each in file.at(Place.OPTION)]
    commands = list(dict.fromkeys(found))
    fitting = [line for _, line in commands if named in {None, line}]
    if commands and len(fitting) != 1:
        lines = some([f"line {line} of {name}" for name, line in commands])
        remedy = "Name the line of one with --command, or give each command a script of its own."
        names = some([file.name for file in files if file.kind is FileKind.COMMAND])
        raise Refused([not_imported(names, f"{len(commands)} commands: {lines}", "one command", remedy)])
    return fitting[0] if fitting else 0


def require_own_files(files: Sequence[MirrorFile], command: int) -> None:
    """Refuse a command that gives the consumer's file to the producer, or the other way round.

    MirrorMaker follows the command, and the content of the files says the other direction.
    """
    given = {_base(file.part or file.name): file.kind for file in files if file.kind in _CLIENTS.values()}
    options = [each for file in files for each in file.at(Place.OPTION) if command_of(file, each) == command]
    for option, kind in _CLIENTS.items():
        named = next((_base(each.value) for each in options if each.key == option), "")
        if given.get(named, kind) is not kind:
            remedy = (
                "Correct the command or the file in a copy, and import the copy. The command decides the direction."
            )
            found = f"--{option} with {given[named].words}"
            raise Refused([not_imported(some([file.name for file in files]), found, kind.words, remedy)])


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


_CLIENTS = {"consumer.config": FileKind.CONSUMER, "producer.config": FileKind.PRODUCER}


def require_one_list(files: Sequence[MirrorFile], command: int) -> None:
    """Refuse a command that names its topics twice, with which MirrorMaker does not start."""
    for file in files:
        found = [each for each in file.at(Place.OPTION) if each.key in TOPIC_OPTIONS]
        lines = [str(each.line) for each in found if command_of(file, each) == command]
        if len(lines) > 1:
            remedy = "Give the topics with --topics."
            text = f"the topics twice, on lines {', '.join(lines)}"
            raise Refused([not_imported(file.name, text, "one --whitelist or --include", remedy)])
