"""Rules of `preflight`: what it freezes, and what it refuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kafka_migration.airflow_adapters import airflow_settings
from kafka_migration.airflow_adapters.airflow_connections import findings_of_side
from kafka_migration.airflow_adapters.checked_airflow import AirflowConnections
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.evidence.root import EvidencePlace
from kafka_migration.core.kafka.cluster import THE_CLUSTER, Certificate, GroupMember, NewTopic, Operation, Resource
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.core.spark.spark_target import SparkTarget
from tests.airflow.world import World
from tests.contract.fake_cluster import FakeGroup
from tests.steps.world import FOUR_RECORDS, P0


def test_preflight_freezes_the_file(world: World) -> None:
    """After preflight the run reads only its frozen copy of the migration file."""
    world.do("preflight")
    world.file.write_text("broken: [")

    assert ("orders", "audit") == world.run.migration.topics
    assert world.run.evidence.require(Kind.PREFLIGHT)["mode"] == "sync"


def test_accepted_findings_are_evidence(world: World) -> None:
    """An accepted refusal lets the run pass; its document names the finding, and warnings do not."""
    configs = '{name: orders, configs: {min.insync.replicas: "2"}}'
    world.edit_file("[orders, audit]", f"[{configs}, audit]")
    world.refuses("preflight", match="REPLICATION_BELOW_MIN_INSYNC · topic orders")
    world.extend_file("accept: [REPLICATION_BELOW_MIN_INSYNC]\n")
    world.next_run()
    world.do("preflight")
    document = world.run.evidence.require(Kind.PREFLIGHT)

    assert [] == document["warnings"]
    assert ["REPLICATION_BELOW_MIN_INSYNC"] == [finding["code"] for finding in document["accepted"]]


def test_preflight_reports_all_refusals_together(world: World) -> None:
    """A missing Spark connection, and topics and a replication factor that do not fit, are all refused."""
    del world.connections["spark"]
    refusal = world.refuses("preflight")
    assert "SPARK_CONNECTION_MISSING" in refusal
    assert "would silently use YARN" in refusal

    world.connections["spark"] = "spark"
    world.target.brokers = 0
    world.source.delete_topics(["audit"])
    world.target.create_topics([NewTopic("orders", 3, 0, {})])
    world.refuses("preflight", match="REPLICATION_FACTOR_TOO_HIGH")


@pytest.mark.parametrize(
    ("positions", "warned"), [((), True), (("orders",), True), (("others",), False)], ids=["none yet", "its", "others"]
)
def test_other_mirrormaker_is_named_beside_its_copy(world: World, positions: tuple[str, ...], warned: bool) -> None:
    """A copy of another MirrorMaker refuses the run, and its MirrorMaker is named too, also before it has positions."""
    world.target.create_topics([NewTopic("orders", 2, 1, {}), NewTopic("mm2-offsets.east.internal", 1, 1, {})])
    world.target.produce("orders", 0, *FOUR_RECORDS)
    worker = GroupMember("id", "worker", "/10.0.0.1", frozenset())
    world.target.groups["east-mm2"] = FakeGroup(members=[worker], kind="connect")
    for topic in positions:
        key = json.dumps(["MirrorSourceConnector", {"cluster": "east", "topic": topic, "partition": 0}])
        world.target.produce("mm2-offsets.east.internal", 0, (key.encode(), b'{"offset": 3}'))

    refusal = world.refuses("preflight")

    assert "TARGET_TOPIC_NOT_EMPTY" in refusal
    codes = {warning["code"] for warning in world.run.evidence.require(Kind.PREFLIGHT)["warnings"]}
    assert warned == ("OTHER_MIRRORMAKER" in codes)


def test_preflight_names_every_topic_problem(world: World) -> None:
    """The topic checks name the problems of all topics."""
    world.source.delete_topics(["audit"])
    world.target.create_topics([NewTopic("orders", 3, 1, {})])

    world.refuses("preflight", match="SOURCE_TOPIC_MISSING")

    assert ["SOURCE_TOPIC_MISSING", "TOPIC_PARTITIONS_DIFFER"] == world.refusal_codes


@pytest.mark.parametrize(
    ("attribute", "value", "found"),
    [
        ("is_down", True, r"CLUSTER_UNREACHABLE · target\.connection: The target did not answer Airflow: new did not"),
        ("cluster_id", "old", "SAME_CLUSTER"),
    ],
)
def test_preflight_refuses_a_target_that_cannot_be_one(world: World, attribute: str, value: Any, found: str) -> None:
    """Preflight refuses a target that does not answer, or that is the source cluster."""
    setattr(world.target, attribute, value)

    world.refuses("preflight", match=found)


def test_preflight_refuses_a_login_without_rights(world: World) -> None:
    """Preflight names each missing right that the brokers show, on both sides, with the command that grants it."""
    world.source.denied = {(Resource("topic", topic), Operation.READ) for topic in world.source.topics}
    world.target.denied = {(Resource("group", "kafka-migration-reader-", is_prefix=True), Operation.DESCRIBE)}

    refusal = world.refuses("preflight", match="it lacks .*Read on topic orders, audit")

    assert ["RIGHT_MISSING", "RIGHT_MISSING"] == world.refusal_codes
    assert "--allow-principal User:migration --operation Describe --resource-pattern-type prefixed" in refusal


def test_certificates_that_end_are_warned_of_or_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker's certificate that ends soon is a warning of the run; a client's that ends during it is refused."""
    now = datetime.now(UTC)
    ending = Certificate("CN=x", "CN=ca", (), now - timedelta(days=1), now + timedelta(seconds=5))
    world.target.broker_certificates = {"b1:9093": ending}
    world.do("preflight")
    (warning,) = world.run.evidence.require(Kind.PREFLIGHT)["warnings"]
    monkeypatch.setattr(AirflowConnections, "certificates", lambda self, side: (ending,))

    assert ("CERTIFICATE_ENDS_SOON", "connection new_kafka") == (warning["code"], warning["subject"])
    assert warning["found"].startswith("the certificate of broker b1:9093 expires at")
    world.next_run()
    world.refuses(
        "preflight",
        match="CERTIFICATE_ENDS_IN_RUN · connection old_kafka, new_kafka: The client certificate CN=x expires at",
    )


