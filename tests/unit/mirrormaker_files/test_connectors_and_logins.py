"""Rules on connectors of Connect, logins, classes and patterns: what Kafka's own code does with each line."""

from __future__ import annotations

import json

import pytest

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.line_rules.pattern_rules import foreign_sign
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode, Severity
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint
from tests.unit.mirrormaker_files.planted import BYTES, CONSUMER, HEAD
from tests.unit.mirrormaker_files.planted_flows import connector

pytestmark = pytest.mark.unit

SASL = f"{HEAD}old.security.protocol = SASL_SSL\nold.sasl.mechanism = PLAIN\n"


def of_connector(**more: str) -> list[LintFinding]:
    config = connector("source", **{key: value for key, value in more.items() if key != "kind"})
    config["connector.class"] = more.get("kind", config["connector.class"])
    return lint(read_mirror_files("copy.json", json.dumps(config, indent=1)), kafka_keys())


def of_text(text: str, name: str = "mm2.properties", version: str = "") -> list[LintFinding]:
    return lint(read_mirror_files(name, text), kafka_keys(), version)


def coded(findings: list[LintFinding], *codes: LintCode) -> list[tuple[LintCode, str]]:
    return [(each.code, each.key) for each in findings if each.code in codes]


@pytest.mark.parametrize("name", ["MirrorSourcesConnector", "MirorSourceConnector", "MirrorSource"])
def test_a_misspelt_class_keeps_the_role_of_its_connector(name: str) -> None:
    """The lines of a connector are judged as those of the class that is meant."""
    found = of_connector(
        kind=f"org.apache.kafka.connect.mirror.{name}" if name != "MirrorSource" else name,
        key_converter="org.apache.kafka.connect.storage.StringConverter",
        producer_override_acks="all",
    )

    assert coded(found, LintCode.CONVERTER_CHANGES_BYTES, LintCode.KEY_MISPLACED) == [
        (LintCode.CONVERTER_CHANGES_BYTES, "key.converter")
    ]
    assert bool(coded(found, LintCode.CLASS_UNKNOWN)) == (name != "MirrorSource")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (BYTES, None),
        ("ByteArrayConvertor", LintCode.CLASS_UNKNOWN),
        (f"{BYTES}s", LintCode.CLASS_UNKNOWN),
        ("com.acme.AvroConverter", LintCode.CONVERTER_CHANGES_BYTES),
        ("AvroConverter", LintCode.CONVERTER_CHANGES_BYTES),
    ],
)
def test_a_converter_that_kafka_lacks_is_an_unknown_class(name: str, code: LintCode | None) -> None:
    """Only a converter that can be loaded changes bytes; a plug-in may have any other name."""
    found = coded(of_connector(value_converter=name), LintCode.CLASS_UNKNOWN, LintCode.CONVERTER_CHANGES_BYTES)

    assert found == ([(code, "value.converter")] if code else [])


@pytest.mark.parametrize(
    "key", ["offset.storage.replication.factor", "status.storage.partitions", "old->new.enabled", "clusters"]
)
def test_a_key_of_workers_or_of_the_dedicated_mode_has_no_effect_in_a_connector(key: str) -> None:
    """Such a key is misplaced, and rules on factors do not count it."""
    found = of_connector(**{key: "1"})

    codes = LintCode.KEY_MISPLACED, LintCode.REPLICATION_ONE, LintCode.REPLICATION_ABOVE_BROKERS
    assert coded(found, *codes) == [(LintCode.KEY_MISPLACED, key)]


def test_factors_that_no_part_reads_are_not_counted() -> None:
    """A factor of brokers is a key that MirrorMaker ignores, and no number of replicas."""
    found = of_text(f"{HEAD}new.default.replication.factor = 3\n")

    assert coded(found, LintCode.REPLICATION_ABOVE_BROKERS) == []


def test_brokers_of_a_template_are_not_counted() -> None:
    """An address that is filled in later may stand for several brokers."""
    found = of_connector(replication_factor="3", target_cluster_bootstrap_servers="${TARGET}")

    assert coded(found, LintCode.REPLICATION_ABOVE_BROKERS) == []


