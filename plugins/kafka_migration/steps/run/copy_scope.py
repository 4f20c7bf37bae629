"""What a run copies: its topics, and what the copy depends on, compared with earlier runs."""

from __future__ import annotations

from collections.abc import Collection

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.ledger.copy_basis import ClusterSeen, CopyBasis, changed_clusters, changed_settings
from kafka_migration.core.migration.settings import Migration, Phase
from kafka_migration.core.migration.topic_rules import TopicList, resolve
from kafka_migration.core.stored.stored_documents import Stored, TopicListDocument
from kafka_migration.steps.run.migration_run import MigrationRun


def of_listed_topics(migration: Migration, source: KafkaCluster) -> Migration:
    """Return the migration with the topics that its patterns find on the source now; nothing is recorded."""
    if not migration.rules.patterns:
        return migration
    return migration.of_topics(resolve(migration.rules, source.topic_names(), ()).topics)


def names_to_match(run: MigrationRun) -> Collection[str] | None:
    """Return the topics of the source that the patterns of the file are compared with.

    `None` for a file without patterns, and for a rollback, which acts on the topics that were cut over.
    """
    has_patterns = run.filed_migration.rules.patterns and not run.request.mode.rolls_back
    return run.source.topic_names() if has_patterns else None


def record_topic_list(run: MigrationRun, listed: Collection[str] | None) -> TopicList | None:
    """Compare the patterns with the topics of `names_to_match` and record the result; `None` without them.

    After the last cutover a pattern takes no new topic: its producers and consumers may already use the target.
    """
    if listed is None:
        return None
    ledger = run.ledger.known()
    is_over = ledger.phase is Phase.CUT_OVER
    found = resolve(run.filed_migration.rules, listed, ledger.copied_topics, takes_new=not is_over)
    run.evidence.write(Stored.TOPIC_LIST, TopicListDocument.extended(found, at=run.now()))
    run.look_at_topics_again()
    return found


def changes_of_basis(run: MigrationRun, source: ClusterSeen, target: ClusterSeen) -> tuple[Finding, ...]:
    """Return what changed since earlier runs of that on which the copy of this run depends."""
    migration, known = run.filed_migration, run.ledger.known().basis
    return (*changed_settings(known, migration), *changed_clusters(known, migration, source, target))


def require_same_basis(run: MigrationRun) -> CopyBasis:
    """Return what the copy of this run depends on.

    Raises `Refused` if it changed since earlier runs, and `TransientError` if a cluster does not answer.
    """
    source, target = ClusterSeen.of(run.source.facts()), ClusterSeen.of(run.target.facts())
    if changed := changes_of_basis(run, source, target):
        raise Refused(changed)
    return CopyBasis.of(run.identity.holder, run.now(), run.filed_migration, source, target)


def record_basis(run: MigrationRun, basis: CopyBasis) -> None:
    """Record in the ledger what the copy depends on, right before the target is changed, if the ledger lacks it."""
    if basis.adds_to(run.ledger.known().basis):
        run.ledger.append(basis.to_document())
