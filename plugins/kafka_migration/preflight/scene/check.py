"""The checks of a run: their types and their execution."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Protocol

from kafka_migration.core.evidence.root import EvidencePlace
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.certificates import Certificate
from kafka_migration.core.kafka.cluster import ClusterFacts, KafkaCluster, NewTopic, Side, TopicDescription
from kafka_migration.core.kafka.records import SampledRecord
from kafka_migration.core.kafka.schema_registry import SchemaRegistry
from kafka_migration.core.ledger.generations import NO_GENERATIONS
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.alert_settings import AlertSettings, NotifierSettings
from kafka_migration.core.migration.settings import Cluster, Migration, Mode
from kafka_migration.core.migration.topic_rules import TopicList
from kafka_migration.core.mirror.host import HostTools
from kafka_migration.core.mirror.mirror_process import AnyProcess
from kafka_migration.core.run.run_window import RunType
from kafka_migration.core.spark.spark_target import SparkTarget
from kafka_migration.core.target.target_topics import plan_topics
from kafka_migration.preflight.scene.asked_once import Probes
from kafka_migration.preflight.scene.broker_settings import BROKER_SETTINGS, Brokers, topic_defaults
from kafka_migration.preflight.scene.sampling import newest_records
from kafka_migration.preflight.scene.target_limits import LIMITS, Configs, limits_of_new

log = logging.getLogger(__name__)


class Connections(Protocol):
    """Access of the checks to Airflow's connections."""

    def connection_type(self, connection_id: str) -> str | None:
        """Return the type of a connection, or `None` if it does not exist."""

    def unmasked_secrets(self, connection_id: str) -> tuple[str, ...]:
        """Return the settings of a connection whose secrets Airflow does not mask; empty if it does not exist."""

    def kafka_findings(self, cluster: Cluster) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Return the findings that prevent the use of a Kafka connection, and its allowed insecure settings."""

    def principal(self, cluster: Cluster) -> str:
        """Return the broker's probable name for the user of a Kafka connection."""

    def certificates(self, cluster: Cluster) -> tuple[Certificate, ...]:
        """Return the client certificates of a Kafka connection."""

    def spark_target(self, connection_id: str) -> SparkTarget:
        """Return the cluster to which a Spark connection submits. Raises `Refused` if it cannot be used."""

    def spark_numbers(self, target: SparkTarget) -> tuple[int, ...]:
        """Return the first three numbers of Spark's version. Raises `Refused` if it is unknown."""

    def has_login(self, cluster: Cluster) -> bool:
        """Return whether a Kafka connection has a login. Raises `Refused` if it cannot be translated."""

    def spark_client_findings(self) -> tuple[Finding, ...]:
        """Return the findings about Spark's Kafka client, if a login is used."""

    def spark_version_findings(self, connection_id: str) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Return which versions of a Spark connection's Spark cannot work together, and which are unknown."""


