"""What is right, or cannot be known, has no finding; and each sentence of a finding is true for its version."""

from __future__ import annotations

import pytest

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.effective.readers import kafka_version
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode, Severity
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint

pytestmark = pytest.mark.unit

CONSUMER = "bootstrap.servers=a:9092\ngroup.id=g\nauto.offset.reset=earliest\nsession.timeout.ms=30000\n"
OLD_CONSUMER = "zookeeper.connect=z:2181\ngroup.id=g\nrebalance.max.retries=4\n"
OLD_PRODUCER = "metadata.broker.list=b:9092\nrequest.required.acks=1\ncompression.codec=gzip\n"
MM1 = "kafka-mirror-maker.sh --consumer.config c.properties --producer.config p.properties --whitelist 'a'"


def findings(files: dict[str, str], version: str = "") -> list[LintFinding]:
    """Return the findings on files that are given together."""
    read = [each for name, text in files.items() for each in read_mirror_files(name, text)]
    return lint(read, kafka_keys(), version)


def codes(files: dict[str, str], version: str = "") -> list[str]:
    """Return the errors and warnings on files that are given together, as `line CODE`."""
    judged = (each for each in findings(files, version) if each.code.severity is not Severity.INFO)
    return [f"{each.line} {each.code}" for each in judged]


@pytest.mark.parametrize("version", ["0.10", "1.1", "2.3", "2.4", "9.0"])
def test_versions_outside_of_the_tables_have_the_keys_of_the_nearest_version(version: str) -> None:
    """The tables start at Kafka 2.4, and a client of an earlier or a later version has the same basic keys."""
    of_keys = {LintCode.KEY_OF_ANOTHER_VERSION, LintCode.KEY_MISSPELLED, LintCode.KEY_UNKNOWN}
    assert not of_keys & {each.code for each in findings({"consumer.properties": CONSUMER}, version)}


@pytest.mark.parametrize(("version", "used"), [("1.0", "2.4"), ("2.4.1", "2.4"), ("latest", ""), ("99.0", "")])
def test_what_is_handed_on_is_that_of_the_nearest_version(version: str, used: str) -> None:
    """A text that is no version stands for the latest one, as no version does."""
    assert kafka_version(version) == kafka_version(used)


def test_old_clients_read_their_keys() -> None:
    """Before Kafka 2.0 the consumer with ZooKeeper and the old producer exist, with words of their own."""
    files = {"consumer.properties": OLD_CONSUMER, "producer.properties": OLD_PRODUCER}
    old = {each.code: each.fix for each in findings(files, "0.8")}
    assert old == {
        LintCode.RESET_TO_LATEST: "Add `auto.offset.reset=smallest`.",
        LintCode.ACKS_TOO_LOW: "Write `-1`.",
    }
    assert LintCode.KEY_OF_ANOTHER_VERSION in {each.code for each in findings(files, "2.4")}


@pytest.mark.parametrize(("version", "expected"), [("0.10.0", []), ("1.0", ["1 OPTION_WITHOUT_EFFECT"])])
def test_the_new_consumer_has_to_be_chosen_before_it_is_the_default(version: str, expected: list[str]) -> None:
    """Without `--new.consumer` Kafka 0.10.0 takes the consumer with ZooKeeper."""
    assert codes({"start.sh": f"{MM1} --new.consumer"}, version) == expected


@pytest.mark.parametrize(("mark", "is_found"), [("EOF", False), ("'EOF'", True)])
def test_a_shell_replaces_the_variables_of_its_here_documents(mark: str, is_found: bool) -> None:
    """`${NAME}` stays as it is only if the mark of the document has quotes."""
    client = "bootstrap.servers=${ADDRESS}\ngroup.id=g\nauto.offset.reset=earliest"
    script = f"#!/bin/sh\ncat > c.properties << {mark}\n{client}\nEOF\n{MM1}\n"
    assert (codes({"start.sh": script}) == [f"2 {LintCode.HERE_DOCUMENT_QUOTED}"]) is is_found
    assert f"3 {LintCode.VARIABLE_NOT_REPLACED}" not in codes({"start.sh": script})


def effects(files: dict[str, str], version: str = "") -> dict[str, tuple[str, str]]:
    """Return effect and fix of each finding, as `line CODE`."""
    return {f"{each.line} {each.code}": (each.effect, each.fix) for each in findings(files, version)}


