"""Rules on the names of topics on the target: policies, separators and aliases, of each connector and of all flows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.shortened import some
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given
from kafka_migration.mirrormaker_files.ground.ground import (
    CHECKPOINT,
    SOURCE,
    Ground,
    at_given,
    is_given,
    is_of,
    line_of,
    lines_in,
)
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, key_of, listed, on_file
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind, Flow, MirrorFile
from kafka_migration.mirrormaker_files.model.readers_of_keys import STORAGE_TOPICS

POLICY, SEPARATOR, ALIAS = "replication.policy.class", "replication.policy.separator", "source.cluster.alias"
DEFAULT, IDENTITY = "DefaultReplicationPolicy", "IdentityReplicationPolicy"
_LEGAL = regex(r"[A-Za-z0-9._-]{1,249}")
# More beginnings of names are not compared with the names of topics.
_MOST_STARTS = 100
# A name, or the beginning of names.
_SIMPLE = regex(r"(?:[A-Za-z0-9_-]|\\?\.(?!\*)){0,249}(?:\.\*)?")
# More pairs of flows are not compared with each other.
_MOST_PAIRS = 10_000


class Naming(NamedTuple):
    """How a connector names topics: the policy's class without its package, the separator, and the source's alias."""

    policy: str
    separator: str
    alias: str

    @property
    def keeps_names(self) -> bool:
        """Whether topics keep their names: by the policy, or by the way that was usual before Kafka 3.0."""
        return self.policy == IDENTITY or (self.policy == DEFAULT and not self.alias + self.separator)


def naming(each: Effective) -> Naming:
    """Return how a connector names topics."""
    policy = each.value(POLICY).rpartition(".")[2] or DEFAULT
    return Naming(policy, each.value(SEPARATOR, "."), each.value(ALIAS))


def policies(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each connector of a flow that names topics in another way than its source connector."""
    for flow in file.flows:
        sources = list(ground.connectors(flow, SOURCE))
        for other in ground.connectors(flow, CHECKPOINT) if sources else ():
            own, its = naming(sources[0]), naming(other)
            is_other = (own.policy, own.separator) != (its.policy, its.separator)
            if is_of(file, other) and is_other and not own.keeps_names & its.keeps_names:
                yield _differ(file, flow, sources[0], other)


def _differ(file: MirrorFile, flow: Flow, source: Effective, other: Effective) -> LintFinding:
    key = POLICY if naming(source).policy != naming(other).policy else SEPARATOR
    given = [each.values.get(key) for each in (other, source)]
    found = f"the source and the checkpoint connector of {flow} differ in `{key}`"
    effect = "checkpoints name topics that do not exist on the target, so groups are not moved"
    fix = f"Give both connectors the same `{key}`."
    # Connectors with settings of their own do not share the line of the source connector.
    is_apart = file.kind in {FileKind.STRIMZI, FileKind.CONNECTORS}
    lines = [each.setting.line if each and each.setting and is_given(each, file) else 0 for each in given]
    others = tuple(line for line in lines[1:] if line and is_apart)
    there = next((each for each in (given[:1] if is_apart else given) if each and is_given(each, file)), None)
    if there:
        return at_given(file, there, LintCode.POLICIES_DIFFER, found, effect, fix, others)
    finding = on_file(file, LintCode.POLICIES_DIFFER, found, effect, fix, line_of(file, other, flow))
    return replace(finding, others=others)


