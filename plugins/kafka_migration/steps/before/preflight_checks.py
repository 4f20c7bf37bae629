"""Runs all checks that are possible before a run acts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

from kafka_migration.adapters.system.dns import addresses_of
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.evidence.root import EvidencePlace
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.migration.alert_settings import AlertSettings, NotifierSettings
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.migration.topic_rules import TopicList
from kafka_migration.core.run.run_window import RunType
from kafka_migration.migration_file.loading import load_migrations
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.preflight.scene.asked_once import Probes
from kafka_migration.preflight.scene.check import CheckResult, Connections, Subject, run_checks
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.topic_list import record_topic_list


@dataclass(frozen=True, slots=True)
class Checkers:
    """What the checks ask outside of clusters and host. `alerts_of` returns the notifiers of a migration.

    `notifier_problem` returns why a notifier cannot be created, empty if it can. `asks_tools` is whether Kafka's tools
    on the MirrorMaker host are asked.
    """

    connections: Connections
    evidence_place: EvidencePlace
    alerts_of: Callable[[Migration], AlertSettings]
    notifier_problem: Callable[[NotifierSettings], str]
    asks_tools: bool = True


def checked(
    run: MigrationRun,
    checkers: Checkers,
    run_type: RunType = RunType.MANUAL,
    begins: Callable[[str], None] = lambda _: None,
) -> tuple[CheckResult, ...]:
    """Record the topics of the run, run every check, and return their results in order; see `run_checks`."""
    return run_checks(CHECKS, subject_of(run, checkers, run_type), begins)


def _topic_list(run: MigrationRun) -> Callable[[], TopicList | None]:
    """Record the topics that the file's patterns find; return what gives them, or raises why they are unknown.

    A missing connection or an unreachable cluster must not hide the findings of the other checks.
    """
    try:
        found = record_topic_list(run)
    except (Refused, TransientError) as error:
        return partial(_raise, error)
    return lambda: found


def _raise(error: Exception) -> NoReturn:
    raise error


def subject_of(run: MigrationRun, checkers: Checkers, run_type: RunType = RunType.MANUAL) -> Subject:
    """Record the topics of the run, and return what the checks look at."""
    find_topic_list = _topic_list(run)
    whole = run.whole_migration
    return Subject(
        migration=run.migration,
        mode=run.request.mode,
        connections=checkers.connections,
        evidence_place=checkers.evidence_place,
        ledger=run.ledger.known(),
        now=run.clock.now(),
        make_source=lambda: run.source,
        make_target=lambda: run.target,
        make_process=lambda: run.process,
        make_host=lambda: run.host_tools,
        make_second_host=lambda: run.second_host_tools,
        make_registry=run.deployment.open_registry,
        find_alerts=lambda: checkers.alerts_of(run.migration),
        notifier_problem=checkers.notifier_problem,
        requested_topics=run.request.topics,
        requested_groups=run.request.groups,
        file_topics=whole.topics,
        find_topic_list=find_topic_list,
        follow_until=run.request.follow_until,
        generations=run.request.generations,
        others=other_migrations(run, whole),
        run_type=run_type,
        is_nightly=run.identity.is_nightly,
        probes=Probes(
            client_properties=lambda side: java_properties(side.connection, run.deployment.client_settings(side)),
            look_up=addresses_of,
            clock=run.clock.now,
            asks_tools=checkers.asks_tools,
        ),
    )


def other_migrations(run: MigrationRun, migration: Migration) -> tuple[Migration, ...]:
    """Return the migrations of all other files that can be read."""
    known = load_migrations(run.deployment.migrations_folder)
    return tuple(other for other in known if other.name != migration.name)
