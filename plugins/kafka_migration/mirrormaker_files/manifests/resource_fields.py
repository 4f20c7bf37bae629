"""What Kubernetes and Strimzi's operator make of the fields of a resource."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from kafka_migration.core.text.secret_forms import LONGEST_NAME
from kafka_migration.core.text.shortened import some
from kafka_migration.kafka_tables.accepted import nearest_word
from kafka_migration.kafka_tables.strimzi_fields import FieldNode, strimzi_fields
from kafka_migration.mirrormaker_files.formats.yaml_documents import fields, is_null, items, line_of, text_of
from kafka_migration.mirrormaker_files.manifests.operator_keys import operator_faults
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import FieldFault

_TAG = "tag:yaml.org,2002:"
_PLAIN = {f"{_TAG}int": "integer", f"{_TAG}float": "number", f"{_TAG}bool": "boolean", f"{_TAG}str": "string"}
_WORDS = {
    "array": "a list",
    "boolean": "`true` or `false`",
    "integer": "a whole number",
    "intOrString": "a number or a text",
    "number": "a number",
    "object": "a group of fields",
    "string": "a text",
}
_FITS = {("integer", "number"), ("integer", "intOrString"), ("string", "intOrString")}
# The definitions of these API versions are those of before Kubernetes 1.22, which keep unknown fields.
_KEEPING = frozenset({"v1alpha1", "v1beta1"})
# So many unknown fields of a resource are compared with the known ones.
_MOST_COMPARED = 100
_MOST_PLACES = 4
_NO_HINT = "Correct or remove it."
_REFUSED = "Kubernetes refuses the resource"
_DROPPED = "Kubernetes refuses or drops it, so Strimzi does not see its value"


def resource_faults(resource: yaml.Node) -> tuple[FieldFault, ...]:
    """Return what is wrong about the fields of a resource of Strimzi; nothing for one of another group."""
    inner = fields(resource)
    kind, version = text_of(inner.get("kind")), text_of(inner.get("apiVersion"))
    if strimzi_fields().is_unknown_version(kind, version):
        names = ", ".join(strimzi_fields().versions(kind))
        fix = f"Write one of {names} after `kafka.strimzi.io/`."
        found = f"no release of Strimzi has {kind} in this API version"
        return (_refused(line_of(inner["apiVersion"]), "apiVersion", found, fix),)
    definition, spec = strimzi_fields().spec(kind, version), inner.get("spec")
    if definition is None:
        return tuple(_of_other_group(kind, spec)) if spec else ()
    if spec is None or is_null(spec):
        return (_missing(line_of(resource), "spec", ["`spec`"]),)
    judged = _Judged(kind, version.rpartition("/")[2], definition)
    return (*judged.faults(spec, definition, ""), *operator_faults(kind, version.rpartition("/")[2], spec))


def _refused(line: int, path: str, found: str, fix: str) -> FieldFault:
    return FieldFault(LintCode.FIELD_REFUSED, line, path, found, _REFUSED, fix)


def _missing(line: int, path: str, names: list[str]) -> FieldFault:
    found = f"the required field{'s' * (len(names) > 1)} {some(names)} {'are' if len(names) > 1 else 'is'} missing"
    return FieldFault(LintCode.FIELD_MISSING, line, path, found, _REFUSED, f"Add {some(names)}.")


def _of_other_group(kind: str, spec: yaml.Node) -> Iterator[FieldFault]:
    """Yield the misspelt fields of a resource whose group or version is not named: products extend Strimzi's kinds."""
    version = "v1" if "target" in fields(spec) else "v1beta2"
    definition = strimzi_fields().spec(kind, f"kafka.strimzi.io/{version}")
    if definition is None:
        return
    for each in _Judged(kind, version, definition).faults(spec, definition, ""):
        is_own = each.fix == _NO_HINT or strimzi_fields().versions_with(kind, each.path)
        if each.code is LintCode.FIELD_UNKNOWN and not is_own:
            yield each._replace(found=f"Strimzi's {kind} has no such field here", effect=_DROPPED)


