"""`kafka-migration plan`: what a run would create, copy and move; nothing is written."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence

from kafka_migration.cli.shell.airflow_access import shown_deployment
from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_file, add_output
from kafka_migration.cli.shell.conf_options import OFFERED, add_conf, conf_of
from kafka_migration.cli.shell.output import ExitCode, aligned, respond
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.core.groups.selection import PlannedGroup
from kafka_migration.core.kafka.cluster import why_immovable
from kafka_migration.core.ledger.cutovers import Rehearsed
from kafka_migration.core.run.stand_still import forecast_lines
from kafka_migration.core.target.planned_topics import OnTarget, PlannedTopic
from kafka_migration.core.text.quoting import plain_name
from kafka_migration.core.text.shortened import some
from kafka_migration.steps.before.planned_run import RunPlan, plan_answer

PLAN_SCHEMA = 1


def add_plan(verbs: Verbs) -> None:
    """Add the verb `plan`."""
    verb = add_bare_verb(verbs, plan, "plan", "plan demo --mode cutover")
    add_file(verb)
    add_conf(verb, OFFERED)
    add_output(verb)


def plan(arguments: Namespace) -> int:
    """Print the plan as lines or as one JSON document; findings that would refuse the run go to standard error."""
    conf = conf_of(arguments)
    deployment = shown_deployment(arguments.migrations)
    working("Reading the evidence and both clusters")
    found = plan_answer(arguments.name, conf, deployment)
    document = {"schema": PLAN_SCHEMA, "migration": arguments.name, "conf": conf, **found.to_document()}
    lines = plan_lines(arguments.name, arguments.mode, found)
    respond(arguments, document, lines, (*found.findings, *found.warnings))
    return ExitCode.REFUSED if found.findings else ExitCode.DONE


def plan_lines(name: str, mode: str, found: RunPlan) -> list[str]:
    """Return the plan as lines of text."""
    topics = [("TOPIC", "ON THE TARGET", "OFFSETS TO COPY"), *map(_topic_cells, found.topics)]
    groups = [("GROUP", "STATE", "PLAN"), *map(_group_cells, found.groups)]
    return [
        *aligned([("Migration", name), ("Mode", mode), ("Phase", str(found.phase)), *_head(found)]),
        *(["", *aligned(topics)] if found.topics else []),
        *(["", *aligned(groups)] if found.groups else []),
        *(["", *_rehearsed(found.rehearsal)] if found.rehearsal else []),
    ]


def _rehearsed(rehearsal: Rehearsed) -> Iterator[str]:
    yield f"As the rehearsal of {rehearsal.at} measured it:"
    yield from (f"  {line}" for line in forecast_lines(rehearsal.stand_still))


def _head(found: RunPlan) -> Iterator[tuple[str, str]]:
    if found.open_generation is not None:
        yield "Generation", f"{found.open_generation} is open: its MirrorMaker has no stop certificate yet"
    elif found.last_generation is not None:
        yield "Generation", f"{found.last_generation} has stopped; the run continues after it"
    copied = [topic.offsets_to_copy for topic in found.topics if topic.offsets_to_copy is not None]
    if copied:
        yield "To copy", f"{sum(copied):,} offsets"
    new = [topic.topic for topic in found.topics if topic.is_new]
    for word, names in (("New", new), ("Vanished", found.vanished), ("Cut over", found.cut_over)):
        if names:
            yield word, some(names)
    for topic, reason in found.left_out.items():
        yield "Left out", f"{topic}: {reason}"


def _topic_cells(topic: PlannedTopic) -> tuple[str, str, str]:
    copied = "-" if topic.offsets_to_copy is None else f"{topic.offsets_to_copy:,}"
    return topic.topic, f"{_act(topic)}{_named(topic)}", copied


def _act(topic: PlannedTopic) -> str:
    match topic.on_target:
        case OnTarget.CREATE:
            configs = [f"{name}={value}" for name, value in sorted(topic.configs.items())]
            return _joined(f"create: {_partitions(topic)}, replication factor {topic.replication_factor}", configs)
        case OnTarget.GROW:
            return _joined(f"grow to {_partitions(topic)}", _differences(topic))
        case OnTarget.EXISTS:
            return _joined(f"exists: {_partitions(topic)}", _differences(topic))
        case OnTarget.MISSING:
            return "missing"


def _joined(act: str, settings: Sequence[str]) -> str:
    return f"{act}; {', '.join(settings)}" if settings else act


def _partitions(topic: PlannedTopic) -> str:
    return f"{topic.partitions} partition{'s' * (topic.partitions != 1)}"


def _named(topic: PlannedTopic) -> str:
    return "" if topic.target_topic == topic.topic else f" (as {topic.target_topic})"


def _differences(topic: PlannedTopic) -> list[str]:
    differences = topic.differences.items()
    return [f"{name}={_value(each.found)} (expected {_value(each.wanted)})" for name, each in differences]


def _value(value: str | None) -> str:
    return "unset" if value is None else value


def _group_cells(group: PlannedGroup) -> tuple[str, str, str]:
    if not group.is_movable:
        why = why_immovable(group.group, group.kind)
        return plain_name(group.group), str(group.state), f"cannot be moved: {why}"
    allowed = [name for name in ("may_be_active", "may_rewind") if getattr(group, name)]
    return group.group, str(group.state), "move" + (f" ({', '.join(allowed)})" if allowed else "")