FLOW = "clusters=A,B\nA.bootstrap.servers=a:9092\nB.bootstrap.servers=b:9092\nA->B.enabled=true\n"
SOURCE_CONNECTOR = (
    '{"name": "s", "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",\n'
    '"source.cluster.alias": "A", "target.cluster.alias": "B",\n'
    '"source.cluster.bootstrap.servers": "a:9092,c:9092", "target.cluster.bootstrap.servers": "b:9092,d:9092",\n'
)


@pytest.mark.parametrize("line", ["topics.blacklist = a\\.b", "topics.blacklist = *.b", 'topics.blacklist = "a"'])
def test_the_value_of_a_line_that_nothing_reads_is_not_judged(line: str) -> None:
    """Kafka 4 ignores the key, so its value can have no effect."""
    assert codes({"mm2.properties": f"{FLOW}{line}\n"}, "4.0") == [f"5 {LintCode.KEY_OF_ANOTHER_VERSION}"]
    assert len(codes({"mm2.properties": f"{FLOW}{line}\n"}, "3.9")) == 1


def test_a_misplaced_key_with_a_comment_is_one_finding() -> None:
    """The text of the comment reaches no reader."""
    found = codes({"mm2.properties": f"{FLOW}transaction.timeout.ms = 900000 # note\n"}, "3.9")
    assert found == [f"5 {LintCode.KEY_MISPLACED}"]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("", ["6 KEYS_OVERLAP"]),
        ("3.9", ["6 KEYS_OVERLAP"]),
        ("4.0", ["6 KEY_OF_ANOTHER_VERSION"]),
        ("2.6", ["5 KEY_OF_ANOTHER_VERSION"]),
    ],
)
def test_an_old_and_a_new_name_are_one_finding(version: str, expected: list[str]) -> None:
    """Only where the version reads one of the two names, that one is named."""
    files = {"mm2.properties": f"{FLOW}topics.exclude=a\ntopics.blacklist=b\n"}
    assert codes(files, version) == expected
    if version == "4.0":
        assert effects(files, version)[expected[0]][1] == "Remove it; line 5 has the new name of the key."


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("B.checkpoints.replication.factor=2", "checkpoints.topic.replication.factor"),
        ("A->B.exactly.once.source=enabled", "B.exactly.once.source.support"),
        ("exactly.once.support=enabled", "B.exactly.once.source.support"),
        ("A.producer.override.linger.ms=5", "A.producer.linger.ms"),
    ],
)
def test_a_fix_names_a_key_that_is_read_at_its_place(line: str, fix: str) -> None:
    """The key that was meant may need another prefix than the line has, and keeps the cluster of the line."""
    two_ways = f"{FLOW}B->A.enabled=true\nA->B.topics=a\nB->A.topics=b\n{line}\n"
    (found,) = (each for each in findings({"mm2.properties": two_ways}, "3.9") if each.line == 8)
    assert found.fix.startswith(f"Write '{fix}'")
    after = two_ways.replace(line.partition("=")[0], fix)
    assert not [each for each in findings({"mm2.properties": after}, "3.9") if each.line == 8 and "KEY_" in each.code]


@pytest.mark.parametrize(
    ("lines", "effect", "fix"),
    [
        (
            '"producer.max.request.size": "5000000",\n"max.request.size": "6000000"}',
            "it is ignored: the default '1048576' stays",
            "Write 'producer.override.max.request.size'",
        ),
        (
            '"tasks.max": "2",\n"source.cluster.offset.flush.timeout.ms": "9000"}',
            "it is ignored: what the workers have counts",
            "Write 'offset.flush.timeout.ms' into the properties of the Connect workers.",
        ),
    ],
)
def test_what_counts_instead_is_that_of_the_reader_that_is_meant(lines: str, effect: str, fix: str) -> None:
    """`producer.` reaches only the producer of the offset syncs, and only workers flush offsets."""
    said = effects({"source.json": f"{SOURCE_CONNECTOR}{lines}"}, "3.9")[f"5 {LintCode.KEY_MISPLACED}"]
    assert said[0] == effect
    assert said[1].startswith(fix)


@pytest.mark.parametrize(("key", "is_found"), [("heartbeats", False), ("checkpoints", False), ("offset-syncs", True)])
def test_a_factor_is_judged_where_its_topic_is_created(key: str, is_found: bool) -> None:
    """In early versions each connector has the factors of all topics, and creates only its own."""
    text = f'{SOURCE_CONNECTOR}"{key}.topic.replication.factor": "1"}}'
    assert (f"4 {LintCode.REPLICATION_TOO_LOW}" in codes({"source.json": text}, "2.8")) is is_found