def test_blank_aliases_do_not_hide_that_a_line_misses_the_producer_of_the_records() -> None:
    """A connector copies also if its aliases are blank."""
    found = of_connector(source_cluster_alias="", target_cluster_alias="", producer_batch_size="9")

    assert coded(found, LintCode.CLIENT_LIMITED) == [(LintCode.CLIENT_LIMITED, "producer.batch.size")]


def test_a_misspelt_address_of_one_side_is_not_replaced_by_the_other_side() -> None:
    """The line that counts instead is one of the same cluster."""
    found = of_connector(source_cluster_boostrap_servers="other-1:9092")

    (near,) = [each for each in found if each.code is LintCode.KEY_MISSPELLED]
    assert "line 6 counts" in near.effect


def test_an_ignored_line_does_not_count_instead_of_itself() -> None:
    """What counts instead of a line of a side's clients is another line, or the default."""
    found = of_connector(source_cluster_max_request_size="9")

    effects = [each.effect for each in found if each.code is LintCode.KEY_MISPLACED]
    assert effects == ["it is ignored: the default '1048576' stays"]


@pytest.mark.parametrize(
    ("version", "effect"), [("", "it is ignored"), ("3.9", "it is ignored: the default '0' stays")]
)
def test_a_default_that_versions_change_is_named_only_for_a_version(version: str, effect: str) -> None:
    """`linger.ms` is 0 before Kafka 4.0, and 5 from then on."""
    found = of_text("bootstrap.servers=new-1:9092\nlinges.ms=1000\nacks=all\n", "producer.properties", version)

    assert [each.effect for each in found if each.code is LintCode.KEY_MISSPELLED] == [effect]


@pytest.mark.parametrize(
    ("pattern", "sign"),
    [
        *(("a;b", ";"), ("a b", " "), ("<names>", "<"), ("a/b.*", "/")),
        *(("a;?b", ""), ("a;*b", ""), ("a(;b)?", ""), ("a|b;c", ""), ("[;a]b", ""), ("a[.]b.*", ""), ("@NAMES@", "")),
    ],
)
def test_a_sign_that_no_topic_has(pattern: str, sign: str) -> None:
    """A pattern matches nothing if each match must have a sign outside of the names of topics."""
    assert foreign_sign(pattern) == sign


def test_groups_may_have_any_sign() -> None:
    """Only patterns of topics are judged by the names of topics."""
    found = of_text(f"{HEAD}old->new.groups = a;b\ntopics.exclude = a;b\n")

    codes = coded(found, LintCode.PATTERN_MATCHES_NOTHING)
    assert codes == [(LintCode.PATTERN_MATCHES_NOTHING, "topics.exclude")]


@pytest.mark.parametrize(
    ("login", "is_refused"),
    [
        ('a.B required username="u" password="p";', False),
        ("a.B required username=u-1 password='p';", False),
        ('a.B required username="u" password="p"', True),
        ('a.B username="u" password="p";', True),
        ('a.B required username="u password="p";', True),
        ("a.B required keyTab=/etc/x;", True),
        ("a.B required; a.C required;", True),
        ('a.B required password="${file:/x:y}";', False),
        ("a.B required ${file:/x:y};", False),
        ("${file:/x:login}", False),
        ("$LOGIN", False),
    ],
)
def test_a_login_is_refused_as_kafka_refuses_it(login: str, is_refused: bool) -> None:
    """A login that `JaasConfig` refuses is an error; what is filled in later may be any part of it."""
    found = of_text(f"{SASL}old.sasl.jaas.config = {login}\n")

    assert bool(coded(found, LintCode.LOGIN_REFUSED)) == is_refused


def test_a_login_that_is_cut_is_one_finding_with_its_lines() -> None:
    """The options after a lost backslash are consequences, and no secret is shown."""
    text = 'old.sasl.jaas.config = a.B required \\\n  username="u"\n  password="planted-secret";\n'
    found = of_text(SASL + text)

    assert [each.others for each in found if each.code is LintCode.LOGIN_REFUSED] == [(9, 10)]
    assert coded(found, LintCode.KEY_UNKNOWN, LintCode.KEY_MISSPELLED) == []
    assert "planted-secret" not in "".join(map(str, found))


