"""The exact topics of a run whose migration file has patterns.

Preflight and plan compare the patterns with the source. Every later task reads the list that they recorded, so
MirrorMaker gets only topics that the evidence names.
"""

from __future__ import annotations

from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.migration.settings import Migration, Phase
from kafka_migration.core.migration.topic_rules import TopicList, resolve
from kafka_migration.core.stored.stored_documents import Stored, TopicListDocument
from kafka_migration.steps.run.migration_run import MigrationRun


def of_listed_topics(migration: Migration, source: KafkaCluster) -> Migration:
    """Return the migration with the topics that its patterns find on the source now; nothing is recorded."""
    if not migration.rules.patterns:
        return migration
    return migration.of_topics(resolve(migration.rules, source.topic_names(), ()).topics)


def record_topic_list(run: MigrationRun) -> TopicList | None:
    """Compare the patterns with the topics of the source and record the result; `None` for a file without
    patterns, and for a rollback, which acts on the topics that were cut over.

    After the last cutover a pattern takes no new topic: its producers
    and consumers may already use the target.
    """
    rules = run.filed_migration.rules
    if not rules.patterns or run.request.mode.rolls_back:
        return None
    ledger = run.ledger.known()
    is_over = ledger.phase is Phase.CUT_OVER
    found = resolve(rules, run.source.topic_names(), ledger.copied_topics, takes_new=not is_over)
    run.evidence.write(Stored.TOPIC_LIST, TopicListDocument.of(found, run.now()))
    run.look_at_topics_again()
    return found