def test_a_placeholder_is_one_finding_and_no_secret() -> None:
    """A text such as `<password>` is none that anyone can log in with."""
    text = f'{SOURCE_CONNECTOR}"topics": "<names>",\n"source.cluster.ssl.truststore.password": "<secret>"}}'
    found = [each for each in codes({"source.json": text}) if each.partition(" ")[0] in {"4", "5"}]
    assert found == [f"4 {LintCode.VALUE_PLACEHOLDER}"]


def test_a_broker_may_listen_at_the_port_of_zookeeper() -> None:
    """The port alone does not say who listens there."""
    said = effects({"mm2.properties": FLOW.replace("b:9092", "b:2181")})[f"3 {LintCode.ADDRESS_OF_ZOOKEEPER}"]
    assert said[0].startswith("if ZooKeeper listens there")
    assert said[1].endswith("unless a broker listens at this port.")


def test_the_operator_writes_the_option_of_its_version() -> None:
    """Strimzi hands `include` to Kafka 2.8 as `--whitelist`."""
    resource = (
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaMirrorMaker\nmetadata:\n  name: m\nspec:\n  version: 2.8.0\n"
        "  replicas: 1\n  consumer:\n    bootstrapServers: a:9092\n    groupId: g\n    config:\n"
        "      auto.offset.reset: earliest\n  producer:\n    bootstrapServers: b:9092\n  include: orders\n"
    )
    assert codes({"mm.yaml": resource}) == []
    assert f"1 {LintCode.OPTION_OF_ANOTHER_VERSION}" in codes({"start.sh": MM1.replace("whitelist", "include")}, "2.8")


def test_a_line_that_a_script_adds_is_not_missing() -> None:
    """A script adds the login to a copy of the file, and the group to that of the consumer."""
    login = "security.protocol=SASL_SSL\nA.sasl.mechanism=PLAIN\n"
    start = (
        '#!/bin/sh\ncp /in/mm2.properties /t/mm2.properties\necho "A.sasl.jaas.config=$LOGIN" >> /t/mm2.properties\n'
    )
    files = {"mm2.properties": f"{FLOW}A.{login}"}
    assert codes(files) == [f"5 {LintCode.LOGIN_MISSING}"]
    assert codes({**files, "start.sh": f"{start}connect-mirror-maker.sh /t/mm2.properties\n"}) == []
    consumer = {"consumer.properties": "bootstrap.servers=a:9092\nauto.offset.reset=earliest\n"}
    adds = "#!/bin/sh\necho group.id=g-$RANDOM >> /c/consumer.properties\n"
    run = MM1.replace("c.properties", "/c/consumer.properties")
    assert codes(consumer) == [f"1 {LintCode.GROUP_MISSING}"]
    assert f"1 {LintCode.GROUP_MISSING}" not in codes({**consumer, "run.sh": f"{adds}{run}\n"})


@pytest.mark.parametrize(
    ("version", "more", "expected"),
    [("2.8", "", True), ("3.2", "", False), ("3.9", "enable.idempotence=false", True), ("3.9", "acks=1", True)],
)
def test_a_producer_is_idempotent_by_default_since_3_2(version: str, more: str, expected: bool) -> None:
    """Several requests in flight keep the order of an idempotent producer."""
    text = f"bootstrap.servers=n:9092\nmax.in.flight.requests.per.connection=5\n{more}\n"

    assert (f"2 {LintCode.ORDER_NOT_KEPT}" in codes({"producer.properties": text}, version)) is expected


def test_a_protocol_without_a_client_sends_no_login() -> None:
    """A heartbeat connector has no client of the source."""
    login = "sasl.mechanism=PLAIN\nsource.cluster.sasl.jaas.config=x.PlainLoginModule required password='a';"
    text = (
        "name=h\nconnector.class=org.apache.kafka.connect.mirror.MirrorHeartbeatConnector\n"
        "source.cluster.alias=a\ntarget.cluster.alias=b\ntarget.cluster.bootstrap.servers=b:9092\n"
        f"source.cluster.security.protocol=SASL_PLAINTEXT\nsource.cluster.{login}\n"
    )

    assert not [each for each in codes({"h.properties": text}, "") if "LOGIN_UNENCRYPTED" in each]
