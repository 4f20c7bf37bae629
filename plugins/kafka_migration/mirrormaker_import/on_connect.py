"""What becomes of the lines of a connector and its worker if the migration runs on the same Kafka Connect cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kafka_migration.core.migration.migration_text import Remarked, Value
from kafka_migration.core.migration.secret_properties import SECRET_PROPERTIES
from kafka_migration.core.text.secret_forms import has_key_form, has_secret_form
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_import.flow_readers import CONNECTION_KEYS
from kafka_migration.mirrormaker_import.import_rules import Decision, Use
from kafka_migration.mirrormaker_import.imported_connections import is_reference
from kafka_migration.mirrormaker_import.line_values import LineValues, plain

# The fields of `mirror.connect`, by the keys of a worker in distributed mode.
WORKER_FIELDS: Mapping[str, str] = {
    "status.storage.topic": "status_topic",
    "config.storage.topic": "config_topic",
    "offset.storage.topic": "offset_topic",
    "group.id": "group",
}
# Only a worker in standalone mode has it.
_STANDALONE = "offset.storage.file.filename"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")
# A reference that a provider of the workers resolves; it shows the name of a file and of a key.
_REFERENCE = re.compile(r"\$\{[A-Za-z][\w-]{0,50}:[\w./@:-]{1,300}\}")
# The connection of the Connect cluster.
CONNECT = "connect"
# What Kafka's own example of a worker has.
_USUAL_STATUS_TOPIC = "connect-status"
_KEPT = Decision(Use.USED, "the workers, which keep it")


def is_on_connect(files: Sequence[MirrorFile]) -> bool:
    """Return whether the files are connectors, with or without their worker, unless that is in standalone mode."""
    workers = [file for file in files if file.kind is FileKind.WORKER]
    is_standalone = any(file.last(Place.WORKER, _STANDALONE) is not None for file in workers)
    return not is_standalone and {file.kind for file in files} <= {FileKind.CONNECTORS, FileKind.WORKER}


def of_worker(setting: MirrorSetting) -> Decision | None:
    """Return what becomes of a worker's line; `None` if it is decided as for any other MirrorMaker."""
    field = "" if setting.client else WORKER_FIELDS.get(setting.key, "")
    value = plain(setting)
    if field and _NAME.fullmatch(value) and not has_secret_form(value):
        return Decision(Use.USED, f"mirror.connect.{field}", LineValues(workers={field: value}))
    if field:
        return Decision(Use.REPORTED, f"write its value into mirror.connect.{field}")
    # The profile of the engine overrides the settings of the workers' producers.
    is_of_producer = setting.client == "producer" or setting.key.startswith(CONNECTION_KEYS)
    return None if is_of_producer or setting.key == "exactly.once.source.support" else _KEPT


def of_source_connector(setting: MirrorSetting) -> Decision | None:
    """Return what becomes of a line of the source connector; `None` if it is decided as for any other MirrorMaker."""
    if setting.name == "exactly.once.support":
        if plain(setting) == "required":
            return Decision(Use.USED, "mirror.exactly_once", LineValues(exactly_once=True))
        return Decision(Use.REPLACED, "the setting of the workers counts")
    return _of_secret(setting)


def _of_secret(setting: MirrorSetting) -> Decision | None:
    """Return what becomes of a reference that stands for a secret of one side's clients; `None` for another line."""
    side = setting.side or ("target" if setting.client == "producer" else "")
    if not side or setting.key not in SECRET_PROPERTIES or not is_reference(setting):
        return None
    value = plain(setting)
    if _REFERENCE.fullmatch(value) is None or has_key_form(value):
        whole = "a reference to the whole value, through a provider of the workers"
        return Decision(Use.REPORTED, f"write {whole}, into mirror.connect.secrets.{side}")
    where = f"mirror.connect.secrets.{side}; put the value itself into the connection of the {side}"
    return Decision(Use.USED, where, LineValues(secrets={(side, setting.key): value}))


def connect_section(values: LineValues) -> Mapping[str, Value]:
    """Return `mirror.connect`. What the worker's file would tell has a remark if the file was not given."""
    guess = Remarked(_USUAL_STATUS_TOPIC, "not in the files: write status.storage.topic of the workers")
    secrets = {side: of for side in ("source", "target") if (of := _of_side(values, side))}
    return {"status_topic": guess, **_distinct(values.workers), "secrets": secrets or None}


def _distinct(fields: Mapping[str, str]) -> Mapping[str, str]:
    """Return the fields in the order of `WORKER_FIELDS`, without a topic that has two purposes."""
    found = dict[str, str]()
    for name in WORKER_FIELDS.values():
        if name in fields and (name == "group" or fields[name] not in found.values()):
            found[name] = fields[name]
    return found


def _of_side(values: LineValues, side: str) -> Mapping[str, Value]:
    return {key: value for (of, key), value in values.secrets.items() if of == side}
