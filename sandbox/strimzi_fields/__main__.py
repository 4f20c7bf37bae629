"""`python -m sandbox.strimzi_fields CLONE`: write the table of fields that `lint` compares Strimzi's resources with.

CLONE is a clone of https://github.com/strimzi/strimzi-kafka-operator with its tags. The table has names, types, words
and limits of fields, no texts.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from sandbox.jars import PROJECT

TABLE = PROJECT / "plugins" / "kafka_migration" / "kafka_tables" / "strimzi_fields.json"
KINDS = ("KafkaMirrorMaker2", "KafkaMirrorMaker", "KafkaConnector", "KafkaConnect")
_RELEASE = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_FOLDER = "install/cluster-operator/"
_DEFINITION = re.compile(r"[0-9]+-[Cc]rd-kafka(?:mirrormaker2?|connect|connector)\.yaml")
_SCALARS = frozenset({"string", "integer", "number", "boolean"})
Node = dict[str, Any]


def main() -> None:
    """Write the table of all releases of the clone."""
    clone = sys.argv[1]
    tags = [tag for tag in _git(clone, "tag").split() if _RELEASE.fullmatch(tag)]
    found: dict[str, dict[str, Node]] = {kind: {} for kind in KINDS}
    for tag in sorted(tags, key=lambda tag: tuple(map(int, tag.split(".")))):
        for kind, version, schema in _definitions(clone, tag):
            node, of = _node(schema), found[kind]
            of[version] = _merged(of[version], node) if version in of else node
    TABLE.write_text(_text(found))


def _git(clone: str, *arguments: str) -> str:
    command = ["git", "-C", clone, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def _definitions(clone: str, tag: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield kind, API version and schema of `spec` of each definition of a release."""
    for path in _git(clone, "ls-tree", "--name-only", tag, _FOLDER).splitlines():
        if not _DEFINITION.fullmatch(path.removeprefix(_FOLDER)):
            continue
        document = yaml.load(_git(clone, "show", f"{tag}:{path}"), yaml.CSafeLoader)["spec"]
        shared = document.get("validation")
        for version in document.get("versions") or [{"name": document["version"]}]:
            schema = version.get("schema") or shared
            if document["names"]["kind"] in KINDS and schema:
                yield document["names"]["kind"], version["name"], schema["openAPIV3Schema"]["properties"]["spec"]


def _node(schema: Mapping[str, Any]) -> Node:
    """Return what the table keeps of a field's schema."""
    kind = "intOrString" if schema.get("x-kubernetes-int-or-string") else schema.get("type", "")
    node: Node = {"type": kind} if kind else {}
    if kind == "array":
        node["items"] = _node(schema.get("items", {}))
    if kind == "object" and schema.get("properties") and not schema.get("x-kubernetes-preserve-unknown-fields"):
        node["fields"] = {name: _node(each) for name, each in schema["properties"].items()}
        node["required"] = sorted(schema.get("required", ()))
    if kind in _SCALARS:
        node |= {name: schema[name] for name in ("enum", "minimum", "maximum", "pattern") if name in schema}
    return node


def _merged(one: Node, other: Node) -> Node:
    """Return what both definitions refuse: a field is unknown, required or limited only if it is so in both."""
    if one.get("type") != other.get("type"):
        return {}
    node: Node = {"type": one["type"]} if one.get("type") else {}
    if "items" in one and "items" in other:
        node["items"] = _merged(one["items"], other["items"])
    if "fields" in one and "fields" in other:
        both = {**one["fields"], **other["fields"]}
        node["fields"] = {
            name: _merged(one["fields"][name], each) if name in one["fields"] else each for name, each in both.items()
        }
        node["required"] = sorted(set(one["required"]) & set(other["required"]))
    if "enum" in one and "enum" in other:
        node["enum"] = list(dict.fromkeys([*one["enum"], *other["enum"]]))
    if "minimum" in one and "minimum" in other:
        node["minimum"] = min(one["minimum"], other["minimum"])
    if "maximum" in one and "maximum" in other:
        node["maximum"] = max(one["maximum"], other["maximum"])
    if "pattern" in one and one["pattern"] == other.get("pattern"):
        node["pattern"] = one["pattern"]
    return node


def _text(found: Mapping[str, Mapping[str, Node]]) -> str:
    """Return the JSON text. Equal nodes stand once, in `nodes`; fields name them by their place there."""
    nodes: dict[str, int] = {}
    roots = {kind: {version: _place(node, nodes) for version, node in of.items()} for kind, of in found.items()}
    note = "From the custom resource definitions of Strimzi, https://strimzi.io, Apache License 2.0."
    lines = ["{", f' "note": {json.dumps(note)},', f' "kinds": {json.dumps(roots)},', ' "nodes": [']
    return "\n".join([*lines, ",\n".join(f"  {each}" for each in nodes), " ]", "}", ""])


def _place(node: Node, nodes: dict[str, int]) -> int:
    shown = dict(node)
    if "items" in node:
        shown["items"] = _place(node["items"], nodes)
    if "fields" in node:
        shown["fields"] = {name: _place(each, nodes) for name, each in sorted(node["fields"].items())}
        shown |= {"required": node["required"]} if node["required"] else {}
        if not node["required"]:
            del shown["required"]
    return nodes.setdefault(json.dumps(shown), len(nodes))


if __name__ == "__main__":
    main()
