"""Rules of `preflight`: what is frozen, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_migration.airflow_adapters.connections import findings_of_side
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators import preflight as preflight_module
from tests.airflow.world import P0, World


def test_preflight_freezes_the_file(world: World) -> None:
    """After preflight the run reads only its frozen copy, whatever becomes of the file."""
    world.do("preflight")
    world.file.write_text("broken: [")

    assert ("orders", "audit") == world.run.migration.topics
    assert world.run.evidence.require(Kind.PREFLIGHT)["mode"] == "sync"


def test_preflight_reports_all_refusals_together(world: World) -> None:
    """A missing topic and a missing Spark connection are both named, and nothing is started."""
    del world.connections["spark"]
    with pytest.raises(FailedForGood) as raised:
        world.do("preflight")
    assert "SPARK_CONNECTION_MISSING" in str(raised.value)
    assert "would silently use YARN" in str(raised.value)

    world.connections["spark"] = "spark"
    world.target.brokers = 0
    world.source.delete_topics(["audit"])
    world.target.create_topics([NewTopic("orders", 3, 0, {})])
    with pytest.raises(FailedForGood) as raised:
        world.do("preflight")
    assert "REPLICATION_FACTOR_TOO_HIGH" in str(raised.value)


def test_preflight_names_every_topic_problem(world: World) -> None:
    """Topic checks look at all topics before they refuse."""
    world.source.delete_topics(["audit"])
    world.target.create_topics([NewTopic("orders", 3, 1, {})])

    world.refuses("preflight", match="SOURCE_TOPIC_MISSING")

    assert ["SOURCE_TOPIC_MISSING", "TOPIC_PARTITIONS_DIFFER"] == world.refusal_codes


def test_preflight_refuses_an_unreachable_cluster(world: World) -> None:
    """A cluster that does not answer is one clear error."""
    world.target.is_down = True

    world.refuses("preflight", match=r"CLUSTER_UNREACHABLE · target\.connection: found new did not")


def test_preflight_refuses_one_cluster_under_two_names(world: World) -> None:
    """Source and target must be two clusters."""
    world.target.cluster_id = "old"

    world.refuses("preflight", match="SAME_CLUSTER")


def test_preflight_refuses_a_driver_that_cannot_see_the_evidence(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local evidence root does not do for a driver on another machine, unless the setting says that it is shared."""
    world.deploy_mode = "cluster"
    world.refuses("preflight", match="EVIDENCE_ROOT_LOCAL · connection spark")

    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__SPARK_EVIDENCE_ROOT", f"file://{world.root}")
    world.do("preflight")


def test_preflight_refuses_two_evidence_roots(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place for Spark that cannot be Airflow's is refused before anything is copied."""
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__SPARK_EVIDENCE_ROOT", "s3a://bucket/evidence")

    world.refuses("preflight", match=r"EVIDENCE_ROOTS_DIFFER .*found s3a://bucket/evidence")


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"mode": "cutover!"}, "mode"),
        ({"modes": "sync"}, "modes"),
        ({"topics": "orders"}, "topics"),
        ({"groups": "billing"}, "groups"),
        ({"groups": [""]}, "groups"),
        ({"mode": "validate", "generations": 3}, "generations"),
        ({"mode": "validate", "generations": "3,5"}, "generations"),
        ({"mode": "validate", "generations": "5-3"}, "generations"),
        ({"note": 5}, "note"),
    ],
)
def test_preflight_refuses_unknown_run_conf(world: World, params: dict[str, Any], field: str) -> None:
    """Airflow merges any conf into the params; a field or value that means nothing is refused."""
    world.params = params

    world.refuses("preflight", match=f"RUN_CONF_INVALID · run conf field {field}")


def test_preflight_refuses_a_topic_outside_the_migration(world: World) -> None:
    """A run can be limited to some topics of the file, not extended beyond it."""
    world.params["topics"] = ["orders", "foreign"]

    world.refuses("preflight", match="'foreign'")


@pytest.mark.parametrize("group", ["nobody", "console-consumer-1"])
def test_preflight_refuses_a_group_that_is_not_the_migrations(world: World, group: str) -> None:
    """A run can be limited to groups that are there and that the file names; anything else is a slip."""
    world.source.commit("billing", {P0: 0})
    world.source.commit("console-consumer-1", {P0: 0})
    world.params = {"mode": "rehearse", "groups": ["billing", group]}

    world.refuses("preflight", match=f"RUN_CONF_INVALID · run conf field groups: found '{group}'")


