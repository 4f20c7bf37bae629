"""What every `KafkaCluster` must do; run by the fake and by real brokers."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.kafka.cluster import (
    THE_CLUSTER,
    GroupState,
    KafkaCluster,
    NewTopic,
    Operation,
    Probe,
    Resource,
)
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from kafka_migration.core.kafka.records import RecordShape
from tests.present import present
from tests.waiting import wait_until

Record = tuple[bytes | None, bytes | None]
# Within the retention of the contract's topics, and not in the future.
SOME_TIME_AGO = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=30)

# More than a reader asks for at once.
MANY_PARTITIONS = 250


def ms_of(moment: datetime) -> int:
    """Return the timestamp of a moment in whole seconds."""
    return int(moment.timestamp()) * 1000


class ClusterContract:
    """Inherit it and give a cluster with one broker, and ways to write into it."""

    cluster: KafkaCluster
    # Kafka before 2.5 has another default, and Kafka before 2.8 has no topic ids.
    max_message_bytes = "1048588"
    has_topic_ids = True

    @abstractmethod
    def produce(self, topic: str, partition: int, *records: Record, timestamp_ms: int | None = None) -> None:
        """Append records to a partition, with this timestamp or with any."""

    @abstractmethod
    def purge(self, topic: str, partition: int, log_start: int) -> None:
        """Delete everything before an offset."""

    @abstractmethod
    def member(self, group: str, topic: str) -> AbstractContextManager[None]:
        """Hold a member in a group that reads a topic."""

    @abstractmethod
    def commit_without_id(self, topic: str) -> None:
        """Commit offset 0 of partition 0 under the empty group id, as clients before Kafka 2.2 did."""

    def own_name(self, topic: str) -> str:
        """Return the name of a topic on the cluster itself."""
        return topic

    @pytest.fixture
    def group(self) -> str:
        """A group name that nobody used; names may hold anything."""
        return f'contract "{uuid4().hex[:8]}", ü'

    @pytest.fixture
    def topic(self) -> str:
        """A fresh topic with two partitions."""
        name = f"contract-{uuid4().hex[:8]}"
        self.cluster.create_topics([NewTopic(name, 2, 1, {"retention.ms": "12345678"})])
        return name

    def test_facts(self) -> None:
        """A cluster has an id and counts its brokers."""
        facts = self.cluster.facts()

        assert facts.cluster_id
        assert facts.brokers == 1

    def test_settings_of_each_broker(self) -> None:
        """Each broker has its settings with defaults; one that no broker has is missing."""
        found = self.cluster.broker_settings("min.insync.replicas", "message.max.bytes", "no.such.setting")

        assert [{"min.insync.replicas": "1", "message.max.bytes": self.max_message_bytes}] == list(found.values())

    def test_rights_are_reported(self, topic: str) -> None:
        """A cluster without access control grants everything; the rights on a missing topic are not known."""
        known, missing = Resource("topic", topic), Resource("topic", "contract-none")
        groups = [Resource("group", "*"), Resource("group", "app-", is_prefix=True), Resource("group", "app")]
        granted = self.cluster.granted([known, missing, *groups, THE_CLUSTER])

        assert {known, *groups, THE_CLUSTER} == granted.keys()
        assert {Operation.READ, Operation.WRITE, Operation.ALTER_CONFIGS} <= granted[known]
        assert all({Operation.READ, Operation.DESCRIBE} <= granted[group] for group in groups)
        assert Operation.ALTER_CONFIGS in granted[THE_CLUSTER]

    def test_rights_on_a_prefix_are_those_on_a_topic_with_it(self, topic: str) -> None:
        """Prefixes are those of the cluster's own names; if no topic has it, its rights are not known."""
        prefix, empty = (Resource("topic", name, is_prefix=True) for name in (self.own_name(topic)[:-1], "none-"))
        granted = self.cluster.granted([prefix, empty])

        assert {prefix} == granted.keys()
        assert {Operation.READ, Operation.WRITE} <= granted[prefix]

    def test_cluster_without_authorizer_has_no_lists(self) -> None:
        """Without an authorizer there are no access control lists."""
        assert () == self.cluster.acls()

    def test_cluster_without_tls_has_no_certificates(self) -> None:
        """Without TLS there is nothing that could expire."""
        assert {} == self.cluster.certificates()

    def test_created_topic_is_described(self, topic: str) -> None:
        """Partitions, own settings and id of a created topic are described; defaults are not its settings."""
        description = self.cluster.describe_topics([topic])[topic]

        assert (topic, 2, {"retention.ms": "12345678"}) == (
            description.topic,
            description.partitions,
            dict(description.configs),
        )
        assert topic in self.cluster.topic_names()

    def test_topic_that_is_created_again_has_another_id(self, topic: str) -> None:
        """A topic keeps its id until it is deleted; brokers without topic ids give empty texts, and no topic none."""
        (first,) = self.cluster.topic_ids([topic, "contract-none"]).values()
        assert {topic: first} == self.cluster.topic_ids([topic])
        self.cluster.delete_topics([topic])
        wait_until(lambda: not self.cluster.topic_ids([topic]), what="the topic's end")
        self._create_again(topic)
        (second,) = self.cluster.topic_ids([topic]).values()

        assert (self.has_topic_ids, self.has_topic_ids) == (bool(first), first != second)

    def _create_again(self, topic: str) -> None:
        try:
            self.cluster.create_topics([NewTopic(topic, 2, 1, {})])
        except TransientError:
            # With ZooKeeper a topic counts as existing until its files are deleted.
            self.cluster.create_topics([NewTopic(topic, 2, 1, {})])

    def test_effective_config_has_the_default(self, topic: str) -> None:
        """A setting that nobody set has the broker's default."""
        found = self.cluster.effective_configs([topic, "contract-none"], "max.message.bytes", "retention.ms")

        assert {topic: {"max.message.bytes": self.max_message_bytes, "retention.ms": "12345678"}} == found

    def test_unknown_topic_is_missing_from_the_answer(self) -> None:
        """A topic that does not exist is no error."""
        partitions = [TopicPartition("contract-none", 0)]

        assert {} == self.cluster.describe_topics(["contract-none"])
        assert {} == self.cluster.log_end_offsets(partitions, "read_committed")
        assert {} == self.cluster.offsets_for_time(partitions, SOME_TIME_AGO, "read_committed")
        assert [] == list(self.cluster.read_table("contract-none"))

    def test_creating_twice_changes_nothing(self, topic: str) -> None:
        """An existing topic keeps its id and its settings."""
        before = self.cluster.describe_topics([topic])
        self.cluster.create_topics([NewTopic(topic, 2, 1, {"retention.ms": "1"})])

        assert before == self.cluster.describe_topics([topic])

    def test_impossible_topic_is_refused(self) -> None:
        """What the cluster denies is a refusal that names the topic."""
        with pytest.raises(Refused) as raised:
            self.cluster.create_topics([NewTopic("contract-many-replicas", 1, 5, {})])

        (finding,) = raised.value.findings
        assert finding.code is Code.TOPIC_NOT_CREATED
        assert "contract-many-replicas" in finding.subject

    def test_topics_are_created_beside_an_impossible_one(self) -> None:
        """A refused topic is named alone; the others exist when the refusal is raised."""
        name = f"contract-{uuid4().hex[:8]}"
        with pytest.raises(Refused) as refused:
            self.cluster.create_topics([NewTopic(f"{name}-bad", 1, 9, {}), NewTopic(name, 1, 1, {})])

        assert [f"{name}-bad" in finding.subject for finding in refused.value.findings] == [True]
        assert {name} == self.cluster.describe_topics([name, f"{name}-bad"]).keys()

    def test_impossible_topic_is_named_before_it_is_created(self, topic: str) -> None:
        """What the cluster would refuse is named, an existing topic is not, and nothing is created."""
        wanted = [NewTopic(name, 1, replicas, {}) for name, replicas in ((topic, 9), ("too-many", 9), ("good", 1))]

        assert ["too-many"] == list(self.cluster.refused_topics(wanted))
        assert not {"too-many", "good"} & self.cluster.topic_names()

    def test_configurations_are_set_and_taken_away(self, topic: str) -> None:
        """A value is set beside the others; without a value of its own a topic has the broker's default again."""
        self.cluster.alter_configs({topic: {"retention.ms": None, "max.message.bytes": "2000000"}})

        assert {"max.message.bytes": "2000000"} == dict(self.cluster.describe_topics([topic])[topic].configs)
        self.cluster.alter_configs({topic: {"max.message.bytes": None}})
        found = self.cluster.effective_configs([topic], "max.message.bytes")
        assert {topic: {"max.message.bytes": self.max_message_bytes}} == found

    def test_impossible_configuration_is_refused(self) -> None:
        """What the cluster denies is a refusal that names the topic."""
        with pytest.raises(Refused) as raised:
            self.cluster.alter_configs({"contract-none": {"retention.ms": "1"}})

        (finding,) = raised.value.findings
        assert finding.code is Code.TOPIC_NOT_CONFIGURED
        assert "contract-none" in finding.subject

    def test_new_topics_can_be_asked_about_at_once(self) -> None:
        """Whoever made topics, or partitions, gets their ends and settings in the same breath, however often."""
        for number in range(10):
            name = f"contract-new-{uuid4().hex[:8]}"
            self.cluster.create_topics([NewTopic(name, 3, 1, {"retention.ms": "12345678"})])
            partitions = [TopicPartition(name, each) for each in range(3)]

            assert dict.fromkeys(partitions, 0) == self.cluster.log_end_offsets(partitions, "read_committed")
            assert {name: {"retention.ms": "12345678"}} == self.cluster.effective_configs([name], "retention.ms")
            if number == 0:
                self.cluster.create_partitions({name: 4})
                assert 4 == len(self.cluster.log_start_offsets([*partitions, TopicPartition(name, 3)]))
            self.cluster.delete_topics([name])

    def test_partitions_grow(self, topic: str) -> None:
        """Growing to the same count again changes nothing."""
        self.cluster.create_partitions({topic: 3})
        self.cluster.create_partitions({topic: 3})

        assert self.cluster.describe_topics([topic])[topic].partitions == 3

    def test_recreated_topic_has_another_id(self, topic: str) -> None:
        """A topic that was deleted and created again has another id; brokers without topic ids give an empty one."""
        before = self.cluster.describe_topics([topic])[topic].topic_id
        assert self.has_topic_ids is bool(before)
        if not self.has_topic_ids:
            return
        self.cluster.delete_topics([topic, "contract-none"])
        self._create_again(topic)

        assert before != self.cluster.describe_topics([topic])[topic].topic_id

    def test_offsets_are_the_next_to_read(self, topic: str) -> None:
        """An empty partition begins and ends at 0; after three records the end is 3."""
        full, empty = TopicPartition(topic, 0), TopicPartition(topic, 1)
        self.produce(topic, 0, (b"a", b"1"), (b"b", b"2"), (None, b"3"))

        assert {full: 0, empty: 0} == self.cluster.log_start_offsets([full, empty])
        assert {full: 3, empty: 0} == self.cluster.log_end_offsets([full, empty], "read_committed")

    def test_log_start_moves_with_retention(self, topic: str) -> None:
        """Purged records raise the log start and leave the end where it is."""
        partition = TopicPartition(topic, 0)
        self.produce(topic, 0, (b"a", b"1"), (b"b", b"2"))
        self.purge(topic, 0, 1)

        assert {partition: 1} == self.cluster.log_start_offsets([partition])
        assert {partition: 2} == self.cluster.log_end_offsets([partition], "read_uncommitted")

    def _produce_at(self, topic: str, partition: int, *seconds: int) -> None:
        for second in seconds:
            self.produce(topic, partition, (b"k", b"%d" % second), timestamp_ms=ms_of(SOME_TIME_AGO) + 1000 * second)

    def _offsets_at(self, topic: str, second: int) -> list[int]:
        """Return the offsets for a second in both partitions."""
        partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
        at = SOME_TIME_AGO + timedelta(seconds=second)
        offsets = self.cluster.offsets_for_time(partitions, at, "read_committed")
        assert set(partitions) == set(offsets)
        return [offsets[partition] for partition in partitions]

    def test_offset_for_a_time_is_the_first_at_or_after_it(self, topic: str) -> None:
        """The moment itself counts; where no record is that late, and where there is none at all, it is the end."""
        self._produce_at(topic, 0, 10, 20, 30)

        assert [0, 0] == self._offsets_at(topic, 0)
        assert [1, 0] == self._offsets_at(topic, 20)
        assert [2, 0] == self._offsets_at(topic, 21)
        assert [3, 0] == self._offsets_at(topic, 31)

    def test_offset_for_a_time_with_timestamps_out_of_order(self, topic: str) -> None:
        """The first offset counts, not the first timestamp: later offsets may be earlier in time."""
        self._produce_at(topic, 0, 10, 40, 20, 30, 50)
        self._produce_at(topic, 1, 30, 10)

        assert [1, 0] == self._offsets_at(topic, 20)
        assert [1, 2] == self._offsets_at(topic, 31)
        assert [4, 2] == self._offsets_at(topic, 41)

    def test_offset_for_a_time_lies_in_what_the_log_holds(self, topic: str) -> None:
        """Deleted records are no answer; where all are deleted it is the end."""
        self._produce_at(topic, 0, 10, 20, 10)
        self._produce_at(topic, 1, 10)
        self.purge(topic, 0, 1)
        self.purge(topic, 1, 1)

        assert [1, 1] == self._offsets_at(topic, 5)
        assert [3, 1] == self._offsets_at(topic, 25)

    def test_table_has_the_latest_value_of_each_key(self, topic: str) -> None:
        """A later record of a key replaces the earlier, a tombstone included."""
        self.produce(topic, 0, (b"a", b"1"), (b"b", b"2"), (b"a", b"3"))
        self.produce(topic, 1, (b"c", None))

        assert {b"a": b"3", b"b": b"2", b"c": None} == dict(self.cluster.read_table(topic))

    def test_rows_have_their_offsets(self, topic: str) -> None:
        """Rows begin at the given offset or at the first record that is left, each with its place, in order."""
        self.produce(topic, 0, (b"a", b"0"), (b"b", b"1"), (b"c", None))
        self.produce(topic, 1, (None, b"3"))
        self.purge(topic, 0, 1)
        first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)

        rows = self.cluster.log_rows(topic, {second: 0})
        assert [(first, 1, b"b", b"1"), (first, 2, b"c", None), (second, 0, None, b"3")] == sorted(rows)
        assert [(first, 2, b"c", None)] == list(self.cluster.log_rows(topic, {first: 2, second: 1}))
        assert [] == list(self.cluster.log_rows("contract-none", {}))

    def test_log_has_every_record(self, topic: str) -> None:
        """All that a topic holds is read, earlier records of a key too, and nothing that was deleted."""
        self.produce(topic, 0, (b"a", b"0"), (b"a", b"1"), (b"a", b"2"), (b"a", None))
        self.produce(topic, 1, (None, b"3"))
        self.purge(topic, 0, 1)

        found = list(self.cluster.read_log(topic, 60))

        assert [(b"a", b"1"), (b"a", b"2"), (b"a", None)] == [record for record in found if record[0]]
        assert [(None, b"3")] == [record for record in found if not record[0]]
        assert [] == list(self.cluster.read_log("contract-none", 60))

    def test_log_that_takes_too_long_is_not_whole(self, topic: str) -> None:
        """When the time is over, what was read is not taken for the whole."""
        self.produce(topic, 0, (b"a", b"1"), (b"a", b"2"))

        with pytest.raises(TransientError, match="not read to its end"):
            list(self.cluster.read_log(topic, 0))

    def test_partitions_of_all_topics_are_counted(self, topic: str) -> None:
        """Every topic that can be seen is there with its number of partitions."""
        assert self.cluster.partition_counts()[topic] == 2
        assert self.cluster.topic_names() == self.cluster.partition_counts().keys()

    def test_sampled_records_have_key_and_size(self, topic: str) -> None:
        """A sample has the records of its ranges with partition, key and size, and a partition without any is left."""
        self.produce(topic, 0, (b"a", b"1"), (b"b", None), (None, b"123"))
        start, end = ({TopicPartition(topic, 0): at, TopicPartition(topic, 1): 0} for at in (1, 3))
        found = list(self.cluster.sampled_records(start, {**end, TopicPartition(topic, 1): 0}, 60))

        assert [(b"b", 1), (None, 3)] == [(record.key, record.size) for record in found]
        assert {TopicPartition(topic, 0)} == {record.partition for record in found}

    def test_shapes_tell_sizes_nulls_and_times(self, topic: str) -> None:
        """Each record of a range has its offset, time and sizes; a null is not an empty field."""
        first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
        self.produce(topic, 0, (b"a", b"1"), (b"", None), (None, b"123"), timestamp_ms=ms_of(SOME_TIME_AGO))
        found = self.cluster.record_shapes({first: 1, second: 0}, {first: 3, second: 0}, "read_committed", 60)

        at = ms_of(SOME_TIME_AGO)
        assert [RecordShape(first, 1, at, 0, None), RecordShape(first, 2, at, None, 3)] == list(found)

    def test_probe_meets_a_record_or_the_end(self, topic: str) -> None:
        """From before the end a probe meets a record, at the end the end."""
        first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
        self.produce(topic, 0, (b"a", b"1"), (b"b", b"2"))

        probes = self.cluster.probe({first: 1, second: 0}, "read_committed")

        assert {first: Probe(1, False), second: Probe(0, True)} == probes

    def test_first_records_of_many_partitions(self, topic: str) -> None:
        """However many are asked for, each answers: with its record, or with its end."""
        self.cluster.create_partitions({topic: MANY_PARTITIONS})
        with_record = TopicPartition(topic, MANY_PARTITIONS - 1)
        self.produce(topic, with_record.partition, (b"a", b"1"))
        everywhere = {TopicPartition(topic, number): 0 for number in range(MANY_PARTITIONS)}

        found = self.cluster.records_at(everywhere, "read_committed")

        assert everywhere.keys() == found.keys()
        assert [with_record] == [partition for partition, record in found.items() if record is not None]

    def test_written_offsets_are_read_back_with_their_metadata(self, topic: str, group: str) -> None:
        """Offsets set on a group that does not exist make it; the text beside them is kept, an empty one too."""
        first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
        written = {first: CommittedOffset(2, "nightly report"), second: CommittedOffset(0)}
        self.cluster.alter_offsets(group, written)

        assert written == self.cluster.committed_offsets(group)
        assert {second: CommittedOffset(0)} == self.cluster.committed_offsets(group, [second])

    def test_offsets_are_written_again(self, topic: str, group: str) -> None:
        """A later write replaces what it names, lower offsets included, and leaves the rest."""
        first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
        self.cluster.alter_offsets(group, {first: CommittedOffset(5), second: CommittedOffset(7)})
        self.cluster.alter_offsets(group, {first: CommittedOffset(3)})

        assert {first: CommittedOffset(3), second: CommittedOffset(7)} == self.cluster.committed_offsets(group)

    def test_never_committed_is_missing(self, topic: str, group: str) -> None:
        """A partition, or a group, without a commit is missing from the answer; it is not at zero."""
        first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
        self.cluster.alter_offsets(group, {first: CommittedOffset(1)})

        assert {first: CommittedOffset(1)} == self.cluster.committed_offsets(group, [first, second])
        assert {} == self.cluster.committed_offsets(f"{group}-none")
        assert {} == self.cluster.committed_offsets(f"{group}-none", [first])
        assert {} == self.cluster.committed_offsets(group, [])

    def test_group_without_members_is_listed_empty(self, topic: str, group: str) -> None:
        """An empty group is listed and described; one that does not exist is dead, and neither is active."""
        self.cluster.alter_offsets(group, {TopicPartition(topic, 0): CommittedOffset(1)})
        described = self.cluster.describe_groups([group, f"{group}-none"])

        assert [GroupState.EMPTY] == [g.state for g in self.cluster.list_groups() if g.group == group]
        assert GroupState.EMPTY is described[group].state
        assert [False, False] == [d.is_active for d in described.values()]
        assert GroupState.DEAD is described[f"{group}-none"].state
        assert {} == self.cluster.describe_groups([])

    def test_only_groups_of_kafka_connect_have_workers(self, topic: str, group: str) -> None:
        """A group that does not exist, that is empty or that has consumers as members names no worker."""
        self.cluster.alter_offsets(f"{group}-empty", {TopicPartition(topic, 0): CommittedOffset(1)})

        assert () == self.cluster.connect_workers(f"{group}-none")
        assert () == self.cluster.connect_workers(f"{group}-empty")
        with self.member(group, topic):
            assert () == self.cluster.connect_workers(group)

    def test_group_without_an_id_is_listed_and_cannot_be_moved(self, topic: str, group: str) -> None:
        """Brokers keep commits under the empty text; its offsets are refused as a finding, and other groups answer."""
        place = TopicPartition(topic, 0)
        # A new cluster makes the topic of offsets only when a client looks for a coordinator.
        self.cluster.alter_offsets(group, {place: CommittedOffset(1)})
        self.commit_without_id(topic)

        listed = {each.group: each for each in self.cluster.list_groups()}
        assert (False, True) == (listed[""].is_movable, listed[group].is_movable)
        described = self.cluster.describe_groups(["", group])
        assert (GroupState.UNKNOWN, GroupState.EMPTY) == (described[""].state, described[group].state)
        for ask in (
            lambda: self.cluster.committed_offsets(""),
            lambda: self.cluster.alter_offsets("", {place: CommittedOffset(1)}),
        ):
            with pytest.raises(Refused) as refused:
                ask()
            assert [Code.GROUP_UNREADABLE] == [finding.code for finding in refused.value.findings]
        assert {place: CommittedOffset(1)} == self.cluster.committed_offsets(group)
        self.cluster.delete_group("")
        assert "" not in {each.group for each in self.cluster.list_groups()}

    def test_deleted_group_has_no_offsets(self, topic: str, group: str) -> None:
        """A deleted group is gone with what it committed; deleting it again is no error."""
        self.cluster.alter_offsets(group, {TopicPartition(topic, 0): CommittedOffset(1)})
        self.cluster.delete_group(group)
        self.cluster.delete_group(group)

        assert {} == self.cluster.committed_offsets(group)
        assert GroupState.DEAD is self.cluster.describe_groups([group])[group].state

    def test_group_with_a_member_is_active_and_takes_no_offsets(self, topic: str, group: str) -> None:
        """Members are described with client and host; writing is refused and changes nothing."""
        partition = TopicPartition(topic, 0)
        self.cluster.alter_offsets(group, {partition: CommittedOffset(1)})

        with self.member(group, topic):
            description = self.cluster.describe_groups([group])[group]
            with pytest.raises(Refused) as raised:
                self.cluster.alter_offsets(group, {partition: CommittedOffset(2)})

        (member,) = description.members
        assert description.is_active
        assert member.client_id
        assert member.host
        assert [Code.GROUP_ACTIVE] == [f.code for f in raised.value.findings]
        assert {partition: CommittedOffset(1)} == self.cluster.committed_offsets(group)

    def test_record_at_an_offset_is_known_by_its_digest(self, topic: str) -> None:
        """Each record has its own digest; at the end there is none; before the log start the first one held is met."""
        first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
        self.produce(topic, 0, (b"a", b"1"), (b"a", b"2"), (b"a", None))
        self.purge(topic, 0, 1)

        one = self.cluster.records_at({first: 0, second: 0}, "read_committed")
        two = self.cluster.records_at({first: 2}, "read_committed")
        end = self.cluster.records_at({first: 3}, "read_committed")

        assert one[second] is None
        assert end[first] is None
        assert (1, 2) == tuple(found.offset for found in (one[first], two[first]) if found)
        assert one[first] == self.cluster.records_at({first: 1}, "read_committed")[first]
        assert present(one[first]).digest != present(two[first]).digest

    def test_visible_records_are_counted_within_the_range(self, topic: str) -> None:
        """The start counts, the end does not; an empty range has none."""
        first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
        self.produce(topic, 0, *[(b"k", b"%d" % n) for n in range(5)])

        assert {first: 3, second: 0} == self.cluster.count_visible(
            {first: 1, second: 0}, {first: 4, second: 0}, "read_committed"
        )

    def test_visible_records_of_a_range_are_printed_in_order(self, topic: str) -> None:
        """Each print of a range is that of the record at its offset; the start counts, the end does not."""
        first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
        self.produce(topic, 0, *[(b"k", b"%d" % n) for n in range(4)])

        found = self.cluster.prints_between({first: 1, second: 0}, {first: 3, second: 0}, "read_committed")

        alone = [self.cluster.records_at({first: n}, "read_committed")[first] for n in (1, 2)]
        assert (alone, 0) == (list(found[first]), len(found[second]))

    def test_count_over_deleted_records_is_no_count(self, topic: str) -> None:
        """A range that the log no longer holds whole is an error, not a smaller number."""
        partition = TopicPartition(topic, 0)
        self.produce(topic, 0, (b"a", b"1"), (b"b", b"2"))
        self.purge(topic, 0, 1)

        for read in (self.cluster.count_visible, self.cluster.prints_between):
            with pytest.raises(TransientError):
                read({partition: 0}, {partition: 2}, "read_committed")

    def test_closed_cluster_answers_again(self, topic: str) -> None:
        """What is asked after closing is answered as before, a table too."""
        self.produce(topic, 0, (b"a", b"1"))
        before = list(self.cluster.read_table(topic))
        self.cluster.close()
        self.cluster.close()

        assert [(b"a", b"1")] == before == list(self.cluster.read_table(topic))