def test_settings_of_brokers_that_may_not_be_read_are_a_warning(world: World) -> None:
    """Without the right to read the brokers' settings the run passes, and its evidence says what is unknown."""
    world.target.denied = {(THE_CLUSTER, Operation.DESCRIBE_CONFIGS)}
    world.do("preflight")
    (warning,) = world.run.evidence.require(Kind.PREFLIGHT)["warnings"]

    assert ("FACT_UNKNOWN", "the brokers' settings on the target") == (warning["code"], warning["subject"])


def test_rights_on_new_topics_are_checked_when_they_exist(world: World) -> None:
    """Brokers show the rights on a topic only once it exists: `create_topics` refuses before MirrorMaker starts."""
    world.target.denied = {(Resource("topic", "orders"), Operation.WRITE)}
    world.do("preflight", "reserve", "plan")

    world.refuses("create_topics", match="RIGHT_MISSING .* MirrorMaker.* need: it lacks .*Write on topic orders")


def test_preflight_refuses_an_invalid_file(world: World) -> None:
    """Preflight refuses an invalid file with its mistakes."""
    world.file.write_text("version: 1\nname: shop\n")

    world.refuses("preflight", match="The required field source is missing")


def test_preflight_refuses_a_driver_that_cannot_see_the_evidence(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local evidence root is refused for a driver on another machine, unless a setting says that it is shared."""
    protected = {f"spark.{name}": "true" for name in ("authenticate", "network.crypto.enabled")}
    world.extend_file("accept: [SPARK_CIPHER_WEAK]\n")
    world.spark = SparkTarget("spark", "yarn", "cluster", protected)
    world.refuses("preflight", match="EVIDENCE_ROOT_LOCAL · connection spark")

    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__SPARK_EVIDENCE_ROOT", f"file://{world.root}")
    world.do("preflight")


def test_preflight_refuses_two_evidence_roots(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An evidence root of Spark that cannot be the same place as Airflow's is refused."""
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__SPARK_EVIDENCE_ROOT", "s3a://bucket/evidence")

    world.refuses("preflight", match=r"EVIDENCE_ROOTS_DIFFER .*spark_evidence_root is s3a://bucket/evidence")


def test_preflight_refuses_an_address_of_azure_without_the_account(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Airflow's address of a container on Azure is refused for Spark, before a validation fails because of it."""
    place = EvidencePlace("abfs://lake@proofs/kafka", "abfs://lake@proofs/kafka")
    monkeypatch.setattr(airflow_settings, "evidence_place", lambda: place)

    world.refuses("preflight", match=r"EVIDENCE_ROOTS_DIFFER .*as abfs://lake@proofs/kafka, but .* the account")


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"mode": "cutover!"}, "mode"),
        ({"modes": "sync"}, "modes"),
        ({"topics": "orders"}, "topics"),
        ({"topics": ["orders", "foreign"]}, "topics: .* accepts: 'foreign'"),
        ({"groups": "billing"}, "groups"),
        ({"groups": [""]}, "groups"),
        ({"mode": "validate", "generations": 3}, "generations"),
        ({"mode": "validate", "generations": "3,5"}, "generations"),
        ({"mode": "validate", "generations": "5-3"}, "generations"),
        ({"note": 5}, "note"),
    ],
)
def test_preflight_refuses_unknown_run_conf(world: World, params: dict[str, Any], field: str) -> None:
    """An unknown field, or a wrong value of a field, is refused, although Airflow accepts any run conf."""
    world.params = params

    world.refuses("preflight", match=f"RUN_CONF_INVALID · run conf field {field}")