def test_preflight_takes_a_cutover_of_some_topics_once(world: World) -> None:
    """Topics are cut over in waves; what an earlier run cut over is not taken again, and not by itself either."""
    world.run.ledger.append(CutOver("dag/run#1", "then", ("billing",), ("orders",), False, ("audit",)).to_document())
    world.params = {"mode": "cutover", "topics": ["audit", "orders"]}
    world.refuses("preflight", match=r"ALREADY_CUT_OVER · migration shop, topics orders")

    world.params["topics"] = None
    world.do("preflight")
    assert ("audit",) == world.run.migration.topics


def test_run_without_a_mode_rehearses(world: World) -> None:
    """Where no mode is given, nothing irreversible is done."""
    world.params = {}
    world.do("preflight")

    assert world.run.evidence.require(Kind.PREFLIGHT)["mode"] == "rehearse"


def test_preflight_refuses_an_invalid_file(world: World) -> None:
    """Every mistake of the file is in the refusal."""
    world.file.write_text("version: 1\nname: shop\n")

    world.refuses("preflight", match="source: found nothing")


@pytest.mark.parametrize("version", ["3.9.0", "3.9.1"])
def test_login_needs_a_newer_mirrormaker(world: World, version: str) -> None:
    """With a login preflight refuses a Kafka before 3.9.1 on the MirrorMaker host; without one it will do."""
    world.host.facts = {**world.host.facts, "kafka": version}
    world.do("preflight")

    world.has_login = True
    if version == "3.9.1":
        world.do("preflight")
    else:
        world.refuses("preflight", match=r"MIRROR_KAFKA_TOO_OLD .*Kafka 3\.9\.0 on the MirrorMaker host")


def test_unknown_error_of_a_check_hides_no_finding(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that ends in an error of its own has a code, and what the others found is told beside it."""
    del world.connections["spark"]
    monkeypatch.setattr(preflight_module.AirflowConnections, "kafka_findings", lambda self, side: [][1])

    with pytest.raises(FailedForGood, match="SPARK_CONNECTION_MISSING") as raised:
        world.do("preflight")
    assert "CHECK_FAILED" not in str(raised.value)

    world.connections["spark"] = "spark"
    world.migrations.joinpath("other.yaml").write_text(
        world.migrations.joinpath("shop.yaml").read_text().replace("name: shop", "name: other")
    )
    with pytest.raises(FailedForGood) as raised:
        world.do("preflight")
    assert "CHECK_FAILED · check security: found IndexError" in str(raised.value)
    assert "MIGRATIONS_OVERLAP" in str(raised.value)


def test_declared_insecurity_is_a_warning(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the file allows forbids nothing, and stands in the log, in the evidence and in the report."""
    world.edit_file("old_kafka", "old_kafka\n  insecure: [no_host_name_check]")
    extra = {"bootstrap.servers": "a:1", "ssl.endpoint.identification.algorithm": "none", "security.protocol": "SSL"}
    monkeypatch.setenv("AIRFLOW_CONN_OLD_KAFKA", json.dumps({"conn_type": "kafka", "extra": extra}))
    monkeypatch.setenv(
        "AIRFLOW_CONN_NEW_KAFKA", json.dumps({"conn_type": "kafka", "extra": {"bootstrap.servers": "b:1"}})
    )
    monkeypatch.setattr(
        preflight_module.AirflowConnections, "kafka_findings", lambda self, side: findings_of_side(side)
    )
    world.do("preflight")

    (warning,) = world.run.evidence.require(Kind.PREFLIGHT)["warnings"]
    assert ("CONNECTION_INSECURE", "connection old_kafka") == (warning["code"], warning["subject"])
    world.finish(preflight="success")
    assert "**CONNECTION_INSECURE** · connection old" in world.report

    world.edit_file("\n  insecure: [no_host_name_check]", "")
    world.dag_run.clear_number = 1
    with pytest.raises(
        FailedForGood, match=r"CONNECTION_INSECURE · connection old_kafka: .*insecure: \[no_host_name_check\]"
    ):
        world.do("preflight")
