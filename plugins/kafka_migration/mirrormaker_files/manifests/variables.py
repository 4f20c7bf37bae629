"""Variables of containers: of an image's file, of Kubernetes, of Compose, and of `.env` files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

import yaml

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.formats.properties_reader import entries
from kafka_migration.mirrormaker_files.formats.yaml_documents import fields, items, line_of, text_of
from kafka_migration.mirrormaker_files.manifests.containers import environment
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.remarks import OpenQuote
from kafka_migration.mirrormaker_files.scripts.scripts import Assigned, assigned_by, joined_lines
from kafka_migration.mirrormaker_files.scripts.shell_words import Command, Splitter, Syntax

_IMAGE = regex(r"^FROM[ \t]{1,20}\S", re.MULTILINE)
_ENV = regex(r"^ENV[ \t]", re.MULTILINE)
_NAME = regex(r"[A-Z][A-Z0-9_]{0,199}")


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