@dataclass(eq=False)
class Subject:
    """The input of the checks. Clusters and host are created on first use, after missing connections are found.

    `migration` is limited to the requested topics; `file_topics` are all topics of the file. `find_topic_list`
    returns the topics that the file's patterns found, or raises why they are unknown; `None` without patterns.
    `others` are the migrations of the other files. `find_alerts` returns the notifiers of the run, `notifier_problem`
    why a notifier cannot be created (empty: it can). `is_nightly` is whether the run belongs to the nightly DAG.
    """

    migration: Migration
    mode: Mode
    connections: Connections
    evidence_place: EvidencePlace
    ledger: Ledger
    now: datetime
    make_source: Callable[[], KafkaCluster]
    make_target: Callable[[], KafkaCluster]
    make_process: Callable[[], AnyProcess]
    make_host: Callable[[], HostTools | None]
    make_second_host: Callable[[], HostTools | None]
    make_registry: Callable[[Side, str], SchemaRegistry]
    find_alerts: Callable[[], AlertSettings] = AlertSettings
    notifier_problem: Callable[[NotifierSettings], str] = lambda _: ""
    requested_topics: tuple[str, ...] = field(default=())
    requested_groups: tuple[str, ...] = field(default=())
    file_topics: tuple[str, ...] = field(default=())
    find_topic_list: Callable[[], TopicList | None] = lambda: None
    follow_until: datetime | None = None
    generations: range = NO_GENERATIONS
    others: tuple[Migration, ...] = field(default=())
    run_type: RunType = RunType.MANUAL
    is_nightly: bool = False
    probes: Probes = field(default_factory=Probes)
    _samples: dict[tuple[str, ...], Mapping[str, list[SampledRecord]]] = field(default_factory=dict, init=False)

    @cached_property
    def source(self) -> KafkaCluster:
        """The source cluster."""
        return self.make_source()

    @cached_property
    def target(self) -> KafkaCluster:
        """The target cluster."""
        return self.make_target()

    @cached_property
    def source_facts(self) -> ClusterFacts:
        """The id and the brokers of the source."""
        return self.source.facts()

    @cached_property
    def target_facts(self) -> ClusterFacts:
        """The id and the brokers of the target."""
        return self.target.facts()

    @cached_property
    def process(self) -> AnyProcess:
        """The process that copies."""
        return self.make_process()

    @cached_property
    def host(self) -> HostTools:
        """The tools of the MirrorMaker host. Raises `NotApplicable` if the engine needs no host."""
        return self._on_a_host(self.make_host())

    @cached_property
    def second_host(self) -> HostTools:
        """The same tools over a second connection, for calls at the same time."""
        return self._on_a_host(self.make_second_host())

    def _on_a_host(self, tools: HostTools | None) -> HostTools:
        if tools is None:
            raise NotApplicable(self.migration.mirror.abilities.needs_host.why_not)
        return tools

    @cached_property
    def host_facts(self) -> Mapping[str, str]:
        """The versions and paths on the MirrorMaker host, for the Kafka and Java of the migration."""
        mirror = self.migration.mirror
        return self.host.fingerprint(mirror.kafka_home, mirror.java_home).facts

    @cached_property
    def spark_version_findings(self) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Which versions of Spark cannot work together, and which are unknown."""
        return self.connections.spark_version_findings(self.migration.validation.spark_connection)

    @cached_property
    def kafka_findings(self) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """The findings that prevent the use of the Kafka connections, and the insecure settings that are allowed."""
        sides = [self.connections.kafka_findings(side) for side in (self.migration.source, self.migration.target)]
        return tuple(f for found, _ in sides for f in found), tuple(f for _, allowed in sides for f in allowed)

    @cached_property
    def source_topics(self) -> Mapping[str, TopicDescription]:
        """The migration's topics on the source."""
        return self.source.describe_topics(self.migration.topics)

    @cached_property
    def new_topics(self) -> tuple[NewTopic, ...]:
        """The topics that the target lacks, as a run would create them."""
        return plan_topics(self.migration, self.source_topics, self.target_topics, self.ledger).create

    @cached_property
    def target_brokers(self) -> Brokers:
        """The settings of the target's brokers; empty if the login may not read them."""
        try:
            return self.target.broker_settings(*BROKER_SETTINGS)
        except Refused:
            return {}

    @cached_property
    def limits(self) -> tuple[Configs, Configs]:
        """The limits of the topics on both sides, on the target also those that new topics will have."""
        topics = [topic for topic in self.migration.topics if topic in self.source_topics]
        existing = [topic for topic in topics if topic in self.target_topics]
        new = limits_of_new(self.new_topics, topic_defaults(self.target_brokers))
        return (
            self.source.effective_configs(topics, *LIMITS),
            {**self.target.effective_configs(existing, *LIMITS), **new},
        )

    def newest_records(self, topics: tuple[str, ...]) -> Mapping[str, list[SampledRecord]]:
        """Return a sample of the newest records of these topics on the source, by topic."""
        if topics not in self._samples:
            self._samples[topics] = newest_records(self.source, [self.source_topics[topic] for topic in topics])
        return self._samples[topics]

    @cached_property
    def target_topics(self) -> Mapping[str, TopicDescription]:
        """The migration's topics on the target."""
        return self.target.describe_topics(self.migration.topics)