def test_a_login_of_an_unsecured_cluster_is_not_read() -> None:
    """Clients without SASL do not read the login; its finding names the protocol, too."""
    found = of_text(f"{HEAD}old.security.protocol = SSL\nold.sasl.jaas.config = a.B\n")

    assert coded(found, LintCode.LOGIN_REFUSED) == []
    assert [(each.line, each.others) for each in found if each.code is LintCode.LOGIN_NOT_USED] == [(7, (6,))]


def test_all_references_to_a_missing_provider_are_one_finding() -> None:
    """Each line with a reference is named."""
    found = of_text(f"{HEAD}old.ssl.key.password = ${{file:/x:y}}\nnew.ssl.key.password = ${{file:/x:z}}\n")

    assert [(each.line, each.others) for each in found if each.code is LintCode.PROVIDER_MISSING] == [(6, (7,))]


def test_the_port_of_zookeeper() -> None:
    """Brokers do not listen on ZooKeeper's port."""
    found = of_text(CONSUMER.replace("9092", "2181"), "consumer.properties")

    assert coded(found, LintCode.ADDRESS_OF_ZOOKEEPER) == [(LintCode.ADDRESS_OF_ZOOKEEPER, "bootstrap.servers")]


def test_an_old_word_is_refused_and_resets_nothing() -> None:
    """The consumer refuses `largest`, so it never begins at the end."""
    found = of_text(CONSUMER.replace("earliest", "largest"), "consumer.properties")

    codes = coded(found, LintCode.RESET_TO_LATEST, LintCode.VALUE_REFUSED)
    assert codes == [(LintCode.VALUE_REFUSED, "auto.offset.reset")]


def test_a_misspelt_class_of_kafka_is_shown() -> None:
    """The name of a class in Kafka's packages is no secret."""
    name = "org.apache.kafka.common.config.provider.FileConfigProvidr"
    found = of_text(f"{HEAD}config.providers = file\nconfig.providers.file.class = {name}\n")

    assert [name in each.found for each in found if each.code is LintCode.CLASS_UNKNOWN] == [True]


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        ("acks=1\nenable.idempotence=true", [LintCode.IDEMPOTENCE_REFUSED]),
        ("retries=0\nenable.idempotence=TRUE", [LintCode.IDEMPOTENCE_REFUSED]),
        ("max.in.flight.requests.per.connection=6\nenable.idempotence=true", [LintCode.IDEMPOTENCE_REFUSED]),
        ("transactional.id=t\nenable.idempotence=false", [LintCode.IDEMPOTENCE_REFUSED]),
        ("acks=-1\nenable.idempotence=true\nmax.in.flight.requests.per.connection=5\nretries=9", []),
        ("acks=1", [LintCode.ACKS_TOO_LOW]),
        ("acks=1\nenable.idempotence=false", [LintCode.ACKS_TOO_LOW]),
        ("retries=0\nacks=all", [LintCode.RETRIES_OFF]),
    ],
)
def test_kafka_refuses_what_does_not_fit_idempotence(lines: str, codes: list[LintCode]) -> None:
    """With idempotence that a line switches on, Kafka makes no producer; without the line it switches it off."""
    found = of_text(f"bootstrap.servers=new-1:9092\n{lines}\n", "producer.properties", "3.9")

    judged = LintCode.IDEMPOTENCE_REFUSED, LintCode.ACKS_TOO_LOW, LintCode.RETRIES_OFF, LintCode.ORDER_NOT_KEPT
    assert [(each.code, each.line) for each in found if each.code in judged] == [(code, 2) for code in codes]
    refused = [each.others for each in found if each.code is LintCode.IDEMPOTENCE_REFUSED]
    assert refused == [(3,)] * codes.count(LintCode.IDEMPOTENCE_REFUSED)


def test_a_transaction_of_a_connector_is_refused_without_idempotence() -> None:
    """Connect switches idempotence off for the producers of connectors, from Kafka 3.1 on."""
    found = of_connector(producer_override_transactional_id="t", producer_override_acks="all")

    assert coded(found, LintCode.IDEMPOTENCE_REFUSED)[0][1] == "producer.override.transactional.id"


