"""Rules of groups on re-partitioned copies: the request to Spark, and the plan from its result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from kafka_migration.core.cutover.plan_page import render_plan
from kafka_migration.core.documents.codec import DoesNotFit
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.groups.group_rules import Translated, plan_groups
from kafka_migration.core.groups.offsets_plan import GroupPlan, GroupVerdict, OffsetsPlan, Proof
from kafka_migration.core.groups.rules_by_topic import Vectors, topics_to_translate
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.migration.settings import Mode, Uncommitted
from kafka_migration.core.translation.by_topic import Began, HowCopied, RepartitionedTopic
from kafka_migration.core.translation.copies import PartitionCopy
from kafka_migration.core.translation.translation_contract import (
    TranslatedTopic,
    TranslationRequest,
    TranslationResult,
    VectorTranslation,
)
from tests.markdown_text import read
from tests.unit.groups.copied_partition import committed
from tests.unit.partitions import P0, P1

# Two generations copied two partitions to three; the source has deleted the first two records of partition 0.
TOPIC = RepartitionedTopic(
    "orders",
    HowCopied("new.orders", keeps_partitions=False, is_compacted=False, has_timestamps=True),
    source_log_start={0: 2, 1: 0},
    mirror_positions={0: 10, 1: 6},
    target_ends={0: 5, 1: 9, 2: 2},
    began=(Began({0: 0, 1: 0}, {0: 0, 1: 0, 2: 0}), Began({0: 6, 1: 2}, {0: 2, 1: 6})),
    readable=frozenset({0, 1}),
)
FOUND = VectorTranslation({0: 3, 1: 7, 2: 2}, unread=3, delivered=4, missing={}, is_minimal=True)


def vectors(*, topic: RepartitionedTopic = TOPIC, **found: VectorTranslation) -> Vectors:
    """Return what Spark found of vectors, given as `p8_5`."""
    translations = {tuple(enumerate(map(int, name[1:].split("_")))): one for name, one in found.items()}
    return Vectors({"orders": topic}, {"orders": translations})


def plan(commits: Mapping[TopicPartition, int], seen: Vectors, *, is_final: bool = True, **group: Any) -> GroupPlan:
    """Plan one group on a topic of which everything is copied."""
    copies = {
        p: PartitionCopy((Window(1, "orders", "orders", p.partition, 0, end, 0, 0),), 0, end + 5)
        for p, end in ((P0, 10), (P1, 6))
    }
    translated = Translated(copies, {}, {}, {}, {}, seen)
    (found,) = plan_groups([committed(commits, **group)], translated, is_final=is_final)
    return found


def test_group_goes_on_where_spark_found_its_records() -> None:
    """All partitions of the target get an offset, with the count of what is read again, and what stood there before."""
    found = plan({P0: 8, P1: 5}, vectors(p8_5=FOUND), target={TopicPartition("orders", 2): 1})

    assert GroupVerdict.READY is found.verdict
    assert {"orders[0]": 3, "orders[1]": 7, "orders[2]": 2} == {str(p): c.offset for p, c in found.proposed.items()}
    assert {"note"} == {commit.metadata for commit in found.proposed.values()}
    (topic,) = found.moves
    assert (Proof.COPIES, 3, 1, True) == (topic.proof, topic.unread, topic.delivered_again, topic.is_minimal)
    assert {TopicPartition("orders", 2): 1} == topic.before


@pytest.mark.parametrize(
    ("commits", "seen", "code", "found"),
    [
        ({P0: 8}, vectors(), "OFFSET_NEVER_COMMITTED", "no committed offset"),
        ({P0: 8, P1: 4}, vectors(p8_5=FOUND), "OFFSET_UNPROVED", "translate_offsets did not see (0: 8, 1: 4)"),
        ({P0: 8, P1: 5}, vectors(p8_5=replace(FOUND, missing={1: 5})), "OFFSET_UNPROVED", "source offset 5"),
        ({P0: 16, P1: 5}, vectors(p10_5=FOUND), "OFFSET_BEYOND_END", "committed offset 16"),
        ({P0: 12, P1: 5}, vectors(p10_5=FOUND), "OFFSET_AHEAD_OF_COPY", "committed offset 12"),
    ],
)
def test_what_is_not_proved_is_not_moved(
    commits: Mapping[TopicPartition, int], seen: Vectors, code: str, found: str
) -> None:
    """A partition without a commit, offsets that Spark did not see, records without a copy: the group is left out."""
    refused = plan(commits, seen)

    assert [code] == sorted({str(finding.code) for finding in refused.refusals})
    assert any(found in finding.found for finding in refused.refusals)
    assert {} == refused.proposed


@pytest.mark.parametrize(("has_bad_record", "code"), [(True, Code.RECORD_UNREADABLE), (False, Code.OFFSET_UNPROVED)])
def test_topic_that_spark_could_not_read_is_named(has_bad_record: bool, code: Code) -> None:
    """The group is left out with the reason of the job, not as one that has read more since."""
    text = "source partition 1: the record at offset 5 cannot be read"
    why = TranslatedTopic(topic="orders", translations=(), unreadable=text, has_bad_record=has_bad_record)
    refused = plan({P0: 8, P1: 5}, replace(vectors(), unreadable={"orders": why}))

    assert [(code, text)] == [(finding.code, finding.found) for finding in refused.refusals]


def test_answer_about_an_unreadable_topic_leaves_the_others_as_they_are() -> None:
    """The result of the job has the translations of one topic and the reason of the other."""
    document = {
        "kind": "translation-result",
        "schema": 2,
        "id": "7f",
        "spark_version": "4",
        "topics": [
            {"topic": "orders", "translations": [{"vector": {"0": 8}, **FOUND.to_document()}], "unreadable": None},
            {"topic": "audit", "translations": [], "unreadable": "offset 2", "has_bad_record": True},
        ],
    }

    result = TranslationResult.from_document(document)

    assert [("audit", "offset 2", True)] == [
        (name, found.unreadable, found.has_bad_record) for name, found in result.untranslated.items()
    ]
    assert {"orders": {((0, 8),): FOUND}, "audit": {}} == result.translations


def test_rehearsal_shows_a_group_that_is_ahead_of_the_copy() -> None:
    """Records that it read after the end of the copy count as read again, and nothing is called proved."""
    found = plan({P0: 12, P1: 5}, vectors(p10_5=FOUND), is_final=False)

    assert (GroupVerdict.PROVISIONAL, 1 + 2) == (found.verdict, found.delivered_again)


@pytest.mark.parametrize(("uncommitted", "vector"), [("earliest", (8, 0)), ("latest", (8, 6))])
def test_partition_without_commit_is_as_the_file_says(uncommitted: Uncommitted, vector: tuple[int, int]) -> None:
    """If the file says so, the group starts there as with its `auto.offset.reset`."""
    topic = replace(TOPIC, uncommitted=uncommitted)

    assert () == topic.lacking({0: 8})
    assert tuple(enumerate(vector)) == topic.vector({0: 8})


def test_empty_partition_needs_no_commit() -> None:
    """If the source never held a record, or holds none any more, no record can be skipped; markers are no records."""
    topic = replace(TOPIC, readable=frozenset({0}))

    assert () == topic.lacking({0: 8})
    assert ((0, 8), (1, 6)) == topic.vector({0: 8})


def test_where_records_were_deleted_the_ledger_says_where_nothing_unread_lies_before() -> None:
    """The group resumes at the target ends before the generation that copied its first unread record, not minimal."""
    found = plan({P0: 1, P1: 5}, vectors())
    (topic,) = found.moves

    assert {0: 0, 1: 0, 2: 0} == {p.partition: commit.offset for p, commit in topic.proposed.items()}
    assert (Proof.LEDGER, 16, False) == (topic.proof, topic.delivered_again, topic.is_minimal)


@pytest.mark.parametrize(
    ("first", "expected"),
    [((0, 0), (0, 0, 0)), ((6, 1), (0, 0, 0)), ((5, 6), (0, 0, 0)), ((6, 2), (2, 6, 0)), ((10, 6), (2, 6, 0))],
)
def test_nothing_unread_lies_before(first: tuple[int, int], expected: tuple[int, int, int]) -> None:
    """Only a generation that began, in every partition, at or before the offsets has copied all that is unread."""
    assert dict(enumerate(expected)) == TOPIC.nothing_before(tuple(enumerate(first)))


def test_spark_is_asked_once_for_all_groups() -> None:
    """Each vector is asked once, from the first unread record of any; groups that cannot be moved ask nothing."""
    groups = [
        committed({P0: 8, P1: 5}, name="billing"),
        committed({P0: 8, P1: 5}, name="reporting"),
        committed({P0: 7, P1: 6}, name="audit"),
        committed({P0: 1, P1: 6}, name="deleted on the source"),
        committed({P0: 8}, name="lacking"),
        committed({}, name="never"),
    ]
    (asked,) = topics_to_translate(groups, vectors())

    assert ({0: 7, 1: 6}, {0: 8, 1: 5}) == asked.vectors
    assert {0: (7, 10), 1: (5, 6)} == asked.source
    assert {0: (2, 5), 1: (6, 9), 2: (0, 2)} == asked.target
    assert () == topics_to_translate(groups[3:], vectors())


def request_and_result() -> tuple[TranslationRequest, TranslationResult]:
    """Return a request and its answer, as the evidence keeps them."""
    group = committed({P0: 8, P1: 5})
    topics = topics_to_translate([group], vectors())
    commits = {"billing": group.source_commits}
    request = TranslationRequest("7f", "shop", "run", "read_committed", topics, commits, {P0: 2, P1: 0})
    answer = {
        "vector": {"0": 8, "1": 5},
        "goes_on_at": {"0": 3, "1": 7, "2": 2},
        "unread": 3,
        "delivered": 4,
        "missing": {},
        "is_minimal": True,
    }
    topic = {"topic": "orders", "translations": [answer]}
    result = {"kind": "translation-result", "schema": 2, "id": "7f", "spark_version": "4", "topics": [topic]}
    written = json.loads(json.dumps(request.to_document()))
    return TranslationRequest.from_document(written), TranslationResult.from_document(result)


def test_answer_is_taken_from_the_documents() -> None:
    """What was written is read back, through JSON."""
    seen = vectors().answered(*request_and_result())

    assert {"orders": {((0, 8), (1, 5)): FOUND}} == seen.translations


@pytest.mark.parametrize(
    ("topic", "changed", "expected"),
    [
        pytest.param(replace(TOPIC, mirror_positions={0: 11, 1: 6}), {}, {}, id="more was copied"),
        pytest.param(replace(TOPIC, target_ends={0: 5, 1: 9, 2: 3}), {}, {}, id="the target grew"),
        pytest.param(TOPIC, {"id": "80"}, {"orders": {}}, id="another request"),
    ],
)
def test_answer_to_another_question_is_none(
    topic: RepartitionedTopic, changed: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    """A result counts only for its own request, and only while the copy is as it was then."""
    request, result = request_and_result()

    assert expected == vectors(topic=topic).answered(replace(request, **changed), result).translations


def test_answer_stays_when_the_source_deletes_on() -> None:
    """What Spark found holds, also when the source has deleted some of it since; the ledger says less."""
    topic = replace(TOPIC, source_log_start={0: 9, 1: 0})

    (found,) = plan({P0: 8, P1: 5}, vectors(topic=topic, p8_5=FOUND)).moves
    assert (Proof.COPIES, 3) == (found.proof, found.unread)


@pytest.mark.parametrize("commits", [{P0: 8, P1: 5}, {P0: 1, P1: 5}], ids=["copies", "by the ledger"])
def test_what_the_target_deleted_is_not_passed_over(commits: Mapping[TopicPartition, int]) -> None:
    """A group is left out if the target deleted its first unread record, but not if it has read everything."""
    seen = vectors(p8_5=FOUND)
    gone = plan(commits, replace(seen, target_log_start={TopicPartition("orders", 1): 8}))
    end = plan({P0: 8, P1: 5}, replace(seen, target_log_start={TopicPartition("orders", 2): 2}))

    assert ["OFFSET_UNPROVED"] == [str(finding.code) for finding in gone.refusals]
    assert () == end.refusals


# A copy that keeps partitions, in which a partition without a commit concerns no other.
KEPT = replace(TOPIC, how=replace(TOPIC.how, keeps_partitions=True), target_ends={0: 5, 1: 9}, began=(Began({}, {}),))
FOUND_KEPT = replace(FOUND, goes_on_at={0: 3, 1: 7})


@pytest.mark.parametrize(
    ("rule", "readable", "proposed", "unset"),
    [
        ("unset", {0, 1}, {P0: 3}, (P1,)),
        ("latest", {0, 1}, {P0: 3, P1: 9}, ()),
        ("earliest", {0, 1}, {P0: 3, P1: 7}, ()),
        ("unset", {0}, {P0: 3, P1: 9}, ()),
        ("refuse", {0}, {P0: 3, P1: 9}, ()),
        ("earliest", {0}, {P0: 3, P1: 9}, ()),
    ],
)
def test_copy_that_keeps_partitions_follows_the_rule(
    rule: Uncommitted, readable: set[int], proposed: Mapping[TopicPartition, int], unset: tuple[TopicPartition, ...]
) -> None:
    """A partition without a commit gets the end of the copy if the source has no record of it, else the rule counts."""
    topic = replace(KEPT, readable=frozenset(readable), uncommitted=rule)
    found = plan({P0: 8}, vectors(topic=topic, p8_6=FOUND_KEPT, p8_0=FOUND_KEPT))

    assert (proposed, unset) == ({p: c.offset for p, c in found.proposed.items()}, found.unset)


def test_copy_that_keeps_partitions_is_refused_if_the_file_says_so() -> None:
    """`refuse` leaves the group out with every engine."""
    found = plan({P0: 8}, vectors(topic=KEPT, p8_6=FOUND_KEPT))

    assert ["OFFSET_NEVER_COMMITTED"] == found.refusal_codes


def test_result_of_another_version_is_not_read() -> None:
    """What an older or newer job wrote may mean something else."""
    document = {"kind": "translation-result", "schema": 1, "id": "7f", "spark_version": "4", "topics": []}

    with pytest.raises(DoesNotFit, match="schema: expected one of 2, found 1"):
        TranslationResult.from_document(document)


def test_plan_is_approved_as_a_whole() -> None:
    """Another target offset is another plan."""
    group = plan({P0: 8, P1: 5}, vectors(p8_5=FOUND))
    whole = OffsetsPlan("t", Mode.CUTOVER, ("orders",), (group,), {P0: 5}, {P0: 10}, {P0: 10})
    other = plan({P0: 8, P1: 5}, vectors(p8_5=replace(FOUND, goes_on_at={0: 3, 1: 6, 2: 2})))

    assert whole.digest != replace(whole, groups=(other,)).digest


def test_text_shows_where_a_group_goes_on() -> None:
    """The text has all offsets of the topic, the records read again, and the proof."""
    exact = plan({P0: 8, P1: 5}, vectors(p8_5=FOUND))
    by_ledger = plan({P0: 1, P1: 5}, vectors(), name="late")
    text = read(render_plan(OffsetsPlan("t", Mode.CUTOVER, ("orders",), (exact, by_ledger), {}), "shop"))

    assert "| `orders` | 0: 8; 1: 5 | none | 0: 3; 1: 7; 2: 2 | 3 | 1 | copies of all unread |" in text
    assert "| not known | at most 16 (not minimal) | by the ledger |" in text
    assert "proved for every offset" in text
