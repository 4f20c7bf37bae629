"""YAML files: resources of Kubernetes and Compose files, with the commands and variables of their containers."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import yaml

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.formats.connectors import Connector, file_of_connectors
from kafka_migration.mirrormaker_files.formats.mirrormaker1_files import command_files
from kafka_migration.mirrormaker_files.formats.properties_reader import entries
from kafka_migration.mirrormaker_files.formats.yaml_documents import fields, flat, items, line_of, nodes_of, text_of
from kafka_migration.mirrormaker_files.manifests.resource_fields import resource_faults
from kafka_migration.mirrormaker_files.manifests.strimzi import (
    KIND,
    connector_of,
    mirrormaker1_files,
    strimzi_file,
    worker_of,
)
from kafka_migration.mirrormaker_files.model.command_options import StartProgram
from kafka_migration.mirrormaker_files.model.lint_limits import LONGEST_COMMAND, MOST_COMMANDS, require_few
from kafka_migration.mirrormaker_files.model.mirror_settings import (
    FieldFault,
    FileKind,
    MirrorFile,
    MirrorSetting,
    Place,
)
from kafka_migration.mirrormaker_files.model.remarks import OpenQuote
from kafka_migration.mirrormaker_files.scripts.scripts import (
    Script,
    Started,
    assigned_by,
    joined_lines,
    started_by,
)
from kafka_migration.mirrormaker_files.scripts.shell_words import Assigned, Command, Splitter, Syntax, Word
from kafka_migration.mirrormaker_files.scripts.written_files import TextPart

# The kind of a resource has the form of a class name.
_KIND = regex(r"(?:[A-Z][a-z]{0,40}){1,8}[0-9]?")
_COMMANDS = ("entrypoint", "command", "args")
# Kubernetes replaces `$(NAME)`.
_REFERENCE = regex(r"\$\((\w{1,200})\)")
# A longer value is not put in; a text over more lines is not searched for the line of an option.
_LONGEST_KNOWN, _MOST_LINES = 1_000, 1_000
# An image may have MirrorMaker as its program, so that the container has only its options.
_OPTION = regex(r"--?(?:consumer|producer)\.config(?:=.*)?")
_IMAGE = regex(r"^FROM[ \t]{1,20}\S", re.MULTILINE)
_ENV = regex(r"^ENV[ \t]", re.MULTILINE)
_NAME = regex(r"[A-Z][A-Z0-9_]{0,199}")


class Manifest:
    """What a YAML file holds: files, and parts that are read like files of their own."""

    def __init__(self, name: str, text: str) -> None:
        """Read all documents. Raises `WrongDocument`."""
        self.files, self.parts, self.kinds = list[MirrorFile](), list[TextPart](), list[str]()
        self._name, self._source = name, text.splitlines()
        self._connectors, self._faults = list[Connector](), list[FieldFault]()
        self.variables = list[Assigned]()
        for node in nodes_of(text):
            for resource in _resources(node):
                self._read(resource)
            self.variables += variables_of(node)
        if self._connectors:
            self.files.append(replace(file_of_connectors(name, self._connectors), faults=tuple(self._faults)))

    def _read(self, resource: yaml.Node) -> None:
        kind = text_of(fields(resource).get("kind"))
        if kind == KIND:
            self.files.append(strimzi_file(self._name, resource))
        elif kind == "KafkaMirrorMaker":
            self.files += mirrormaker1_files(self._name, resource)
        elif kind == "KafkaConnector":
            self._connectors.append(connector_of(resource))
            self._faults += resource_faults(resource)
        elif kind == "KafkaConnect":
            self.files.append(worker_of(self._name, resource))
        elif kind in {"ConfigMap", "Secret"}:
            self.parts += _parts(resource)
        else:
            self.kinds.append(kind if _KIND.fullmatch(kind) else "another" if kind else "none")
            self.files += container_files(self._name, resource, self._source)


def _resources(node: yaml.Node) -> Iterator[yaml.Node]:
    """Yield the resources of a document: itself, or the items of a list."""
    inner = fields(node)
    if text_of(inner.get("kind")).endswith("List") and "items" in inner:
        for item in items(inner["items"]):
            yield from _resources(item)
    else:
        yield node


def _parts(resource: yaml.Node) -> Iterator[TextPart]:
    """Yield the texts in a ConfigMap or Secret; those in `data` of a Secret are in base64."""
    inner = fields(resource)
    is_secret = text_of(inner.get("kind")) == "Secret"
    for field in ("data", "stringData"):
        for name, node in fields(inner.get(field)).items():
            if isinstance(node, yaml.ScalarNode):
                yield from _decoded(name, node) if is_secret and field == "data" else [part_of(name, node)]


def _decoded(name: str, node: yaml.ScalarNode) -> Iterator[TextPart]:
    """Yield the text that a value in base64 stands for, all on one line; nothing if it is no text."""
    with suppress(binascii.Error, ValueError):
        text = b64decode("".join(text_of(node).split()), validate=True).decode("utf-8")
        yield TextPart(name, text, line_of(node) - 1, is_one_line=True)


def part_of(name: str, node: yaml.ScalarNode) -> TextPart:
    """Return the text of a scalar. Only in the style `|` each of its lines is a line of the file."""
    is_block = node.style == "|"
    return TextPart(name, text_of(node), line_of(node) - (not is_block), is_one_line=not is_block)


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
        settings.append(setting._replace(line=line) if span else setting)
        moved[setting.line, setting.name] = settings[-1].line
    remarks = tuple(each._replace(line=moved.get((each.line, each.name), each.line)) for each in file.remarks)
    return replace(file, settings=tuple(settings), remarks=remarks)


def is_image(text: str) -> bool:
    """Return whether a text is the file of an image with variables."""
    return is_image_file(text) and _ENV.search(text) is not None


def is_image_file(text: str) -> bool:
    """Return whether a text is the file of an image."""
    return _IMAGE.search(text) is not None


def is_environment(name: str, text: str) -> bool:
    """Return whether a file has the name and the lines of an `.env` file."""
    return name.lower().endswith(".env") and all(_NAME.fullmatch(each.name) for each in entries(text))


def image_file(name: str, text: str) -> MirrorFile:
    """Return the variables of an image's file, or of an `.env` file."""
    if is_image(text):
        return variables_file(name, assigned_by(_commands(text)))
    return variables_file(name, (Assigned(e.line, e.name, e.value.strip("\"'"), is_known=True) for e in entries(text)))


def _commands(text: str) -> Iterator[Command]:
    """Yield the words of each `ENV`, which no shell reads."""
    for line, content in joined_lines(text):
        if _ENV.match(content):
            with suppress(OpenQuote):
                yield from Splitter(content, line, Syntax.WORDS, {}).commands()


def variables_file(name: str, assigned: Iterable[Assigned]) -> MirrorFile:
    """Return the variables whose values are known; another one is there without a value."""
    settings = tuple(
        MirrorSetting(each.line, each.name, each.value if each.is_known else "$", Place.VARIABLE, each.name)
        for each in assigned
    )
    return MirrorFile(name, FileKind.VARIABLES, settings)


def variables_of(node: yaml.Node) -> Iterator[Assigned]:
    """Yield the variables of all containers below a node, and of the data of a ConfigMap."""
    inner = fields(node)
    yield from environment(inner)
    if text_of(inner.get("kind")) == "ConfigMap":
        for name, value in fields(inner.get("data")).items():
            if _NAME.fullmatch(name) and isinstance(value, yaml.ScalarNode) and "\n" not in value.value:
                yield Assigned(line_of(value), name, text_of(value), is_known=True)
    for child in (*inner.values(), *items(node)):
        yield from variables_of(child)
