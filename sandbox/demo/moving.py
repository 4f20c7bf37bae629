"""The second half of the demo: the consumer groups move, and real consumers prove that nothing was skipped."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from sandbox.airflow_api import AirflowApi, DagRun
from sandbox.data.asking import asked
from sandbox.data.groups import GROUPS
from sandbox.data.reading import Placed, read_records, to_record
from sandbox.data.records import Record
from sandbox.data.topics import TOPICS
from sandbox.demo.display import Display
from sandbox.demo.failure import DemoFailed
from sandbox.demo.runs import DAG_ID, Runner
from sandbox.errors import SandboxError
from sandbox.state import SandboxState

APPROVE_TASK, AWAITING = "approve", "awaiting_input"
TIMEOUT_S = 600.0
SETTLED_POLLS = 4

Place = tuple[str, int]
Commits = dict[Place, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """The records that one group read on both sides together, summed over its partitions."""

    group: str
    read_on_source: int
    read_on_target: int
    skipped: int
    read_twice: int


class Moving:
    """Rehearsal, cutover and proof on a sandbox whose producers are stopped."""

    def __init__(self, state: SandboxState, api: AirflowApi, display: Display, runner: Runner) -> None:
        self._state = state
        self._api = api
        self._display = display
        self._runner = runner

    def move(self) -> None:
        """Rehearse, cut over with the approval given here, let every moved group read the rest, and compare.

        Raises:
            DemoFailed: the rehearsal changed a group, or a group skipped a record or read more twice than planned.
        """
        self._rehearse()
        planned = self._cut_over()
        readings = self._read_all_on(sorted(planned))
        self._tell(readings, planned)
        for reading in readings:
            if reading.skipped or reading.read_twice != planned[reading.group]:
                raise DemoFailed(
                    f"group {reading.group} skipped {reading.skipped} records and read {reading.read_twice} twice "
                    f"(planned {planned[reading.group]})"
                )

    def _rehearse(self) -> None:
        before = self._all_commits()
        self._runner.require_pass(self._runner.run("Rehearsal: nothing is written", {"mode": "rehearse"}))
        if before != self._all_commits():
            raise DemoFailed("the rehearsal changed a consumer group")
        self._display.line("No group was changed on either side.")

    def _cut_over(self) -> Mapping[str, int]:
        """Cut over; return the moved groups with the planned number of records delivered again."""
        finished = self._runner.run("Cutover", {"mode": "cutover"}, during=_Approver(self._api, self._display))
        evidence = self._runner.require_pass(finished)
        moved = {g["group"]: int(g["delivered_again"]) for g in evidence.groups if g["outcome"] == "moved"}
        for group in evidence.groups:
            if group["group"] not in moved:
                self._display.line(f"Left out: {group['group']}: {'; '.join(group['reasons']) or group['outcome']}")
        if not moved:
            raise DemoFailed("no group was moved")
        return moved

    def _all_commits(self) -> dict[str, tuple[Commits, Commits]]:
        return {
            group.name: (
                commits(self._state.source_bootstrap, group.name, group.read),
                commits(self._state.target_bootstrap, group.name, group.read),
            )
            for group in GROUPS
        }

    def _read_all_on(self, groups: Sequence[str]) -> list[Reading]:
        """Let the groups continue at the same time; the records of the source are read once for all of them."""
        read = {group: commits(self._state.source_bootstrap, group, _topics_of(group)) for group in groups}
        topics = {topic for committed in read.values() for topic, _ in committed}
        source = {topic: read_records(self._state.source_bootstrap, topic) for topic in topics}
        with ThreadPoolExecutor(len(groups)) as threads:
            return list(threads.map(lambda group: self._read_on(group, read[group], source), groups))

    def _read_on(self, group: str, committed: Commits, source: Mapping[str, Mapping[int, list[Placed]]]) -> Reading:
        """Continue reading on the target as the group, and compare both parts with all records of the source."""
        wanted = {place: source[place[0]][place[1]] for place in committed}
        first = {place: _before(wanted[place], committed[place]) for place in wanted}
        second = consume(self._state.target_bootstrap, group, wanted)
        return _compare(group, wanted, first, second)

    def _tell(self, readings: Iterable[Reading], planned: Mapping[str, int]) -> None:
        self._display.section("Consumers of each moved group, source and target together")
        for r in readings:
            self._display.line(
                f"{r.group:<12} read on the source {r.read_on_source:>9,}   on the target {r.read_on_target:>9,}"
                f"   skipped {r.skipped}   read twice {r.read_twice} (planned {planned[r.group]})"
            )


def _topics_of(group: str) -> tuple[str, ...]:
    return next(tuple(each.read) for each in GROUPS if each.name == group)


class _Approver:
    """Answers the approval once per try as the demo's user, after printing the question.

    Airflow 3.3 loses an answer that arrives while the task starts to wait, and asks again. So the answer is only sent
    after the task was seen waiting at several polls.
    """

    def __init__(self, api: AirflowApi, display: Display) -> None:
        self._api = api
        self._display = display
        self._seen = Counter[int]()

    def __call__(self, run: DagRun) -> None:
        task = run.task(APPROVE_TASK)
        if task is None or task.state != AWAITING:
            return
        self._seen[task.try_number] += 1
        if self._seen[task.try_number] != SETTLED_POLLS:
            return
        self._display.line(f"\nThe run asks:\n\n{self._api.question(DAG_ID, run.run_id, APPROVE_TASK)}\n")
        self._api.answer(DAG_ID, run.run_id, APPROVE_TASK, "Approve")
        self._display.line("Approved by the demo.\n")


def commits(bootstrap: str, group: str, topics: Iterable[str]) -> Commits:
    """Return a group's committed offsets on these topics; partitions without a commit are missing."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    counts = {topic.name: topic.partitions for topic in TOPICS}
    wanted = [TopicPartition(topic, number) for topic in topics for number in range(counts[topic])]

    def committed() -> Any:
        (future,) = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group, wanted)]).values()
        return future.result(TIMEOUT_S)

    found = asked(committed, f"the commits of group {group}")
    return {(p.topic, p.partition): p.offset for p in found.topic_partitions if p.offset >= 0}


