"""Rules of runs whose migration file has patterns: what they copy, name and refuse."""

from __future__ import annotations

import json

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.orchestration.dag.forms import manual_form
from tests.steps.world import FOUR_RECORDS, P0, World


@pytest.fixture
def patterned(world: World) -> World:
    """The migration with a pattern in place of the name of its second topic."""
    world.edit_file("topics: [orders, audit]", "topics: [orders, pattern: 'au.*', exclude: '.*-tmp']")
    world.source.produce("orders", 0, *FOUR_RECORDS)
    return world


def run_once(world: World, records: int) -> str:
    """Let a run copy so many more records of the first partition, and return its report."""
    world.copy_and_judge({P0: records})
    world.finish(judge="success")
    report = world.report
    world.next_run(int(world.dag_run.run_id.rpartition("__")[2]) + 1 if "__" in world.dag_run.run_id else 2)
    return report


def test_run_copies_the_topics_that_match(patterned: World) -> None:
    """MirrorMaker gets exact names: those of the file and those of the source that match; the evidence lists them."""
    patterned.source.create_topics([NewTopic("audit-tmp", 1, 1, {}), NewTopic("bills", 1, 1, {})])
    patterned.start()

    assert ["orders", "audit"] == patterned.run.evidence.require(Kind.TOPIC_LIST)["topics"]
    launched = json.dumps(patterned.host.processes[patterned.host.last].launch, default=str)
    assert "orders,audit" in launched
    assert "bills" not in launched
    assert "audit-tmp" not in launched


def test_next_run_takes_a_new_topic(patterned: World) -> None:
    """A topic that was created after the first run is copied by the next one and named in its report."""
    first = run_once(patterned, 1)
    patterned.source.create_topics([NewTopic("audit-2", 1, 1, {})])
    second = run_once(patterned, 1)

    assert "New on the source" not in first
    assert "New on the source: audit-2." in second
    assert "audit-2" in patterned.ledger.copied_topics
    assert "audit-2" in patterned.target.topic_names()


def test_topic_that_appears_after_preflight_is_in_the_plan(patterned: World) -> None:
    """The plan compares the patterns again while the run holds the reservation; its list is the one that counts."""
    patterned.do("preflight")
    patterned.source.create_topics([NewTopic("audit-2", 1, 1, {})])
    patterned.do("reserve", "plan")

    assert ("orders", "audit", "audit-2") == patterned.run.migration.topics


def test_vanished_topic_is_named_in_each_run(patterned: World) -> None:
    """A copied topic that was deleted from the source is a warning of each sync, and refuses a cutover."""
    run_once(patterned, 1)
    patterned.source.create_topics([NewTopic("audit-2", 1, 1, {})])
    patterned.source.delete_topics(["audit"])

    assert "SOURCE_TOPIC_VANISHED" in run_once(patterned, 1)
    assert "SOURCE_TOPIC_VANISHED" in run_once(patterned, 1)
    patterned.params["mode"] = "cutover"
    patterned.refuses("preflight", match="SOURCE_TOPIC_VANISHED")


def test_pattern_without_a_topic_refuses(patterned: World) -> None:
    """A pattern that matches nothing refuses the run before anything starts, together with the other findings."""
    patterned.edit_file("au.*", "aud1t.*")
    patterned.target.create_topics([NewTopic("orders", 3, 1, {})])
    patterned.refuses("preflight")

    assert ["PATTERN_MATCHES_NOTHING", "TOPIC_PARTITIONS_DIFFER"] == patterned.refusal_codes


def test_unreachable_source_does_not_hide_other_findings(patterned: World) -> None:
    """If the source cannot be listed, preflight reports that and everything else that it finds."""
    patterned.source.is_down = True
    other = patterned.file.read_text().replace("name: shop", "name: other")
    (patterned.migrations / "other.yaml").write_text(other)
    patterned.refuses("preflight")

    assert ["MIGRATIONS_OVERLAP", "CLUSTER_UNREACHABLE"] == patterned.refusal_codes


def test_requested_topic_may_be_one_that_a_pattern_takes(patterned: World) -> None:
    """The form's topics are compared with the resolved list, and any other name is refused."""
    patterned.params["topics"] = ["audit"]
    patterned.do("preflight", "reserve", "plan")
    assert ("audit",) == patterned.run.migration.topics

    patterned.next_run()
    patterned.params["topics"] = ["audit-tmp"]
    patterned.refuses("preflight", match="RUN_CONF_INVALID")


def test_form_takes_names_that_the_file_does_not_have(patterned: World) -> None:
    """With a pattern the form has no closed list of topics; without one it has."""
    patterned.freeze()
    assert "enum" not in manual_form(patterned.run.filed_migration)["topics"].schema["items"]
    patterned.edit_file("topics: [orders, pattern: 'au.*', exclude: '.*-tmp']", "topics: [orders, audit]")
    patterned.freeze()
    assert ["orders", "audit"] == manual_form(patterned.run.filed_migration)["topics"].schema["items"]["enum"]


def test_settings_of_a_rule_are_used_at_creation_and_restored(patterned: World) -> None:
    """A created topic has its rule's replication factor and settings; a frozen one is restored to the rule's value."""
    patterned.edit_file("pattern: 'au.*'", "{pattern: 'au.*', configs: {retention.ms: '5000', compression.type: lz4}}")
    patterned.do("preflight", "reserve", "plan", "create_topics")

    configs = patterned.target.describe_topics(["audit"])["audit"].configs
    assert ("-1", "lz4") == (configs["retention.ms"], configs["compression.type"])
    assert "5000" == patterned.ledger.topics["audit"].frozen_configs["retention.ms"]


def test_tampered_list_is_not_used(patterned: World) -> None:
    """A changed topic list stops the next task, because Airflow keeps its digest."""
    patterned.do("preflight", "reserve", "plan")
    path = next(patterned.run.evidence.folder.glob("*-topic-list-2.json"))
    path.write_text(path.read_text().replace('"audit"', '"salaries"'))

    patterned.refuses("create_topics", match="EVIDENCE_CHANGED")