def test_exactly_once_without_rest_is_a_warning() -> None:
    """One process alone works without the internal REST server."""
    assert LintCode.EXACTLY_ONCE_INCOMPLETE.severity is Severity.WARNING


_OF_KAFKA = "org.apache.kafka.common.security"


@pytest.mark.parametrize(
    ("mechanism", "module", "line"),
    [
        ("SCRAM-SHA-512", f"{_OF_KAFKA}.plain.PlainLoginModule", 7),
        ("SCRAM-SHA-256", f"{_OF_KAFKA}.scram.ScramLoginModule", 0),
        ("PLAIN", f"{_OF_KAFKA}.plain.PlainLoginModule", 0),
        # Java's own PLAIN takes the name and the password of the other module.
        ("PLAIN", f"{_OF_KAFKA}.scram.ScramLoginModule", 0),
        ("PLAIN", f"{_OF_KAFKA}.oauthbearer.OAuthBearerLoginModule", 7),
        ("OAUTHBEARER", f"{_OF_KAFKA}.plain.PlainLoginModule", 7),
        ("GSSAPI", f"{_OF_KAFKA}.plain.PlainLoginModule", 7),
        ("GSSAPI", "com.sun.security.auth.module.Krb5LoginModule", 0),
        ("AWS_MSK_IAM", f"{_OF_KAFKA}.scram.ScramLoginModule", 7),
        ("AWS_MSK_IAM", "software.amazon.msk.auth.iam.IAMLoginModule", 0),
        ("", f"{_OF_KAFKA}.plain.PlainLoginModule", 7),
        ("SCRAM-SHA-512", "com.acme.LoginModule", 0),
        ("CUSTOM", f"{_OF_KAFKA}.plain.PlainLoginModule", 0),
    ],
)
def test_a_mechanism_and_its_login_module_belong_together(mechanism: str, module: str, line: int) -> None:
    """A client logs in only with a module that brings what the mechanism needs; the default is GSSAPI."""
    text = f"{HEAD}old.security.protocol = SASL_SSL\nold.sasl.mechanism = {mechanism}\n"
    text += f'old.sasl.jaas.config = {module} required username="u" password="planted-secret";\n'
    found = of_text(text if mechanism else text.replace("old.sasl.mechanism = \n", ""))

    wrong = [each for each in found if each.code is LintCode.LOGIN_MODULE_WRONG]
    assert [(each.line, each.others) for each in wrong] == ([(line, (8,) if mechanism else ())] if line else [])
    assert "planted-secret" not in "".join(map(str, found))


def test_a_login_without_an_end_names_the_line_on_which_it_ends() -> None:
    """The `;` is missing on the last line of a continued value, so that line is named, too."""
    found = of_text(f'{SASL}old.sasl.jaas.config = a.B required \\\n  username="u" \\\n  password="p"\nnew.acks = 1\n')

    assert [(each.line, each.others) for each in found if each.code is LintCode.LOGIN_REFUSED] == [(8, (10,))]


def test_an_unused_login_is_one_finding_with_all_of_its_lines() -> None:
    """Without `security.protocol` no line of a login is used; the login of the other cluster is a cause of its own."""
    found = of_connector(
        source_cluster_sasl_mechanism="PLAIN", source_cluster_sasl_jaas_config="a.B required;",
        target_cluster_sasl_mechanism="PLAIN", target_cluster_ssl_keystore_location="/x",
    )  # fmt: skip

    assert [(each.key, len(each.others)) for each in found if each.code is LintCode.LOGIN_NOT_USED] == [
        ("source.cluster.sasl.jaas.config", 1),
        ("target.cluster.sasl.mechanism", 1),
    ]


WORKER = "bootstrap.servers=new-1:9092\ngroup.id=g\nconfig.storage.topic=c\noffset.storage.topic=o\n"
WORKER += "status.storage.topic=s\nkey.converter=x\nvalue.converter=x\n"


