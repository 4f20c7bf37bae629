"""Common questions of the checks of the MirrorMaker host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.mirror.host import ProbeSubject
from kafka_migration.preflight.scene.asked_once import AskedSide, MachineAnswer
from kafka_migration.preflight.scene.check import NotApplicable, Subject
from kafka_migration.preflight.scene.reached_brokers import broker_names
from kafka_migration.preflight.scene.tool_answers import UnknownFact, unknown_finding

SIDES: tuple[Side, ...] = ("source", "target")


def only_with_mirrormaker(ask: Callable[[Subject], Iterable[Finding]]) -> Callable[[Subject], Iterable[Finding]]:
    """Return the check for runs that start MirrorMaker; for all others it is not applicable."""

    @wraps(ask)
    def check(subject: Subject) -> Iterable[Finding]:
        if not subject.mode.mirrors:
            raise NotApplicable("this run starts no MirrorMaker")
        return ask(subject)

    return check


def only_with_tools(ask: Callable[[Subject], Iterable[Finding]]) -> Callable[[Subject], Iterable[Finding]]:
    """Return the check for runs that start MirrorMaker, and may ask Kafka's tools on its host."""

    @wraps(ask)
    def check(subject: Subject) -> Iterable[Finding]:
        if not subject.probes.asks_tools:
            raise NotApplicable("[kafka_migration] host_tools is False")
        return ask(subject)

    return only_with_mirrormaker(check)


def machine(subject: Subject) -> MachineAnswer:
    """Return the facts of the host, which looks up the names of all brokers."""
    return subject.probes.machine(subject.host, names_of_brokers(subject))


def names_of_brokers(subject: Subject) -> tuple[str, ...]:
    """Return the host names that both clusters advertise, without duplicates."""
    return broker_names([address for side in SIDES for address in addresses_of(subject, side)])


def number(subject: Subject, fact: str, words: str) -> int:
    """Return a number among the facts of the host; without one the check is not applicable."""
    text = machine(subject).facts.get(fact, "")
    if not text.isdecimal():
        raise NotApplicable(f"the host did not say {words}: {text or 'nothing'}")
    return int(text)


def addresses_of(subject: Subject, side: Side) -> Sequence[str]:
    """Return the addresses that a cluster advertises."""
    return (subject.source_facts if side == "source" else subject.target_facts).addresses


def tool(subject: Subject, what: ProbeSubject, side: Side) -> Mapping[str, str]:
    """Return the answer of one of Kafka's tools about a side."""
    migration = subject.migration
    topics = migration.topics if what is ProbeSubject.SPACE else ()
    sides: Mapping[Side, AskedSide] = {
        "source": AskedSide(subject.host, migration.source, topics),
        "target": AskedSide(subject.second_host, migration.target, tuple(map(migration.target_topic, topics))),
    }
    return subject.probes.tools(what, sides, migration.mirror)[side]


def unknown_warnings(unknowns: Mapping[str, UnknownFact], *, is_more_known: bool = False) -> Iterator[Finding]:
    """Yield a warning per unknown fact that can be made readable; `unknowns` are named by what they are about.

    If all are facts that these versions cannot answer, `NotApplicable` is raised, or if more is known, they are
    warnings too.
    """
    is_warned = is_more_known or any(unknown.remedy for unknown in unknowns.values())
    if unknowns and not is_warned:
        raise NotApplicable("; ".join(f"{where}: {unknown}" for where, unknown in unknowns.items()))
    yield from (unknown_finding(where, unknown) for where, unknown in unknowns.items())