def aliases(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each alias or separator that is blank, or that one line gives to several flows.

    Connectors on Kafka Connect have rules of their own (`connector_names`).
    """
    by_line = defaultdict[int, list[tuple[Flow, Effective, str, Given]]](list)
    for flow, each in () if file.kind is FileKind.CONNECTORS else ground.of_flows(file, SOURCE):
        for key in (ALIAS, "target.cluster.alias", SEPARATOR):
            if given := each.given_in(file, key):
                by_line[id(given.setting)].append((flow, each, key, given))
    for uses in by_line.values():
        yield from _alias(file, uses)


def _alias(file: MirrorFile, uses: Sequence[tuple[Flow, Effective, str, Given]]) -> Iterator[LintFinding]:
    flow, each, key, given = uses[0]
    own, is_blank = naming(each), not given.value.strip()
    if own.policy == IDENTITY and key == SEPARATOR:
        return
    if key == SEPARATOR:
        if is_blank and own.alias:
            yield blank_separator(file, given, flow.source)
    elif is_blank and own.keeps_names and own.policy == DEFAULT:
        yield kept_by_blanks(file, given)
    elif is_blank and own.policy == DEFAULT:
        found = "the alias is blank, and the separator is not"
        effect = "a topic such as orders gets only the separator in front of its name"
        yield at_given(file, given, LintCode.ALIAS_OVERRIDDEN, found, effect, "Remove the line.")
    else:
        yield from _overridden(file, uses, key, given)


def blank_separator(file: MirrorFile, given: Given, alias: str) -> LintFinding:
    """Return the finding for a blank separator after an alias."""
    found = "the separator is blank"
    effect = f"orders becomes {alias}orders, and MirrorMaker cannot tell the alias from the name"
    fix = "Write a separator, or use IdentityReplicationPolicy to keep the names."
    return at_given(file, given, LintCode.SEPARATOR_BLANK, found, effect, fix)


def kept_by_blanks(file: MirrorFile, given: Given, others: tuple[int, ...] = ()) -> LintFinding:
    """Return the finding for a blank alias and a blank separator, with which topics keep their names."""
    found = "the alias and the separator are blank"
    effect = "topics keep their names; MirrorMaker does not know which topics are copies"
    fix = "From Kafka 3.0 on, IdentityReplicationPolicy does the same in a clearer way."
    return at_given(file, given, LintCode.NAMES_KEPT_BY_BLANKS, found, effect, fix, others)


def _overridden(
    file: MirrorFile, uses: Sequence[tuple[Flow, Effective, str, Given]], key: str, given: Given
) -> Iterator[LintFinding]:
    end = 0 if key == ALIAS else 1
    wrong = [flow for flow, *_ in uses if flow.ends[end] != given.value.strip()]
    setting = given.setting
    if wrong and setting is not None:
        found = f"this line gives the flow {wrong[0]} an alias that is not that of its {('source', 'target')[end]}"
        effect = "topics get another prefix, and MirrorMaker does not recognise its own copies"
        if naming(uses[0][1]).policy != DEFAULT:
            effect = "MirrorMaker names its topics for offset syncs and checkpoints after another alias"
        fix = "Remove the line; the alias comes from `clusters`."
        yield at_given(file, given, LintCode.ALIAS_OVERRIDDEN, found, effect, fix)


def loops(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each pair of flows that copies records back, and for a ring of flows that keep names."""
    # Which flows of an idle file will run together is not known.
    flows = () if file.is_idle else file.flows
    there = set(flows)
    for flow in flows:
        back = Flow(flow.target, flow.source)
        if back in there and flow.source < flow.target:
            yield from _returns(file, ground, flow, back)
    if there:
        yield from _ring(file, ground)


def _returns(file: MirrorFile, ground: Ground, flow: Flow, back: Flow) -> Iterator[LintFinding]:
    sources = [next(ground.connectors(each, SOURCE), None) for each in (flow, back)]
    if sources[0] is None or sources[1] is None or not _share_topics(sources[0], sources[1]):
        return
    one, other = naming(sources[0]), naming(sources[1])
    line = file.line_of_flow(back)
    given = (each.values.get(key) for each in (sources[0], sources[1]) for key in (POLICY, SEPARATOR))
    others = tuple(sorted({*lines_in(file, *given)} - {line}))
    if one.keeps_names and other.keeps_names:
        found = f"the flows {flow} and {back} keep the names of the same topics"
        effect = "each record is copied back and forth without end"
        fix = "Disable one flow, or let them copy different topics."
    elif (one.policy, one.separator) != (other.policy, other.separator):
        found = f"the flows {flow} and {back} name topics in different ways"
        effect = "neither recognises the copies of the other, so records are copied back"
        fix = "Give both flows the same policy and separator, or let them copy different topics."
    else:
        return
    yield replace(on_file(file, LintCode.LOOP, found, effect, fix, line), others=others)


def _share_topics(one: Effective, other: Effective) -> bool:
    """Return whether both connectors may copy the same topic: one has a pattern for all, or they name the same."""
    lists = [set(listed(each.value("topics", ".*"))) for each in (one, other)]
    return bool(lists[0] & lists[1]) or ".*" in lists[0] | lists[1]


def _ring(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for one ring of three or more flows that keep names."""
    nexts = defaultdict[str, list[str]](list)
    for flow in file.flows:
        source = next(ground.connectors(flow, SOURCE), None)
        if source and naming(source).keeps_names:
            nexts[flow.source].append(flow.target)
    ring = _cycle(nexts)
    if len(ring) > 2:
        found = f"the flows {' -> '.join((*ring, ring[0]))} keep names and form a ring"
        effect = "each record returns to the cluster from which it comes, and is copied without end"
        fix = "Disable one of these flows, or let them copy different topics."
        yield on_file(file, LintCode.LOOP, found, effect, fix, file.line_of_flow(Flow(ring[-1], ring[0])))


def _cycle(nexts: dict[str, list[str]]) -> tuple[str, ...]:
    """Return the clusters of a cycle of more than two; empty if there is none."""
    for start in list(nexts):
        paths: list[tuple[str, ...]] = [(start,)]
        seen = {start}
        while paths:
            path = paths.pop()
            for each in nexts.get(path[-1], ()):
                if each == start and len(path) > 2:
                    return path
                if each not in seen:
                    seen.add(each)
                    paths.append((*path, each))
    return ()


def merged(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each two flows into one cluster that write the same topics under the same names."""
    into = defaultdict[str, list[Flow]](list)
    for flow in () if file.is_idle else file.flows:
        into[flow.target].append(flow)
    left = _MOST_PAIRS
    for flows in into.values():
        for one, other in combinations(flows, 2):
            left -= 1
            if left < 0:
                return
            yield from _merged(file, ground, one, other)


def _merged(file: MirrorFile, ground: Ground, one: Flow, other: Flow) -> Iterator[LintFinding]:
    sources = [next(ground.connectors(each, SOURCE), None) for each in (one, other)]
    if sources[0] is None or sources[1] is None:
        return
    keep = all(naming(each).keeps_names for each in sources if each)
    if keep and _share_topics(sources[0], sources[1]):
        found = f"the flows {one} and {other} keep the names of the same topics"
        effect = f"records of both clusters are mixed in one topic of {one.target}"
        fix = "Accept this if the topics are different in fact; else use DefaultReplicationPolicy."
        yield on_file(file, LintCode.NAMES_MERGED, found, effect, fix, file.line_of_flow(other))


def shared_workers(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each line that gives several workers on one cluster one group or one internal topic."""
    uses = defaultdict[tuple[int, str], list[tuple[str, Given]]](list)
    for each in ground.readers.at("connect_worker"):
        for key in ("group.id", *STORAGE_TOPICS):
            if given := each.given_in(file, key):
                uses[id(given.setting), each.reader.cluster].append((each.reader.flow, given))
    for of in uses.values():
        if len(of) > 1:
            flows = some([flow for flow, _ in of])
            found = f"the workers of {flows} share this name"
            effect = "they take each other's connectors and positions, so records are missed or copied twice"
            fix = "Remove the line: each flow then has names of its own."
            yield at_given(file, of[0][1], LintCode.WORKERS_SHARED, found, effect, fix)


def taken_for_copies(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each named topic that MirrorMaker takes for a copy or an internal topic."""
    for flow, each in ground.of_flows(file, SOURCE):
        if given := each.given_in(file, "topics"):
            yield from _not_copied(file, flow, naming(each), given)
            yield from _excluded(file, given, each.values.get("topics.exclude"))


def _excluded(file: MirrorFile, given: Given, exclusion: Given | None) -> Iterator[LintFinding]:
    """Yield a finding for each named topic that an exclusion has too; patterns are compared in their simplest form."""
    setting, line = given.setting, exclusion.setting if exclusion else None
    simple = [each for each in listed(exclusion.value) if _SIMPLE.fullmatch(each)] if exclusion and line else []
    names = {each.replace("\\.", ".") for each in simple if not each.endswith(".*")}
    starts = tuple(each.removesuffix(".*").replace("\\.", ".") for each in simple if each.endswith(".*"))
    for name in listed(given.value):
        plain = name.replace("\\.", ".")
        is_excluded = plain in names or plain.startswith(starts[:_MOST_STARTS])
        if setting and line and is_excluded and _LEGAL.fullmatch(plain):
            found = f"{key_of(setting, plain)} is in {key_of(line, line.name)} too"
            fix = "Remove the name from one of the two lines."
            effect = "MirrorMaker does not copy it"
            yield at(file, setting, LintCode.TOPIC_NOT_COPIED, found, effect, fix, (line.line,))


def _not_copied(file: MirrorFile, flow: Flow, own: Naming, given: Given) -> Iterator[LintFinding]:
    for name in listed(given.value):
        plain = name.replace("\\.", ".").replace("[.]", ".")
        if not _LEGAL.fullmatch(plain) or given.setting is None:
            continue
        if own.policy == DEFAULT and own.separator and plain.startswith(f"{flow.target}{own.separator}"):
            found = f"{key_of(given.setting, plain)} begins with the alias of the target"
            effect = f"MirrorMaker takes it for a copy from {flow.target} and does not copy it"
            fix = "Give the target another alias."
            yield at(file, given.setting, LintCode.TOPIC_NOT_COPIED, found, effect, fix)
        elif plain.endswith((".internal", "-internal")) or plain.startswith(("__", ".")):
            found = f"{key_of(given.setting, plain)} has the name of an internal topic"
            effect = "MirrorMaker does not copy it, whatever the list says"
            fix = "Copy this topic in another way, for example under a name without `internal`."
            yield at(file, given.setting, LintCode.TOPIC_NOT_COPIED, found, effect, fix)


NAME_RULES = (policies, aliases, loops, merged, shared_workers, taken_for_copies)