@pytest.mark.parametrize(
    ("policy", "version", "key", "refused"),
    [
        ("None", "3.9", "producer.override.batch.size", "connect.properties"),
        ("NoneConnectorClientConfigOverridePolicy", "3.9", "producer.override.acks", "connect.properties"),
        ("Principal", "3.9", "producer.override.batch.size", "connect.properties"),
        ("Principal", "3.9", "producer.override.sasl.mechanism", ""),
        ("All", "2.8", "producer.override.batch.size", ""),
        ("", "3.0", "producer.override.batch.size", ""),
        ("", "", "producer.override.batch.size", ""),
        ("", "2.8", "producer.override.batch.size", "copy.json"),
        # Connect makes no such clients for a source connector, and judges them not.
        ("None", "3.9", "consumer.override.max.poll.records", ""),
        ("None", "3.9", "admin.override.retries", ""),
    ],
)
def test_a_worker_decides_what_connectors_override(policy: str, version: str, key: str, refused: str) -> None:
    """A worker refuses a connector that overrides more than its policy allows; before 3.0 it allows nothing."""
    config = json.dumps(connector("source", **{key: "1"}), indent=1)
    worker = WORKER + (f"connector.client.config.override.policy={policy}\n" if policy else "")
    files = [*read_mirror_files("copy.json", config), *read_mirror_files("connect.properties", worker)]
    found = [each for each in lint(files, kafka_keys(), version) if each.code is LintCode.OVERRIDE_REFUSED]

    assert [each.file for each in found] == ([refused] if refused else [])


@pytest.mark.parametrize(
    ("document", "names"),
    [
        ({"name": "x", "config": {}}, []),
        ({"name": "x", "config": {}, "tasks": [], "type": "source"}, []),
        ({"name": "x", "config": {}, "initial_state": "PAUSED"}, []),
        ({"name": "x", "configs": {}}, ["configs"]),
        ({"name": "x", "Config": {}}, ["Config"]),
        ({"name": "x", "config": {}, "_comment": "y"}, ["_comment"]),
        ([{"name": "x", "configs": {}}], ["configs"]),
        # Of another tool.
        ({"connectorName": "x", "connectorConfiguration": {}}, []),
        ({"x": {"info": {"name": "x", "config": {}}, "status": {}}}, []),
    ],
)
def test_a_request_has_the_fields_of_the_rest_api(document: object, names: list[str]) -> None:
    """Connect refuses a request with a field that it does not know; other documents are no requests."""
    text = json.dumps(document, indent=1).replace("{}", json.dumps(connector("source")), 1)
    found = of_text(text, "copy.json")

    assert coded(found, LintCode.REQUEST_REFUSED) == [(LintCode.REQUEST_REFUSED, name) for name in names]


_ALIAS_CODES = (
    LintCode.ALIAS_BLANK, LintCode.ALIASES_EQUAL, LintCode.NO_TOPIC_COPIED, LintCode.SEPARATOR_BLANK,
    LintCode.NAMES_KEPT_BY_BLANKS, LintCode.ALIAS_OVERRIDDEN,
)  # fmt: skip
_IDENTITY = {"replication_policy_class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"}
_BLANK_SEPARATOR = {"replication_policy_separator": ""}


@pytest.mark.parametrize("kind", ["source", "checkpoint", "heartbeat"])
@pytest.mark.parametrize(
    ("source", "target", "more", "code", "others"),
    [
        ("", "", _BLANK_SEPARATOR, LintCode.ALIAS_BLANK, 2),
        ("", "new", {}, LintCode.ALIAS_BLANK, 0),
        ("old", "", {}, LintCode.ALIAS_BLANK, 0),
        ("old", "new", _BLANK_SEPARATOR, LintCode.SEPARATOR_BLANK, 0),
        ("", "new", _BLANK_SEPARATOR, LintCode.NAMES_KEPT_BY_BLANKS, 1),
        ("old", "old", {}, LintCode.ALIASES_EQUAL, 1),
        ("old", "new", _BLANK_SEPARATOR | _IDENTITY, None, 0),
        ("", "", _BLANK_SEPARATOR | {"replication_policy_class": "com.acme.Policy"}, None, 0),
    ],
)
def test_blank_and_equal_names_of_a_connector(
    kind: str, source: str, target: str, more: dict[str, str], code: LintCode | None, others: int
) -> None:
    """Each connector with a blank or an equal alias has one finding with all of its lines."""
    names = {"source_cluster_alias": source, "target_cluster_alias": target, **more}
    found = of_text(json.dumps(connector(kind, **names), indent=1), "copy.json")

    judged = [(each.code, len(each.others)) for each in found if each.code in _ALIAS_CODES]
    assert judged == ([(code, others)] if code else [])