@pytest.mark.parametrize("group", ["nobody", "console-consumer-1"])
def test_preflight_refuses_a_group_that_is_not_the_migrations(world: World, group: str) -> None:
    """A run can be limited to groups that exist and that the file names; any other group is refused."""
    world.source.commit("billing", {P0: 0})
    world.source.commit("console-consumer-1", {P0: 0})
    world.params = {"mode": "rehearse", "groups": ["billing", group]}

    world.refuses("preflight", match=f"RUN_CONF_INVALID · .* field groups is not what the run accepts: '{group}'")


def test_preflight_takes_a_cutover_of_some_topics_once(world: World) -> None:
    """Topics that an earlier run has cut over are refused, and are left out by default."""
    world.run.ledger.append(CutOver("dag/run#1", "then", ("billing",), ("orders",), False, ("audit",)).to_document())
    world.params = {"mode": "cutover", "topics": ["audit", "orders"]}
    world.refuses("preflight", match=r"ALREADY_CUT_OVER · migration shop, topics orders")

    world.params["topics"] = None
    world.do("preflight")
    assert ("audit",) == world.run.migration.topics


def test_run_without_a_mode_rehearses(world: World) -> None:
    """A run without a mode is a rehearsal."""
    world.params = {}
    world.do("preflight")

    assert world.run.evidence.require(Kind.PREFLIGHT)["mode"] == "rehearse"


@pytest.mark.parametrize("version", ["3.9.0", "3.9.1"])
def test_login_needs_a_newer_mirrormaker(world: World, version: str) -> None:
    """With a login preflight refuses a Kafka older than 3.9.1 on the MirrorMaker host."""
    world.host.facts = {**world.host.facts, "kafka": version}
    world.do("preflight")

    world.has_login = True
    if version == "3.9.1":
        world.do("preflight")
    else:
        world.refuses("preflight", match=r"MIRROR_KAFKA_TOO_OLD .*MirrorMaker on the host is of Kafka 3\.9\.0")


def test_mirrormaker_of_kafka_4_needs_java_17(world: World) -> None:
    """Preflight refuses a Java on which MirrorMaker would not start, and warns of a MirrorMaker that was not tested."""
    world.host.facts = {"kafka": "4.3.1", "java": "11.0.2"}
    world.refuses("preflight", match=r"MIRROR_JAVA_TOO_OLD .*Java 11\.0\.2; MirrorMaker of Kafka 4\.3\.1 needs Java 17")

    world.host.facts = {"kafka": "4.3.1", "java": "17.0.1"}
    world.do("preflight")
    (warning,) = world.run.evidence.require(Kind.PREFLIGHT)["warnings"]
    assert "MIRROR_VERSION_UNTESTED" == warning["code"]

    world.host.facts = {"kafka": "5.0.0", "java": "25"}
    world.refuses("preflight", match="MIRROR_VERSION_UNTESTED")


