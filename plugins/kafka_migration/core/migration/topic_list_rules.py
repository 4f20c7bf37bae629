"""What the resolved topics of a run refuse, and what an operator must know about them."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Migration, Mode
from kafka_migration.core.migration.topic_rules import IMPOSSIBLE, TopicList
from kafka_migration.core.text.shortened import some

# The ledger and the tasks were measured with this number of topics.
MOST_TOPICS = 5_000


def topic_list_findings(migration: Migration, found: TopicList, mode: Mode) -> Iterator[Finding]:
    """Yield what refuses a run: patterns without a topic, too many topics, and before a cutover vanished topics."""
    subject = f"{migration.name}.yaml: topics"
    for pattern in found.unmatched:
        yield Finding(
            Code.PATTERN_MATCHES_NOTHING,
            subject,
            f"the pattern {pattern!r}, which matches no topic that this login may describe",
            "a pattern that matches the whole name of at least one topic",
            "Correct or remove the pattern, or grant Describe on its topics to the user of source.connection. Then "
            "trigger the run again.",
            happened=f"The pattern {pattern!r} matches the whole name of no topic that the source shows to this login.",
            matters="The run would copy fewer topics than the migration file names, so nothing was started.",
        )
    if len(found.topics) > MOST_TOPICS:
        yield Finding(
            Code.TOPICS_TOO_MANY,
            subject,
            f"{len(found.topics):,} topics",
            f"at most {MOST_TOPICS:,}",
            "Divide the topics among several migration files.",
            happened=f"The migration has {len(found.topics):,} topics; the most that a migration may have is "
            f"{MOST_TOPICS:,}.",
            matters="The package was not tested with more topics, and its tasks could run out of memory or time, so "
            "nothing was started.",
        )
    if mode.plans_groups:
        yield from _vanished(migration, found)


def topic_list_warnings(migration: Migration, found: TopicList, mode: Mode) -> Iterator[Finding]:
    """Yield names that no topic can have, and the vanished topics in a run that only warns about them."""
    yield from _impossible(migration, found)
    if not mode.plans_groups:
        yield from _vanished(migration, found)


def _impossible(migration: Migration, found: TopicList) -> Iterator[Finding]:
    names = [name for name, reason in found.left_out.items() if reason == IMPOSSIBLE]
    if names:
        yield Finding(
            Code.TOPIC_NAME_IMPOSSIBLE,
            f"{migration.name}.yaml: topics",
            f"names on the source that no topic can have: {some(names)}",
            "names of 1 to 249 ASCII letters, digits, dots, _ and -",
            "Find out which server answers at bootstrap.servers of source.connection.",
            happened=f"The source lists names that no topic of Kafka can have: {some(names)}.",
            matters="The server that answered is perhaps no Kafka cluster. The run leaves these names out of the copy.",
        )


def _vanished(migration: Migration, found: TopicList) -> Iterator[Finding]:
    if found.vanished:
        yield Finding(
            Code.SOURCE_TOPIC_VANISHED,
            f"{migration.name}.yaml: topics",
            f"no {some(found.vanished)} on the source",
            "each topic that a pattern takes and an earlier run copied",
            "If they were deleted on purpose, add an exclude item for them to the migration file; the target keeps "
            "its copy. Otherwise grant Describe on them to the user of source.connection.",
            happened=f"The source no longer shows {some(found.vanished)}, which an earlier run copied.",
            matters="Consumers that move to the target would find only the records that were copied before, so the "
            "run was refused.",
        )