class _Judged:
    """The judgement of one resource. Only the first unknown fields are compared with the known ones."""

    def __init__(self, kind: str, version: str, spec: FieldNode) -> None:
        self.kind, self.version, self.spec = kind, version, spec
        self._left = _MOST_COMPARED

    def faults(self, node: yaml.Node, definition: FieldNode, path: str) -> Iterator[FieldFault]:
        """Yield what is wrong about a value and what is in it. `path` is that of its field, empty for `spec`."""
        if is_null(node) or _is_template(node):
            return
        kind = _type_of(node)
        is_other = kind and definition.type and kind != definition.type
        if is_other and (kind, definition.type) not in _FITS:
            found, wanted = f"the value is {_WORDS[kind]}", _WORDS.get(definition.type, definition.type)
            fix = f"Write {wanted}{_quotes(kind, definition.type)}."
            yield _refused(line_of(node), path or "spec", found, fix)
        elif isinstance(node, yaml.ScalarNode):
            yield from _value(node, definition, kind, path)
        elif isinstance(node, yaml.SequenceNode):
            for each in items(node):
                yield from self.faults(each, definition.items, path)
        elif definition.fields is not None:
            yield from self._fields(node, definition, path)

    def _fields(self, node: yaml.Node, definition: FieldNode, path: str) -> Iterator[FieldFault]:
        named, known = fields(node), definition.fields or {}
        lines = _lines(node)
        missing = [name for name in definition.required if name not in named or is_null(named[name])]
        for name, value in named.items():
            here = f"{path}.{name}" if path else name
            if name in known:
                yield from self.faults(value, known[name], here)
            elif not self._is_key_of_connectors(name, value, path, definition):
                fault = self._unknown(name, definition, path, set(named))
                meant = definition.nearest(name) if missing else ""
                if meant in missing:
                    missing.remove(meant)
                    found = f"{fault.found}, and `{meant}` is required"
                    fault = fault._replace(found=found, effect=_REFUSED, fix=f"Write `{meant}`.")
                yield fault._replace(line=lines.get(name, line_of(value)), path=here)
        if missing:
            names = [f"`{name}`" for name in missing]
            yield _missing(line_of(node), f"{path}.{missing[0]}".lstrip("."), names)

    def _is_key_of_connectors(self, name: str, value: yaml.Node, path: str, definition: FieldNode) -> bool:
        """Return whether the first operators hand an unknown field to the connectors, as they did for v1alpha1."""
        is_place = self.kind == "KafkaMirrorMaker2" and path in {"mirrors", "clusters"}
        is_scalar = isinstance(value, yaml.ScalarNode) and not definition.nearest(name)
        return self.version in _KEEPING and is_place and is_scalar

    def _unknown(self, name: str, definition: FieldNode, path: str, there: set[str]) -> FieldFault:
        here, fix = f"{path}.{name}" if path else name, _NO_HINT
        self._left -= 1
        if self._left >= 0 and len(name) <= LONGEST_NAME:
            others = [each for each in strimzi_fields().versions_with(self.kind, here) if each != self.version]
            fix = _meant(name, definition, self.spec, path, others, there)
        found = f"{self.kind} of {self.version} has no such field here"
        is_kept = self.version in _KEEPING
        effect = "Strimzi's operator does not know it, so its value has no effect" if is_kept else _DROPPED
        return FieldFault(LintCode.FIELD_UNKNOWN, 0, here, found, effect, fix)


def _meant(name: str, definition: FieldNode, spec: FieldNode, path: str, others: list[str], there: set[str]) -> str:
    """Return what to do with an unknown field."""
    near = definition.nearest(name)
    if near and near.lower() == name.lower().replace(".", ""):
        return f"Write `{near}`."
    if name == "password" and "passwordSecret" in (definition.fields or {}):
        return "Put it into a Secret, and name that in `passwordSecret`."
    if others:
        return f"Remove it; only the API version {some(others)} has it."
    if "." in name and "config" in (definition.fields or {}):
        return "Move it into `config`."
    if places := _places(name, spec, path):
        return f"Move it to {' or '.join(f'`{each}`' for each in places)}, or remove it."
    if near:
        return f"Remove it, or write `{near}`." if near in there else f"Write `{near}`."
    return _NO_HINT


def _places(name: str, spec: FieldNode, path: str) -> list[str]:
    """Return the nearest paths with a field of this name: in the same part of the resource, if there are any."""
    found = list(spec.paths(name))
    shared = {each: _shared(each.split("."), path.split(".")) for each in found}
    most = max(shared.values(), default=0)
    near = [each for each in found if shared[each] == most and (most or len(found) == 1)]
    least = min((each.count(".") for each in near), default=0)
    return [each for each in near if each.count(".") == least][:_MOST_PLACES]


def _shared(one: list[str], other: list[str]) -> int:
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


def _value(node: yaml.ScalarNode, definition: FieldNode, kind: str, path: str) -> Iterator[FieldFault]:
    text, words = text_of(node), definition.words
    found = fix = ""
    if words and text not in words:
        near = nearest_word(text, words)
        found, listed = "the value is none of the words of this field", ", ".join(f"`{each}`" for each in words)
        fix = f"Write `{near}`." if near else f"Write one of {listed}."
    elif kind == "integer" and (limit := definition.limit(int(text))):
        found, fix = "the value is out of range", f"Write {limit}."
    elif kind == "string" and not definition.fits(text):
        found, fix = (
            "the value does not have the form of this field",
            f"Write a value that fits `{definition.pattern}`.",
        )
    if found:
        yield _refused(line_of(node), path, found, fix)


def _type_of(node: yaml.Node) -> str:
    """Return the type of a value as Kubernetes reads it; empty where its YAML may differ from this one's."""
    if isinstance(node, yaml.CollectionNode):
        return "object" if isinstance(node, yaml.MappingNode) else "array"
    kind, text = _PLAIN.get(node.tag, ""), str(node.value)
    if kind == "boolean" and text.lower() not in {"true", "false"}:
        return ""
    is_decimal = text.lstrip("+-").replace(".", "", 1).isdecimal() and not text.lstrip("+-").startswith("0")
    return "" if kind in {"integer", "number"} and not (is_decimal or text == "0") else kind


def _is_template(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and any(sign in node.value for sign in ("${", "{{", "$(", "<"))


def _quotes(kind: str, wanted: str) -> str:
    if wanted == "string":
        return " in quotes" if kind in {"integer", "number", "boolean"} else ""
    return " without quotes" if kind == "string" and wanted in {"integer", "number", "boolean"} else ""


def _lines(node: yaml.Node) -> dict[str, int]:
    """Return the lines of the names of a mapping."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return {str(key.value): line_of(key) for key, _ in pairs if isinstance(key, yaml.ScalarNode)}
