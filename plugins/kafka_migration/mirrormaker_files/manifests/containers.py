"""Containers of Kubernetes and services of Compose that start MirrorMaker or Connect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import yaml

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.formats.mirrormaker1_files import command_files
from kafka_migration.mirrormaker_files.formats.yaml_documents import fields, flat, items, line_of, text_of
from kafka_migration.mirrormaker_files.model.command_options import StartProgram
from kafka_migration.mirrormaker_files.model.lint_limits import LONGEST_COMMAND, MOST_COMMANDS, require_few
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting
from kafka_migration.mirrormaker_files.scripts.scripts import Assigned, Script, Started, started_by
from kafka_migration.mirrormaker_files.scripts.shell_words import Splitter, Syntax, Word

_COMMANDS = ("entrypoint", "command", "args")
# Kubernetes replaces `$(NAME)`.
_REFERENCE = regex(r"\$\((\w{1,200})\)")
# A longer value is not put in; a text over more lines is not searched for the line of an option.
_LONGEST_KNOWN, _MOST_LINES = 1_000, 1_000
# An image may have MirrorMaker as its program, so that the container has only its options.
_OPTION = regex(r"--?(?:consumer|producer)\.config(?:=.*)?")


def container_files(name: str, node: yaml.Node, source: Sequence[str]) -> Iterator[MirrorFile]:
    """Yield the MirrorMaker commands of all containers below a node; `source` has the lines of the whole file."""
    inner = fields(node)
    if any(key in inner for key in _COMMANDS):
        yield from _files(name, inner, source)
    for child in (*inner.values(), *items(node)):
        yield from container_files(name, child, source)


def _files(name: str, container: dict[str, yaml.Node], source: Sequence[str]) -> Iterator[MirrorFile]:
    assigned = tuple(environment(container))
    variables = {each.name: each.value for each in assigned if each.is_known}
    nodes = [container[key] for key in _COMMANDS if key in container]
    words = [word for node in nodes for word in _words(node, variables)]
    starts = list(started_by(words, variables)) or list(_by_image(words))
    require_few(starts, MOST_COMMANDS, "commands")
    for file in command_files(name, Script(tuple(starts), assigned, ())):
        yield _located(file, nodes, source)


def _by_image(words: Sequence[Word]) -> Iterator[Started]:
    first = next((place for place, word in enumerate(words) if word.text.startswith("-")), len(words))
    if any(_OPTION.fullmatch(word.text) for word in words):
        yield Started(words[first].line, (), tuple(words[first:]), Syntax.WORDS, StartProgram.MIRRORMAKER1)


def _words(node: yaml.Node, variables: dict[str, str]) -> Iterator[Word]:
    """Yield the words of a list, or of a text, which Compose splits."""
    if isinstance(node, yaml.ScalarNode):
        # Compose puts in no variable of the container, and writes `$$` for a `$`.
        for command in Splitter(text_of(node).replace("$$", "$"), _line(node), Syntax.WORDS, {}).commands():
            yield from command.words
    for item in items(node):
        text = text_of(item)
        replaced = _REFERENCE.sub(lambda match: variables.get(match[1], match[0]), text)
        yield Word(_line(item), replaced if len(replaced) <= LONGEST_COMMAND else text, is_quoted=True)


def _line(node: yaml.Node) -> int:
    """Return the line on which the text of a scalar begins."""
    return line_of(node) + (isinstance(node, yaml.ScalarNode) and node.style in {"|", ">"})


def environment(container: dict[str, yaml.Node]) -> Iterator[Assigned]:
    """Yield the variables of a container: of `env`, and of `environment`, which is a mapping or a list of texts."""
    for entry in flat(container.get("environment")):
        yield _assigned(entry.line, entry.name, entry.value)
    for item in items(container.get("environment")):
        name, _, value = text_of(item).partition("=")
        yield _assigned(line_of(item), name, value)
    for item in items(container.get("env")):
        inner = fields(item)
        if name := text_of(inner.get("name")):
            line = line_of(inner.get("value", item))
            yield _assigned(line, name, text_of(inner.get("value")), is_given="value" in inner)


def _assigned(line: int, name: str, value: str, *, is_given: bool = True) -> Assigned:
    return Assigned(line, name, value, is_known=is_given and "$" not in value and len(value) <= _LONGEST_KNOWN)


def _located(file: MirrorFile, nodes: Sequence[yaml.Node], source: Sequence[str]) -> MirrorFile:
    """Return the file with the lines of its options, which a text over several lines of another style than `|` lost."""
    folded = [each for each in nodes if isinstance(each, yaml.ScalarNode) and each.style != "|"]
    spans = {_line(each): min(each.end_mark.line + 1, _line(each) + _MOST_LINES, len(source)) for each in folded}
    settings, moved, line = list[MirrorSetting](), dict[tuple[int, str], int](), 0
    for setting in file.settings:
        line = max(line, setting.line)
        span = range(line, spans.get(setting.line, 0) + 1)
        line = next((number for number in span if setting.name in source[number - 1]), line)
        settings.append(replace(setting, line=line) if span else setting)
        moved[setting.line, setting.name] = settings[-1].line
    remarks = tuple(replace(each, line=moved.get((each.line, each.name), each.line)) for each in file.remarks)
    return replace(file, settings=tuple(settings), remarks=remarks)