class NotApplicable(Exception):
    """A check has nothing to say, for the reason that is its text."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, its function, the checks that must have passed before it, and its warnings."""

    name: str
    ask: Callable[[Subject], Iterable[Finding]]
    needs: tuple[str, ...] = ()
    warn: Callable[[Subject], Iterable[Finding]] = lambda _: ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check: passed, failed with findings, accepted, or not applicable with the reason.

    `warnings` do not prevent the run. `accepted` are findings and warnings that the migration file accepts.
    """

    name: str
    findings: tuple[Finding, ...] = ()
    not_applicable: str | None = None
    warnings: tuple[Finding, ...] = ()
    accepted: tuple[Finding, ...] = ()

    @property
    def has_passed(self) -> bool:
        """Whether the check was run and found nothing that the migration file does not accept."""
        return not self.findings and self.not_applicable is None

    @property
    def state(self) -> str:
        """The result in one or two words."""
        if not self.has_passed:
            return "failed" if self.findings else "not applicable"
        return "accepted" if self.accepted else "passed"

    @property
    def reason(self) -> str | None:
        """Why the check was not applicable, or what was accepted; `None` for the other states."""
        codes = dict.fromkeys(finding.code for finding in self.accepted if self.has_passed)
        return self.not_applicable or ", ".join(codes) or None

    def to_document(self) -> dict[str, object]:
        """Return the result as plain JSON values."""
        return {
            "check": self.name,
            "state": self.state,
            "reason": self.reason,
            "findings": [finding.to_document() for finding in self.findings],
            "warnings": [finding.to_document() for finding in self.warnings],
            "accepted": [finding.to_document() for finding in self.accepted],
        }

    def accepting(self, codes: Collection[Code]) -> CheckResult:
        """Return the result after the findings with these codes were accepted."""
        accepted = tuple(finding for finding in (*self.findings, *self.warnings) if finding.code in codes)
        findings, warnings = (
            tuple(finding for finding in found if finding.code not in codes) for found in (self.findings, self.warnings)
        )
        return replace(self, findings=findings, warnings=warnings, accepted=accepted)


def run_checks(
    checks: Sequence[Check], subject: Subject, begins: Callable[[str], None] = lambda _: None
) -> tuple[CheckResult, ...]:
    """Run the checks in order; one failure does not hide the others. `begins` gets each check's name before it runs."""
    results: dict[str, CheckResult] = {}
    for check in checks:
        begins(check.name)
        results[check.name] = _run(check, subject, results).accepting(subject.migration.accept)
    return tuple(results.values())


def without_checks(checks: Sequence[Check], reason: str) -> tuple[CheckResult, ...]:
    """Return the results of a run that has nothing to check, for this reason."""
    return tuple(CheckResult(check.name, not_applicable=reason) for check in checks)


def _run(check: Check, subject: Subject, earlier: Mapping[str, CheckResult]) -> CheckResult:
    unmet = [name for name in check.needs if not earlier[name].has_passed]
    if unmet:
        return CheckResult(check.name, not_applicable=f"the check {unmet[0]} did not pass")
    try:
        findings = tuple(check.ask(subject))
    except NotApplicable as reason:
        return CheckResult(check.name, not_applicable=str(reason))
    except Exception as error:
        return _failed(check, (), error, earlier)
    try:
        return CheckResult(check.name, findings, warnings=tuple(check.warn(subject)))
    except NotApplicable as reason:
        return CheckResult(check.name, findings, None if findings else str(reason))
    except Exception as error:
        return _failed(check, findings, error, earlier)


def _failed(
    check: Check, known: tuple[Finding, ...], error: Exception, earlier: Mapping[str, CheckResult]
) -> CheckResult:
    """Return the result of a check that an error ended; a right that another check has named is not named again."""
    findings = _findings_of(check, error)
    named = {side for each in earlier.values() for side in _lacking(each.findings)}
    if not known and findings and named.issuperset(_lacking(findings) or {""}):
        return CheckResult(check.name, not_applicable="a right is missing, which an earlier check names")
    return CheckResult(check.name, (*known, *findings))


def _lacking(findings: Collection[Finding]) -> set[str]:
    """Return the sides on which a right is missing, if that is all that was found."""
    is_all = all(finding.code is Code.RIGHT_MISSING for finding in findings)
    return {finding.subject.partition(" ")[0] for finding in findings} if is_all else set()


def _findings_of(check: Check, error: Exception) -> tuple[Finding, ...]:
    """Return the findings about an error that ended a check; those of the other checks must not be lost."""
    if isinstance(error, Refused):
        return tuple(error.findings)
    if isinstance(error, TransientError):
        return (error.finding or _unreachable(check, error),)
    log.error("The check %s failed with an unexpected error.", check.name, exc_info=error)
    return (_unknown(check, error),)


def _unknown(check: Check, error: Exception) -> Finding:
    return Finding(
        Code.CHECK_FAILED,
        f"check {check.name}",
        # Not its text, which may quote a secret and would be written to the evidence.
        f"{type(error).__name__}",
        "a completed check",
        "Read the whole error in the log. Nothing was started.",
    )


# The code of a check whose service did not answer; of the other checks it is a cluster.
_ABOUT_HOST = ("host", "host disk", "host files", "host clock", "host names", "host brokers", "cluster clocks")
_UNREACHABLE = {
    **dict.fromkeys((*_ABOUT_HOST, "target space", "quotas"), Code.SSH_UNREACHABLE),
    "registries": Code.REGISTRY_UNREACHABLE,
}


def _unreachable(check: Check, error: TransientError) -> Finding:
    return Finding(
        _UNREACHABLE.get(check.name, Code.CLUSTER_UNREACHABLE),
        f"check {check.name}",
        str(error),
        "an answer",
        "Check the address in the Airflow connection, the network path, and that the service runs. Nothing was "
        "started.",
    )