def test_unknown_error_of_a_check_hides_no_finding(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that raises an unknown error gives a finding next to those of the other checks."""
    del world.connections["spark"]
    monkeypatch.setattr(AirflowConnections, "kafka_findings", lambda self, side: [][1])

    assert "CHECK_FAILED" not in world.refuses("preflight", match="SPARK_CONNECTION_MISSING")

    world.connections["spark"] = "spark"
    (world.migrations / "other.yaml").write_text(world.file.read_text().replace("name: shop", "name: other"))
    refusal = world.refuses("preflight", match="CHECK_FAILED · check security: .*unexpected error .IndexError")
    assert "MIGRATIONS_OVERLAP" in refusal


def test_declared_insecurity_is_a_warning(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An insecure setting that the file allows is a warning in the evidence and in the report."""
    world.edit_file("old_kafka", "old_kafka\n  insecure: [no_host_name_check]")
    extra = {"bootstrap.servers": "a:1", "ssl.endpoint.identification.algorithm": "none", "security.protocol": "SSL"}
    for name, settings in (("OLD", extra), ("NEW", {"bootstrap.servers": "b:1"})):
        monkeypatch.setenv(f"AIRFLOW_CONN_{name}_KAFKA", json.dumps({"conn_type": "kafka", "extra": settings}))
    monkeypatch.setattr(AirflowConnections, "kafka_findings", lambda _, side: findings_of_side(side))
    world.do("preflight")

    (warning,) = world.run.evidence.require(Kind.PREFLIGHT)["warnings"]
    assert ("CONNECTION_INSECURE", "connection old_kafka") == (warning["code"], warning["subject"])
    world.finish(preflight="success")
    assert "**CONNECTION_INSECURE** · connection old" in world.report

    world.edit_file("\n  insecure: [no_host_name_check]", "")
    world.dag_run.clear_number = 1
    found = r"CONNECTION_INSECURE · connection old_kafka: .*insecure: \[no_host_name_check\]"
    world.refuses("preflight", match=found)


def test_secret_that_is_not_masked_is_a_warning(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each connection of the file whose secret Airflow does not mask is named with the setting, and not the secret."""
    short = {
        "OLD_KAFKA": {"conn_type": "kafka", "extra": {"bootstrap.servers": "a:1", "sasl.password": "q#x"}},
        "NEW_KAFKA": {"conn_type": "kafka", "extra": {"bootstrap.servers": "b:1", "sasl.password": "long enough"}},
        "MIRROR_HOST": {"conn_type": "ssh", "host": "mirror", "password": "q#y"},
    }
    for name, connection in short.items():
        monkeypatch.setenv(f"AIRFLOW_CONN_{name}", json.dumps(connection))
    world.do("preflight")

    warnings = world.run.evidence.require(Kind.PREFLIGHT)["warnings"]
    assert ["connection mirror_host", "connection old_kafka"] == [each["subject"] for each in warnings]
    assert {"SECRET_NOT_MASKED"} == {each["code"] for each in warnings}
    assert "'sasl.password'" in warnings[1]["found"]
    assert "q#" not in str(warnings)


def test_lower_limits_of_the_target_are_warnings(world: World) -> None:
    """The evidence names each limit of an existing topic that is lower than on the source."""
    limits = {"retention.ms": "5", "message.timestamp.before.max.ms": "9"}
    world.target.create_topics([NewTopic("orders", 2, 1, limits)])
    world.do("preflight")
    (check,) = [each for each in world.run.evidence.require(Kind.PREFLIGHT)["checks"] if each["check"] == "limits"]

    assert check["state"] == "passed"
    assert [each["code"] for each in check["warnings"]] == ["TARGET_RETENTION_SHORTER", "TIMESTAMPS_LIMITED"]


def test_a_name_that_collides_on_the_target_is_refused(world: World) -> None:
    """Kafka would refuse to create the topic in the middle of the run."""
    world.edit_file("[orders, audit]", "[orders, audit, a.b]")
    world.source.create_topics([NewTopic("a.b", 1, 1, {})])
    world.target.create_topics([NewTopic("a_b", 1, 1, {})])

    assert "TOPIC_NAME_COLLIDES" in world.refuses("preflight")


def test_a_prefixed_name_that_collides_on_the_target_is_refused(world: World) -> None:
    """Topics of others on the target count with their real names."""
    world.edit_file("  tasks: 2\n", "  tasks: 2\n  topic_names: {naming: prefixed}\n")
    world.target.create_topics([NewTopic("shop-source_orders", 1, 1, {})])

    assert "TOPIC_NAME_COLLIDES" in world.refuses("preflight")
