"""The migration file and the connections for what MirrorMaker files do, and the use of each of their settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_migration.core.discovery.commands import ConnectionToCreate, connection_base, mirror_host_connection
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.reserved_topics import is_internal
from kafka_migration.core.migration.patterns import matches
from kafka_migration.core.migration.settings import UNMOVED_GROUP_PREFIXES
from kafka_migration.core.text.brief import some
from kafka_migration.core.text.secret_forms import given_unless_secret, has_secret_form
from kafka_migration.mirrormaker_files.importing.chosen_flow import Side, SidedSetting, chosen_flow, sided
from kafka_migration.mirrormaker_files.importing.import_rules import MIRROR_GROUP, Decision, Use, decide
from kafka_migration.mirrormaker_files.importing.imported_connections import (
    insecurities_of,
    kafka_connection,
    values_of,
)
from kafka_migration.mirrormaker_files.importing.imported_file import FileParts, file_text
from kafka_migration.mirrormaker_files.importing.imported_topics import NameItem, items_of, patterns_of
from kafka_migration.mirrormaker_files.model.judging import name_of, quoted, refusal
from kafka_migration.mirrormaker_files.model.limits import MOST_EXCLUSIONS
from kafka_migration.mirrormaker_files.model.mirror_settings import COMMENT, Flow, MirrorFile, Place

# The exclusions of MirrorMaker 2 that a migration's patterns do not have by themselves.
_DEFAULT_EXCLUSIONS = (r".*[\-\.]internal", r".*\.replica")


@dataclass(frozen=True, slots=True)
class KeyUse(Document):
    """What became of one setting: used, replaced by what the package does, or reported because it has no place."""

    file: str
    line: int
    key: str
    use: Use
    where: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The text of a migration file, the connections to create, and the use of every setting."""

    text: str
    connections: tuple[ConnectionToCreate, ...]
    uses: tuple[KeyUse, ...]


def import_files(
    files: Sequence[MirrorFile], name: str, flow: str | None = None, *, to_mirrormaker2: bool = False
) -> Imported:
    """Return the migration of one flow. `to_mirrormaker2`: MirrorMaker 2 copies what MirrorMaker 1 did.

    Raises `Refused` with `MIRROR_FILE_NOT_IMPORTED` if the flow is not clear, or its topics cannot be expressed.
    """
    chosen = chosen_flow(files, flow)
    _require_no_secret(files[0].name, chosen)
    settings = list(sided(files, chosen))
    uses = tuple(_use(each, decide(each, chosen)) for each in settings)
    # A setting of a flow or cluster wins over one of the top level, wherever it stands.
    settings.sort(key=lambda each: each.setting.place is not Place.TOP)
    decisions = [decide(each, chosen) for each in settings]
    fields = {decision.field: decision.value for decision in decisions if decision.field}
    if fields.get("exactly_once") and fields.get("isolation_level") == "read_uncommitted":
        remedy = "MirrorMaker 2 refuses this too. Correct one of them in a copy of the file, and import the copy."
        found = "exactly-once with isolation.level=read_uncommitted"
        raise Refused([_not_imported(files[0].name, found, "read_committed with exactly-once", remedy)])
    connections = _connections(settings, chosen)
    exclusions = _exclusions(files, fields)
    topics = _topics(files, fields, exclusions)
    parts = FileParts(
        name=name,
        origin=some([file.name for file in files]),
        flow=chosen,
        source=connections[0].name,
        target=connections[1].name,
        mirror_host=connections[2].name,
        insecure=tuple(insecurities_of(each) for each in connections[:2]),
        topics=topics,
        # They matter only beside patterns.
        exclusions=() if all(item.is_name for item in topics) else exclusions,
        groups=_groups(fields),
        fields=fields,
        is_mirrormaker1=files[0].kind.is_mirrormaker1,
        to_mirrormaker2=to_mirrormaker2,
    )
    return Imported(file_text(parts), connections, uses)