def consume(bootstrap: str, group: str, expected: Mapping[Place, list[Placed]]) -> dict[Place, list[Record]]:
    """Join as the group and read from its committed offsets to the present end of these partitions.

    Raises:
        SandboxError: the ends are not reached in time.
    """
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "enable.auto.commit": False,
            # Partitions without a commit begin at their end: only moved offsets are checked.
            "auto.offset.reset": "latest",
            "isolation.level": "read_committed",
        }
    )
    found: dict[Place, list[Record]] = {place: [] for place in expected}
    start = commits(bootstrap, group, {topic for topic, _ in expected})
    ends = {place: _end(consumer, place) for place in expected}
    left = {place for place, end in ends.items() if start.get(place, 0) < end}
    consumer.subscribe(sorted({topic for topic, _ in expected}))
    deadline = time.monotonic() + TIMEOUT_S
    while left:
        if time.monotonic() > deadline:
            raise SandboxError(f"group {group} did not reach the end of {sorted(left)[0]} in {TIMEOUT_S:.0f} s")
        for message in consumer.consume(1_000, 0.5):
            place = (message.topic(), message.partition())
            if message.error() is None and place in found:
                found[place].append(to_record(message))
                if message.offset() + 1 >= ends[place]:
                    left.discard(place)
    consumer.close()
    return found


def _end(consumer: Consumer, place: Place) -> int:
    question = partial(consumer.get_watermark_offsets, TopicPartition(*place), timeout=TIMEOUT_S)
    return int(asked(question, f"the end of {place}")[1])


def _before(placed: list[Placed], offset: int) -> list[Record]:
    return [each.record for each in placed if each.offset < offset]


def _compare(
    group: str,
    wanted: Mapping[Place, list[Placed]],
    first: Mapping[Place, list[Record]],
    second: Mapping[Place, list[Record]],
) -> Reading:
    """Compare record by record: records missing in the union were skipped, repeated records were read twice."""
    skipped = twice = 0
    for place, placed in wanted.items():
        there = Counter(each.record for each in placed)
        read = Counter(first[place]) + Counter(second[place])
        skipped += (there - read).total()
        twice += (read - there).total()
    return Reading(group, sum(map(len, first.values())), sum(map(len, second.values())), skipped, twice)
