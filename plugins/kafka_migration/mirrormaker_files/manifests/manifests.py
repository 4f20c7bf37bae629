"""YAML files: Kubernetes resources, of Strimzi and others, and Compose files."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import yaml

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.formats.connectors import Connector, file_of_connectors
from kafka_migration.mirrormaker_files.formats.yaml_documents import fields, items, line_of, nodes_of, text_of
from kafka_migration.mirrormaker_files.manifests.containers import container_files, variables_of
from kafka_migration.mirrormaker_files.manifests.resource_fields import resource_faults
from kafka_migration.mirrormaker_files.manifests.strimzi import (
    KIND,
    connector_of,
    mirrormaker1_files,
    strimzi_file,
    worker_of,
)
from kafka_migration.mirrormaker_files.model.mirror_settings import FieldFault, MirrorFile
from kafka_migration.mirrormaker_files.scripts.scripts import Assigned
from kafka_migration.mirrormaker_files.scripts.written_files import TextPart

# The kind of a resource has the form of a class name.
_KIND = regex(r"(?:[A-Z][a-z]{0,40}){1,8}[0-9]?")


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
