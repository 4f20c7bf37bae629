"""Rules on the lines of clients: which of them reach the reader and the writer of the records."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.core.text.shortened import some
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.ground.right_place import right_place
from kafka_migration.mirrormaker_files.ground.views import SOURCE, is_dedicated, running_flows
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at
from kafka_migration.mirrormaker_files.model.mirror_settings import PER_OWNER, MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import role_of_class


def wrong_sides(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each line of a client that neither reads nor writes the records that are copied."""
    running = running_flows(file, ground)
    for setting in file.settings:
        client = setting.client
        readers = [each.reader for each, _ in ground.readers.uses_of(setting)]
        if client not in {"producer", "consumer"} or not running or _is_login(setting, ground):
            continue
        if not readers and not _is_of_no_client(file, setting, ground):
            continue
        if file.kind in PER_OWNER and not _is_of_source(file, setting):
            continue
        if not any(each.role == client and each.duty == "records" and each.flow in running for each in readers):
            duties = some(sorted({each.duty for each in readers if each.role == client and each.duty}))
            verb = "reads" if client == "consumer" else "writes"
            found = f"the {client} that {verb} the records does not get this line"
            effect = f"it reaches only the {client} of the {duties}" if duties else "it has no effect on the copy"
            fix = right_place(file, setting, ground)
            yield at(file, setting, LintCode.CLIENT_LIMITED, found, effect, fix)


def _is_of_no_client(file: MirrorFile, setting: MirrorSetting, ground: Ground) -> bool:
    """Return whether a line that reaches no client is meant for one of a flow that runs."""
    owners = {str(flow) for flow in file.flows} | {end for flow in file.flows for end in flow.ends}
    is_known = ground.keys.get(setting.client, setting.key) is not None
    is_last = file.last(setting.place, setting.key, setting.owner, setting.client) is setting
    return is_dedicated(file) and is_known and is_last and setting.owner in owners


def _is_of_source(file: MirrorFile, setting: MirrorSetting) -> bool:
    """Return whether a line belongs to a source connector, which has the clients of the records."""
    kind = file.last(Place.CONNECTOR, "connector.class", setting.owner)
    return setting.name.startswith("sourceConnector.") or (kind is not None and role_of_class(kind.value) == SOURCE)


def _is_login(setting: MirrorSetting, ground: Ground) -> bool:
    """Return whether all clients of a cluster need the key, such as a login."""
    return ground.keys.get("mirror_client", setting.key) is not None or setting.key.startswith(("ssl.", "sasl."))


SIDE_RULES = (wrong_sides,)