def _require_no_secret(file: str, flow: Flow) -> None:
    """Aliases become names of connections and a part of the migration file."""
    if any(has_secret_form(alias) or COMMENT.search(alias) for alias in flow.ends):
        remedy = "Correct `clusters` in a copy of the file, and import the copy."
        raise Refused([_not_imported(file, "an alias with a comment or a secret", "names of clusters", remedy)])


def _use(each: SidedSetting, decision: Decision) -> KeyUse:
    return KeyUse(each.file.name, each.setting.line, name_of(each.setting), decision.use, quoted(decision.where))


def _connections(settings: Sequence[SidedSetting], flow: Flow) -> tuple[ConnectionToCreate, ...]:
    names = [f"{connection_base(alias)}_kafka" for alias in (flow.source, flow.target)]
    if names[0] == names[1]:
        names = [f"source_{names[0]}", f"target_{names[1]}"]
    clusters = [
        kafka_connection(name, values_of(each for each in settings if each.side in {side, Side.BOTH}))
        for name, side in zip(names, (Side.SOURCE, Side.TARGET), strict=True)
    ]
    return (*clusters, mirror_host_connection("mirror_host"))


def _topics(
    files: Sequence[MirrorFile], fields: dict[str, str], exclusions: Sequence[NameItem]
) -> tuple[NameItem, ...]:
    """Return the names and patterns to copy."""
    is_mirrormaker1 = files[0].kind.is_mirrormaker1
    value = fields.get("topics", "" if is_mirrormaker1 else ".*")
    excluded = patterns_of(exclusions)
    found = _usable(items_of(value, is_mirrormaker1=is_mirrormaker1), "topics")
    items = tuple(item for item in found if not (item.is_name and _is_left_out(item.text, excluded)))
    if not items:
        missing = "no --whitelist and no --include" if is_mirrormaker1 else "no topics"
        remedy = "Add the script with the command line." if is_mirrormaker1 else "Add `topics`."
        raise Refused([_not_imported(files[0].name, missing, "the topics to copy", remedy)])
    return items


def _groups(fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the patterns of the groups to move: those of the files, or all but the group of MirrorMaker 1 itself."""
    if MIRROR_GROUP in fields:
        # The name has letters, digits, dots, _ and - only.
        group = fields[MIRROR_GROUP].replace(".", "[.]")
        return (f"(?!{group}$|{'|'.join(UNMOVED_GROUP_PREFIXES)}).+",)
    return tuple(patterns_of(_usable(items_of(fields.get("groups", "")), "groups")))


def _is_left_out(name: str, excluded: Sequence[str]) -> bool:
    """Return whether MirrorMaker does not copy a topic that is named: it is excluded, or internal."""
    return matches(name, excluded) or is_internal(name)


def _exclusions(files: Sequence[MirrorFile], fields: dict[str, str]) -> tuple[NameItem, ...]:
    value = fields.get("topics.exclude", "" if files[0].kind.is_mirrormaker1 else ",".join(_DEFAULT_EXCLUSIONS))
    found = _usable(items_of(value), "topics.exclude")
    if len(found) > MOST_EXCLUSIONS:
        # Each named topic is compared with each of them.
        remedy = "Name fewer and wider patterns in a copy of the file, and import the copy."
        raise Refused([_not_imported("topics.exclude", f"{len(found):,} items", f"at most {MOST_EXCLUSIONS}", remedy)])
    return found


def _usable(items: Iterable[NameItem], key: str) -> tuple[NameItem, ...]:
    found: dict[NameItem, int] = {}
    for position, item in enumerate(items, 1):
        found.setdefault(item, position)
    if wrong := [item for item in found if item.problem]:
        remedy = "Write the pattern differently in a copy of the file, and import the copy."
        texts = [f"item {found[item]}, {given_unless_secret(item.text)}: {item.problem}" for item in wrong]
        raise Refused([_not_imported(key, text, "a pattern that a migration file takes", remedy) for text in texts])
    return tuple(found)


def _not_imported(subject: str, found: str, expected: str, remedy: str) -> Finding:
    return refusal(Code.MIRROR_FILE_NOT_IMPORTED, subject, found, expected, remedy)
