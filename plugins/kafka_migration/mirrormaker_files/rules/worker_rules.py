"""Rules on the standalone worker of Kafka Connect, which has keys of its own (`StandaloneConfig`)."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from kafka_migration.core.text.regex import regex
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, on_file
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, MirrorFile, MirrorSetting, Place

_FILE = "offset.storage.file.filename"
_NO_START = f"the standalone worker requires `{_FILE}` and does not start"
_FIX = f"Write `{_FILE}=` with the path of a file that the worker may write."
# What only `DistributedConfig` defines; both workers have the other keys.
_DISTRIBUTED = regex(
    r"group\.id|(?:session|rebalance)\.timeout\.ms|heartbeat\.interval\.ms|worker\.(?:sync\.timeout|unsync\.backoff)\.ms|"
    r"exactly\.once\.source\.support|connect\.protocol|scheduled\.rebalance\.max\.delay\.ms|inter\.worker\.[a-z.]{1,50}|"
    r"(?:config|offset|status)\.storage\.(?:topic|partitions|replication\.factor)|metadata\.recovery\.strategy"
)


def standalone(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each key that a standalone worker ignores, and for the one that it requires."""
    if not _is_standalone(file):
        return
    own = [each for each in file.at(Place.WORKER) if not each.client]
    if all(each.key != _FILE for each in own):
        yield _required(file, own)
    for setting in own:
        if _DISTRIBUTED.fullmatch(setting.key):
            found = "only distributed workers have this key"
            fix = "Remove it, or run a distributed worker."
            yield at(file, setting, LintCode.KEY_OF_DISTRIBUTED, found, "the standalone worker ignores it", fix)


def _is_standalone(file: MirrorFile) -> bool:
    """Return whether the name or a key says so; a resource of Strimzi is always a distributed worker."""
    if file.kind is not FileKind.WORKER or file.name.lower().endswith((".yaml", ".yml")):
        return False
    keys = {each.key for each in file.at(Place.WORKER)}
    has_file = any(key.startswith("offset.storage.file") for key in keys) and "config.storage.topic" not in keys
    return has_file or "standalone" in file.name.lower()


def _required(file: MirrorFile, own: list[MirrorSetting]) -> LintFinding:
    """Return that the file of the offsets is not named, at the key that was meant if there is one."""
    names = [each.key for each in own if not _DISTRIBUTED.fullmatch(each.key)]
    near = get_close_matches(_FILE, names, 1, 0.8)
    if near:
        setting = next(each for each in own if each.key == near[0])
        return at(file, setting, LintCode.KEY_MISSPELLED, "no version of Kafka has this key", _NO_START, _FIX)
    return on_file(file, LintCode.WORKER_FILE_MISSING, f"the file has no `{_FILE}`", _NO_START, _FIX)


WORKER_RULES = (standalone,)
