"""Rules of the command `plan`: it shows what a run would do, and it writes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_migration.cli.main import main
from kafka_migration.cli.runs import plan_verb as plan_module
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic, Operation, Resource
from kafka_migration.core.ledger.cutovers import CutOver, Rehearsed
from tests.airflow.world import World
from tests.json_fields import undocumented
from tests.shown_codes import shown_codes
from tests.steps.world import AUDIT, FOUR_RECORDS, P0


@pytest.fixture
def shown(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world with four records to copy, which the command sees as its Airflow."""
    monkeypatch.setattr(plan_module, "shown_deployment", lambda migrations: world.deployment)
    world.source.produce("orders", 0, *FOUR_RECORDS)
    return world


def planned(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[str], list[str]]:
    """Return the exit code, the lines of the answer and the codes of the findings."""
    capsys.readouterr()
    code = main(["plan", "shop", *options])
    out, err = capsys.readouterr()
    return code, out.splitlines(), shown_codes(err)


def document(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """Return the answer as JSON."""
    capsys.readouterr()
    main(["plan", "shop", "-o", "json", *options])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert set() == undocumented("plan", found)
    return found


def test_topics_to_create(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A topic that the target lacks is shown with partitions, replication factor, settings and offsets to copy."""
    code, out, codes = planned(capsys)

    assert (0, []) == (code, codes)
    assert [
        "Migration  shop",
        "Mode       rehearse",
        "Phase      new",
        "To copy    4 offsets",
        "",
        "TOPIC   ON THE TARGET                                                                    OFFSETS TO COPY",
        "orders  create: 2 partitions, replication factor 1; retention.bytes=-1, retention.ms=-1  4",
        "audit   create: 1 partition, replication factor 1; retention.bytes=-1, retention.ms=-1   0",
    ] == out


def test_newest_rehearsal_is_the_forecast(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A plan that moves groups shows how long clients would stand still; one that moves none does not."""
    rehearsed = Rehearsed("r", "2030-01-01T00:00:00+00:00", "d", (), (), {})
    shown.run.ledger.append(rehearsed.to_document())

    out = planned(capsys)[1]
    assert "As the rehearsal of 2030-01-01T00:00:00+00:00 measured it:" in out
    assert out[-1].startswith("  How long producers and consumers would stand still is not known")
    assert document(capsys)["rehearsal"]["run"] == "r"
    assert document(capsys, "--mode", "sync")["rehearsal"] is None


def test_the_plan_is_that_of_the_task(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The command shows the positions, goals and topics that the task `plan` then records."""
    shown.params["mode"] = "rehearse"
    found = document(capsys)
    shown.do("preflight", "reserve", "plan")
    recorded = shown.run.evidence.require(Kind.PLAN)

    assert (recorded["positions"], recorded["goals"]) == (found["positions"], found["goals"])
    created = [{key: topic[key] for key in recorded["create"][0]} for topic in found["topics"]]
    assert recorded["create"] == created
    assert recorded["offsets_to_copy"] == sum(topic["offsets_to_copy"] for topic in found["topics"])


def test_nothing_is_written(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The command leaves the evidence root, both clusters and the host as they are."""
    assert 0 == planned(capsys)[0]
    assert not shown.root.exists()
    assert set() == set(shown.target.topics)
    assert [] == shown.host.calls


def test_existing_topics_show_their_differences(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A topic that exists is shown with the settings in which it is not what a run would create."""
    shown.target.create_topics([NewTopic("orders", 2, 1, {"retention.ms": "5", "segment.ms": "7"})])
    _, out, _ = planned(capsys)

    line = "orders  exists: 2 partitions; retention.ms=5 (expected 1000), segment.ms=7 (expected unset)"
    assert any(each.startswith(line) for each in out)


def test_a_refused_run_is_shown_with_its_findings(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Every reason for which the run would be refused is a finding, and the topics are shown all the same."""
    shown.target.create_topics([NewTopic("orders", 3, 1, {})])
    shown.source.delete_topics(["audit"])
    code, out, codes = planned(capsys, "--topic", "orders", "--topic", "foreign")
    assert (3, ["RUN_CONF_INVALID", "TOPIC_PARTITIONS_DIFFER"]) == (code, codes)
    assert out[-1].startswith("orders  exists: 3 partitions")

    assert (3, ["SOURCE_TOPIC_MISSING", "TOPIC_PARTITIONS_DIFFER"]) == planned(capsys)[::2]


def test_topic_that_is_never_copied_refuses_the_plan(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The plan refuses what preflight refuses about the file: topics that are skipped, and overlapping files."""
    shown.source.create_topics([NewTopic("orders.replica", 1, 1, {})])
    shown.edit_file("[orders, audit]", "[orders, orders.replica]")
    other = shown.file.read_text().replace("name: shop", "name: other").replace("[orders, orders.replica]", "[orders]")
    (shown.migrations / "other.yaml").write_text(other)

    assert (3, ["TOPIC_NEVER_COPIED", "MIGRATIONS_OVERLAP"]) == planned(capsys)[::2]
    assert (3, ["MIGRATIONS_OVERLAP"]) == planned(capsys, "--mode", "validate")[::2]


def test_groups_that_may_not_be_seen_refuse_the_plan(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Groups that the login may not describe are not listed, so the plan says that the right is missing."""
    shown.source.denied.add((Resource("group", "*"), Operation.DESCRIBE))

    assert (3, ["RIGHT_MISSING"]) == planned(capsys)[::2]
    assert (0, []) == planned(capsys, "--mode", "sync")[::2]


def test_unknown_rights_are_no_answer(
    shown: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If brokers do not report whether the login may see the groups, the plan warns that there may be more."""
    monkeypatch.setattr(shown.source, "granted", lambda resources: {})

    assert (0, ["FACT_UNKNOWN"]) == planned(capsys)[::2]
    assert (0, []) == planned(capsys, "--mode", "sync")[::2]


def test_the_gap_guard_is_asked(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The command compares the clusters with the last stop certificate, as the next run does."""
    shown.start()
    shown.mirror({P0: 4})
    shown.do("stop_mirror")
    code, out, _ = planned(capsys)
    assert (0, "Generation  1 has stopped; the run continues after it") == (code, out[3])
    shown.target.produce("orders", 0, *FOUR_RECORDS)

    assert (3, ["TARGET_WRITTEN_BY_OTHERS"]) == planned(capsys)[::2]


def test_topics_that_are_cut_over_are_left_out(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A topic that an earlier run cut over is not copied again; a mode without a remaining topic is refused."""
    shown.run.ledger.append(CutOver("dag/run#1", "then", (), ("orders",), False, ("audit",)).to_document())
    found = document(capsys)

    assert (["orders"], ["audit"]) == (found["cut_over"], [topic["topic"] for topic in found["topics"]])
    assert ["ALREADY_CUT_OVER"] == planned(capsys, "--topic", "orders")[2]


def test_new_and_vanished_topics_of_patterns(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """With patterns the command names topics that no run has copied, and copied ones that the source lacks."""
    shown.edit_file("[orders, audit]", "[{pattern: '[a-z]+'}]")
    shown.params["mode"] = "sync"
    shown.start()
    shown.mirror({P0: 4})
    shown.do("stop_mirror")
    shown.source.delete_topics(["audit"])
    shown.source.create_topics([NewTopic("clicks", 1, 1, {})])
    found = document(capsys, "--mode", "sync")

    assert ["clicks"] == [topic["topic"] for topic in found["topics"] if topic["is_new"]]
    assert ["audit"] == found["vanished"]
    assert ["SOURCE_TOPIC_VANISHED"] == [warning["code"] for warning in found["warnings"]]
    assert "New         clicks" in planned(capsys, "--mode", "sync")[1]


def test_groups_of_a_rehearsal(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Modes that plan groups show those that the file names; another mode shows none."""
    shown.source.commit("billing", {P0: 1})
    shown.source.commit("console-consumer-1", {AUDIT: 0})
    _, out, _ = planned(capsys)

    assert ["GROUP    STATE  PLAN", "billing  EMPTY  move"] == out[-2:]
    assert [] == document(capsys, "--mode", "sync")["groups"]
    assert (3, ["RUN_CONF_INVALID"]) == planned(capsys, "--group", "nobody")[::2]


def test_a_validation_creates_nothing(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that only reads copies nothing; a topic that the target lacks is missing."""
    _, out, _ = planned(capsys, "--mode", "validate")

    assert ["orders  missing        -", "audit   missing        -"] == out[-2:]


def test_unknown_is_not_zero(shown: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an answer of a cluster there is no plan, and the exit code is 1."""
    shown.source.is_down = True

    assert (1, [], ["CLUSTER_UNREACHABLE"]) == planned(capsys)