@pytest.mark.parametrize("alias", ["old", ""])
def test_the_identity_policy_copies_nothing_between_equal_aliases(alias: str) -> None:
    """The policy takes the source's alias for that of each topic, which is then a copy from the target."""
    found = of_connector(source_cluster_alias=alias, target_cluster_alias=alias, **_IDENTITY)

    assert LintCode.NO_TOPIC_COPIED in [each.code for each in found]


def test_connectors_of_other_aliases_name_the_lines_that_differ() -> None:
    """The line of the alias that differs is named, and that of the other connector in the same file."""
    configs = [connector("source"), connector("checkpoint", target_cluster_alias="newer")]
    text = json.dumps(configs, indent=1)
    lines = [number for number, line in enumerate(text.split("\n"), 1) if "target.cluster.alias" in line]

    differ = [each for each in of_text(text, "copy.json") if each.code is LintCode.CONNECTORS_DIFFER]
    assert [(each.line, each.others) for each in differ] == [(lines[1], (lines[0],))]


@pytest.mark.parametrize("version", ["", "3.0", "3.7", "4.1"])
@pytest.mark.parametrize(
    ("kind", "key", "is_other"),
    [
        ("source", "refresh.groups.interval.seconds", True),
        ("source", "checkpoints.topic.replication.factor", True),
        ("source", "refresh.topics.interval.seconds", False),
        ("source", "offset-syncs.topic.replication.factor", False),
        ("checkpoint", "replication.factor", True),
        ("checkpoint", "sync.topic.acls.enabled", True),
        ("checkpoint", "topics", False),
        ("checkpoint", "groups", False),
        ("heartbeat", "replication.factor", True),
        ("heartbeat", "topics", True),
        ("heartbeat", "heartbeats.topic.replication.factor", False),
        ("heartbeat", "admin.timeout.ms", False),
    ],
)
def test_a_key_of_another_connector_is_not_used(version: str, kind: str, key: str, is_other: bool) -> None:
    """Each class uses its own keys, also in the versions in which all classes share one definition."""
    text = json.dumps(connector(kind, **{key.replace(".", "_"): "2"}), indent=1)
    found = of_text(text, "copy.json", version)

    expected = [(LintCode.KEY_WITHOUT_EFFECT, key)] if is_other else []
    codes = LintCode.KEY_WITHOUT_EFFECT, LintCode.KEY_MISPLACED, LintCode.KEY_OF_ANOTHER_VERSION, LintCode.KEY_REMOVED
    assert coded(found, *codes) == expected


def test_a_key_that_the_other_connector_lacks_is_a_warning() -> None:
    """The key is meant for a connector of the same files, which does not have it."""
    configs = [connector("source", sync_group_offsets_enabled="true"), connector("checkpoint")]
    found = of_text(json.dumps(configs, indent=1), "copy.json")

    assert coded(found, LintCode.KEY_OF_OTHER_CONNECTOR) == [
        (LintCode.KEY_OF_OTHER_CONNECTOR, "sync.group.offsets.enabled")
    ]


@pytest.mark.parametrize(("protocol", "count"), [("SASL_SSL", 1), ("SSL", 0)])
def test_one_file_for_keys_and_trust_is_a_hint_if_clients_log_in_otherwise(protocol: str, count: int) -> None:
    """With SSL alone the key store is the login, and one file may well have both."""
    lines = f"old.security.protocol = {protocol}\nold.ssl.keystore.location = /x\nold.ssl.truststore.location = /x\n"
    found = [each for each in of_text(HEAD + lines) if each.code is LintCode.KEY_STORE_IS_TRUST_STORE]

    assert [(each.line, each.others) for each in found] == [(7, (8,))] * count
    assert all(each.code.severity is Severity.INFO for each in found)
