"""MirrorMaker 1: its configuration, launch, positions and health.

It is a consumer group on the source and a producer to the target, and keeps topic names. It does not keep partitions:
its producer hashes the key again and distributes records without a key. It exits at a record that the target refuses,
and blocks silently if one of its topics does not exist there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import GroupState, KafkaCluster
from kafka_migration.core.kafka.offsets import CommittedOffset, Offsets, TopicPartition
from kafka_migration.core.migration.settings import MIRROR_GROUP_PREFIX, Migration
from kafka_migration.core.mirror.causes import SPLITTING
from kafka_migration.core.mirror.engine import LaunchFacts, MirrorHealth
from kafka_migration.core.mirror.host import GENERATION_DIR, LOG4J_FILE, HostReply, MirrorLaunch
from kafka_migration.core.mirror.mirror_process import ProcessEnding
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.engines.launching import (
    FETCH_MAX_BYTES,
    LINGER_MS,
    LOG4J,
    OF_THE_SYSTEM,
    fetch_sizes,
    java_options,
    producer_sizes,
    provider_properties,
    render_properties,
    secret_files,
    shown_properties,
    tuned,
)
from kafka_migration.engines.required_versions import version_findings

MAIN_CLASS = "kafka.tools.MirrorMaker"
CONSUMER_FILE = "consumer.properties"
PRODUCER_FILE = "producer.properties"
STOPPED_LINE = "Kafka mirror maker shutdown successfully"
# It also logs a successful shutdown after a failure. The first line appears at the very end, once per stream, and
# means that the sent records were not committed (seen on Kafka 3.9.1).
FAILED_LINES = ("Exiting on send failure, skip committing offsets", "Mirror maker thread exited abnormally")
# Every stream logs a dozen lines at shutdown. The lines that distinguish a failure from a clean stop must remain in the
# last lines of the log, because the host returns only those.
QUIET_GOODBYE = """\
log4j.logger.kafka.tools.MirrorMaker$MirrorMakerThread=WARN
log4j.logger.org.apache.kafka.clients.consumer.internals.ConsumerCoordinator=WARN
log4j.logger.org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker=WARN
log4j.logger.org.apache.kafka.common.metrics=WARN
log4j.logger.org.apache.kafka.common.utils.AppInfoParser=WARN
"""
LONGEST_INT = "2147483647"
LONGEST_LONG = "9223372036854775807"


@dataclass(frozen=True, slots=True)
class MirrorMaker1:
    """MirrorMaker 1 (`core.mirror.engine.MirrorEngine`); Kafka 3.9 is the last version that contains it."""

    migration: Migration
    source: KafkaCluster
    target: KafkaCluster

    @property
    def group(self) -> str:
        """Its consumer group on the source."""
        return f"{MIRROR_GROUP_PREFIX}{self.migration.name}"

    def setting_findings(self, kafka_version: str) -> Iterable[Finding]:
        """Return the settings that MirrorMaker of `kafka_version` ("" if unknown) would ignore, misread or refuse."""
        return tuple(version_findings(self.migration, kafka_version))

    def launch(self, generation: int, facts: LaunchFacts) -> MirrorLaunch:
        """Return what the host needs to start a generation."""
        migration = self.migration
        source = secret_files(migration.source.alias, facts.source_properties)
        target = secret_files(migration.target.alias, facts.target_properties)
        return MirrorLaunch(
            main_class=MAIN_CLASS,
            arguments=self._arguments(),
            files={
                CONSUMER_FILE: render_properties(self._consumer(facts, bool(source))),
                PRODUCER_FILE: render_properties(self._producer(facts, bool(target))),
                LOG4J_FILE: LOG4J + QUIET_GOODBYE,
                **source,
                **target,
            },
            java_options=java_options(migration, facts, bool(source or target)),
            kafka_home=migration.mirror.kafka_home,
            java_home=migration.mirror.java_home,
            lease_s=migration.mirror.lease_s,
            alarms=(SPLITTING,),
            private_arguments=True,
        )

    def stale_topics(self, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
        """Return nothing: it has no internal topics."""
        return ()

    def stored_positions(self, topics: Collection[str]) -> Offsets:
        """Return its group's committed offsets; a partition without one is missing."""
        commits = self.source.committed_offsets(self.group)
        return {partition: commit.offset for partition, commit in commits.items() if partition.topic in topics}

    def rewind(self, positions: Offsets) -> None:
        """Commit other positions for its group."""
        self.source.alter_offsets(self.group, {p: CommittedOffset(offset) for p, offset in positions.items()})

    def health(self, generation: int, reply: HostReply) -> MirrorHealth:
        """Return the assigned partitions of its group; nothing is known while the group is not stable.

        After a kill the group still shows the dead members until its session timeout of 10 s.
        """
        description = self.source.describe_groups([self.group])[self.group]
        if description.state is not GroupState.STABLE or not description.members:
            return MirrorHealth()
        return MirrorHealth.of_tasks(member.assigned for member in description.members)

    def ending(self, reply: HostReply) -> ProcessEnding:
        """Return how a generation ended, by the end of its log: it may have committed records that never arrived."""
        log = reply.log
        is_orderly = STOPPED_LINE in log and not any(line in log for line in FAILED_LINES)
        return reply.ending(is_orderly=is_orderly, distrusts_positions=SPLITTING in f"{reply.alarm}\n{log}")

    def position_topics(self) -> tuple[str, ...]:
        """Return nothing: its positions are committed offsets of a group on the source."""
        return ()

    def restore_command(self, partition: TopicPartition, position: int) -> str:
        """Return the command that commits an offset for its group; it expires if the group is inactive for long."""
        where = shell_word(f"{partition.topic}:{partition.partition}")
        return (
            f"kafka-consumer-groups.sh --bootstrap-server <source> --group {shell_word(self.group)} "
            f"--topic {where} --reset-offsets --to-offset {position} --execute"
        )

    def reset_command(self) -> str:
        """Return the command that deletes its group on the source."""
        return f"kafka-consumer-groups.sh --bootstrap-server <source> --delete --group {shell_word(self.group)}"

    def _arguments(self) -> tuple[str, ...]:
        return (
            "--consumer.config",
            f"{GENERATION_DIR}/{CONSUMER_FILE}",
            "--producer.config",
            f"{GENERATION_DIR}/{PRODUCER_FILE}",
            "--whitelist",
            exact_names(self.migration.topics),
            "--num.streams",
            str(self.migration.mirror.tasks),
            "--offset.commit.interval.ms",
            "5000",
            "--abort.on.send.failure",
            "true",
        )

    def _consumer(self, facts: LaunchFacts, has_secrets: bool) -> dict[str, str]:
        return {
            **shown_properties(self.migration.source.alias, facts.source_properties),
            **provider_properties(has_secrets),
            "group.id": self.group,
            "enable.auto.commit": "false",
            "auto.offset.reset": "earliest",
            "isolation.level": self.migration.mirror.isolation_level,
            "exclude.internal.topics": "true",
            # A killed process holds the group for this long, and the next one has to wait.
            "session.timeout.ms": "10000",
            "heartbeat.interval.ms": "3000",
            # New partitions are found within this time.
            "metadata.max.age.ms": "30000",
            # The default assigns all partitions of small topics to the first streams.
            "partition.assignment.strategy": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
            "fetch.max.bytes": FETCH_MAX_BYTES,
            "receive.buffer.bytes": OF_THE_SYSTEM,
            **fetch_sizes(self.migration, facts),
            **tuned(self.migration, "consumer"),
        }

    def _producer(self, facts: LaunchFacts, has_secrets: bool) -> dict[str, str]:
        return {
            **shown_properties(self.migration.target.alias, facts.target_properties),
            **provider_properties(has_secrets),
            "acks": "all",
            # A retried send causes no duplicates and no reordering.
            "enable.idempotence": "true",
            "max.in.flight.requests.per.connection": "1",
            "retries": LONGEST_INT,
            "delivery.timeout.ms": LONGEST_INT,
            "max.block.ms": LONGEST_LONG,
            "linger.ms": LINGER_MS,
            "send.buffer.bytes": OF_THE_SYSTEM,
            **producer_sizes(self.migration, facts),
            **tuned(self.migration, "producer"),
        }


def exact_names(topics: Iterable[str]) -> str:
    """Return a regular expression for `--whitelist` that matches only these topics.

    MirrorMaker 1 replaces a comma by `|`, removes blanks and outer quotes, and matches a topic's whole name (3.9.1).
    Topic names contain letters, digits, `.`, `_` and `-`, so only the dot must be escaped. Brackets are used because
    Java's argument files would interpret a backslash.
    """
    names = "|".join(topic.replace(".", "[.]") for topic in topics)
    return f"^({names})$"
