"""Topics that earlier runs copied and that the migration file no longer takes."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.shortened import some


def removed_topic_warnings(migration: Migration, ledger: Ledger) -> tuple[Finding, ...]:
    """Name the topics that were copied or created, are not cut over, and that no item of the file applies to.

    A topic that an `exclude` item matches was taken out on purpose.
    """
    known = {*ledger.copied_topics, *ledger.own_topics} - ledger.moved_topics()
    rules = migration.rules
    removed = sorted(topic for topic in known if not rules.takes(topic) and not rules.excludes(topic))
    if not removed:
        return ()
    return (
        Finding(
            Code.TOPICS_REMOVED,
            f"{migration.name}.yaml: topics",
            f"no {some(removed)}",
            "each topic that earlier runs copied and that is not cut over",
            "To continue their copy, add them again. Otherwise accept this: accept: [TOPICS_REMOVED].",
            happened=f"The migration file no longer has {some(removed)}, which earlier runs copied or created.",
            matters="Their copies stay on the target as they are: no run continues or validates them, and a cutover "
            "moves no group to them.",
        ),
    )
