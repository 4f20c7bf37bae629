"""Loads migration files: returns a frozen `Migration`, or reports all mistakes at once."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Hashable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.migration.alert_settings import AlertSettings
from kafka_migration.core.migration.settings import (
    UNREACHABLE_STALLS,
    Cluster,
    CutoverSettings,
    Hook,
    HookName,
    Insecurity,
    Migration,
    MirrorSettings,
    NightlySettings,
    SchemaRegistrySettings,
    Tolerance,
    TopicNames,
    ValidationSettings,
    WatchSettings,
)
from kafka_migration.core.text.shortened import brief, given
from kafka_migration.migration_file.alerts_section import AlertsModel
from kafka_migration.migration_file.mistakes import OddNumber, invalid, is_odd_number, mistakes, wrong_value
from kafka_migration.migration_file.models import HooksModel, Insecure, MigrationModel, SchemaRegistryModel
from kafka_migration.migration_file.regular_files import FileTooLarge, regular_bytes
from kafka_migration.migration_file.relations import relation_mistakes
from kafka_migration.migration_file.topics_section import frozen_rules

MAX_FILE_BYTES = 1_000_000
# The largest migration has some 40,000 values: 5,000 topics, each with three settings.
MAX_VALUES = 50_000
LONGEST_NUMBER = 100
MAX_FINDINGS = 100

Model = TypeVar("Model", bound=BaseModel)
Section = TypeVar(
    "Section", MirrorSettings, TopicNames, WatchSettings, ValidationSettings, CutoverSettings, NightlySettings
)


class _PlainLoader(yaml.SafeLoader):
    """A safe loader for files that people write.

    It refuses duplicate keys, of which YAML would silently use the last one; aliases, which can expand a few lines to
    gigabytes; more values than the largest migration has; and very long numbers. A number that YAML reads in another
    way than people do becomes an `OddNumber`, which no field takes.
    """

    values = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) is not None:
            raise yaml.composer.ComposerError(
                None, None, "an alias or anchor; write the value itself", event.start_mark
            )
        self.values += 1
        if self.values > MAX_VALUES:
            raise yaml.composer.ComposerError(None, None, f"more than {MAX_VALUES:,} values", event.start_mark)
        return super().compose_node(parent, index)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        is_text = node.tag == "tag:yaml.org,2002:str"
        if isinstance(node, yaml.ScalarNode) and not is_text and len(node.value) > LONGEST_NUMBER:
            raise yaml.constructor.ConstructorError(
                None, None, f"a number of more than {LONGEST_NUMBER} characters", node.start_mark
            )
        value = self._constructed(node, deep)
        return OddNumber(node.value, value) if is_odd_number(node.tag, node.value) else value

    def _constructed(self, node: yaml.Node, deep: bool) -> Any:
        """Construct a value; an error in the value itself, such as a date that does not exist, names its place."""
        try:
            return super().construct_object(node, deep)
        except yaml.constructor.ConstructorError as error:
            problem = f"the tag {node.tag}" if "tag" in str(error.problem) else error.problem
            raise yaml.constructor.ConstructorError(None, None, problem, error.problem_mark) from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            kind = node.tag.rpartition(":")[2]
            problem = f"{given(node.value)}, which is not a valid {kind}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.constructor.ConstructorError(None, None, "a key that is no text", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the duplicate key {given(key)}", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_migration_text(path: Path) -> str:
    """Return the text of a migration file.

    Raises `Refused`: `MIGRATION_FILE_MISSING` if it cannot be read or is not a regular file, `MIGRATION_FILE_INVALID`
    if it is too large or is not UTF-8 text.
    """
    try:
        return regular_bytes(path, MAX_FILE_BYTES).decode("utf-8-sig")
    except FileTooLarge as error:
        remedy = "Take topics by patterns, or divide them among several migration files."
        happened = f"The file has {error}, the most that a migration file may have."
        expected = f"at most {MAX_FILE_BYTES:,} bytes"
        raise Refused([invalid(str(path), str(error), expected, happened, remedy)]) from None
    except UnicodeDecodeError as error:
        found = f"byte {error.start + 1:,} of the file, which is not text in UTF-8"
        happened = f"Byte {error.start + 1:,} of the file is not text in UTF-8."
        raise Refused([invalid(str(path), found, "text in UTF-8", happened, "Save the file in UTF-8.")]) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        finding = Finding(
            Code.MIGRATION_FILE_MISSING,
            str(path),
            reason or type(error).__name__,
            "a regular file that Airflow's user may read",
            "Put the migration file at this path, or correct its permissions, or the folder in [kafka_migration] "
            "migrations_folder.",
            happened=f"The migration file cannot be read: {reason or type(error).__name__}.",
            matters="No run of this migration can start.",
        )
        raise Refused([finding]) from None


@functools.lru_cache(maxsize=32)
def load_migration(text: str, *, where: str) -> Migration:
    """Check the text of a migration file and freeze its settings; the same text is checked once per process.

    `where` names the file in findings. Raises `Refused` with one `MIGRATION_FILE_INVALID` finding per mistake.
    """
    model = _checked(MigrationModel, text, where)
    if late := [wrong_value(where, place, given(value), words) for place, value, words in relation_mistakes(model)]:
        raise Refused(late)
    return _freeze(model, hashlib.sha256(text.encode()).hexdigest())


def load_migration_file(path: Path) -> tuple[str, Migration]:
    """Read and check a migration file; return its text and the frozen migration.

    Raises `Refused`, also if the file is not named after its migration. Otherwise the DAG, the evidence and
    MirrorMaker's internal topics could have names of different migrations.
    """
    text = read_migration_text(path)
    migration = load_migration(text, where=path.name)
    if migration.name != path.stem:
        expected = f"{path.stem!r}, the name of the file"
        remedy = f"Rename the file to {migration.name}.yaml, or the migration to {path.stem!r}."
        raise Refused([wrong_value(path.name, "name", repr(migration.name), expected, remedy)])
    return text, migration


def load_alerts_file(path: Path) -> AlertSettings:
    """Read and check a file with the fields of the section `alerts` of a migration file.

    Raises `Refused` (`ALERTS_INVALID`) with one finding per mistake.
    """
    try:
        return _alerts(read_migration_text(path), where=path.name)
    except Refused as refused:
        remedy = (
            "Correct the file that [kafka_migration] alerts_file names. It has the fields of section `alerts`, which "
            "`kafka-migration schema` lists."
        )
        raise Refused(replace(f, code=Code.ALERTS_INVALID, remedy=remedy) for f in refused.findings) from None


@functools.lru_cache(maxsize=2)
def _alerts(text: str, *, where: str) -> AlertSettings:
    """Check the text of an alerts file; parsing asks for it once per DAG, and the same text is checked once."""
    return _checked(AlertsModel, text, where).frozen()


def alert_settings(migration: Migration | None, alerts_file: Path | None) -> AlertSettings:
    """Return the alert settings of a migration: from its file, else from the alerts file that the configuration names.

    `None` is a migration whose file cannot be read. Raises `Refused` (`ALERTS_INVALID`).
    """
    if migration is not None and migration.alerts is not None:
        return migration.alerts
    return AlertSettings() if alerts_file is None else load_alerts_file(alerts_file)


def load_migrations(folder: Path) -> tuple[Migration, ...]:
    """Return the migrations of all readable `*.yaml` files in the folder, sorted by file name."""
    migrations = []
    for path in sorted(folder.glob("*.yaml")):
        # An invalid file refuses only its own runs.
        with contextlib.suppress(Exception):
            migrations.append(load_migration_file(path)[1])
    return tuple(migrations)


def _checked(form: type[Model], text: str, where: str) -> Model:
    data = _parse_yaml(text, where)
    try:
        return form.model_validate(data)
    except ValidationError as error:
        findings, further = mistakes(form, where, error.errors(), MAX_FINDINGS)
        if further:
            more = f"{further:,} more mistakes"
            findings.append(invalid(where, more, "none", f"The file has {more}.", "Correct the listed mistakes first."))
        raise Refused(findings) from None
    except RecursionError:
        raise Refused([_too_deep(where)]) from None


def _problem(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.reader.ReaderError):
        return f"the character U+{error.character:04X}"
    return getattr(error, "problem", None) or "invalid YAML"


def _parse_yaml(text: str, where: str) -> Any:
    try:
        # The loader is a SafeLoader: tags in the file can only create plain values.
        data = yaml.load(text, Loader=_PlainLoader)  # noqa: S506
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise Refused([_no_yaml(where, f"{place}{brief(_problem(error))}")]) from None
    except RecursionError:
        raise Refused([_too_deep(where)]) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise Refused([_no_yaml(where, f"{type(error).__name__}: {error}"[:200])]) from None
    if not isinstance(data, dict):
        happened = "The file has no fields at its top level."
        raise Refused([invalid(where, "no mapping at the top level", "a mapping of its fields", happened)])
    return data


def _no_yaml(where: str, found: str) -> Finding:
    remedy = "Correct the file at this place; an editor that knows YAML shows the mistake."
    return invalid(where, found, "valid YAML", f"The file is no valid YAML: {found}.", remedy)


def _too_deep(where: str) -> Finding:
    remedy = "Write the fields that `kafka-migration schema` lists; no field has so many levels."
    happened = "Values of the file are nested too deeply."
    return invalid(where, "values nested too deeply", "a migration file", happened, remedy)


def _freeze(model: MigrationModel, digest: str) -> Migration:
    source, target, mirror, watch = model.source, model.target, model.mirror, model.watch
    rules = frozen_rules(model.topics)
    return Migration(
        name=model.name,
        source=Cluster(source.connection, source.alias or f"{model.name}-source", _insecure(source.insecure)),
        target=Cluster(target.connection, f"{model.name}-target", _insecure(target.insecure)),
        target_replication_factor=target.replication_factor,
        topics=rules.names,
        rules=rules,
        mirror=_section(
            MirrorSettings,
            mirror,
            topic_names=_section(TopicNames, mirror.topic_names),
            connect=None if mirror.connect is None else mirror.connect.frozen(),
        ),
        watch=_section(
            WatchSettings,
            watch,
            unreachable_after_s=watch.unreachable_after or UNREACHABLE_STALLS * watch.stall_after,
        ),
        validation=_section(
            ValidationSettings,
            model.validation,
            tolerance=Tolerance(duplicates=model.validation.max_duplicates, aborted=model.validation.max_aborted),
        ),
        cutover=_section(
            CutoverSettings, model.cutover, near_offsets=model.cutover.near, hooks=_hooks(model.cutover.hooks)
        ),
        nightly=None if model.nightly is None else _section(NightlySettings, model.nightly),
        digest=digest,
        alerts=None if model.alerts is None else model.alerts.frozen(),
        schema_registry=None if model.schema_registry is None else _registries(model.schema_registry),
        accept=frozenset(map(Code, model.accept)),
    )


def _section(kind: type[Section], model: BaseModel, **others: Any) -> Section:
    """Return a section of the migration from the fields of the same names; a duration in seconds adds `_s`."""
    values = dict(model)
    names = [field.name for field in fields(kind) if field.name not in others]
    found = {name: values[name if name in values else name.removesuffix("_s")] for name in names}
    parts: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in found.items()}
    return kind(**parts, **others)


def _insecure(named: list[Insecure]) -> tuple[Insecurity, ...]:
    return tuple(Insecurity(each) for each in dict.fromkeys(named))


def _registries(model: SchemaRegistryModel) -> SchemaRegistrySettings:
    parts = {topic: tuple(dict.fromkeys(named)) for topic, named in model.parts.items()}
    return SchemaRegistrySettings(model.source, model.target, parts)


def _hooks(hooks: HooksModel) -> dict[HookName, Hook]:
    named = {name: getattr(hooks, name) for name in HookName}
    return {name: Hook(hook.dag, hook.callable) for name, hook in named.items() if hook is not None}
