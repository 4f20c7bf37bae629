"""Resources of Strimzi: what Kubernetes refuses or drops, and what the operator does with fields and keys."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from kafka_migration.kafka_tables.strimzi_fields import strimzi_fields
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode, Severity
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_import.import_rules import Use
from kafka_migration.mirrormaker_import.proposal import import_files
from tests.unit.mirrormaker_files.reading import found, judged

pytestmark = pytest.mark.unit

FIELDS = (LintCode.FIELD_UNKNOWN, LintCode.FIELD_MISSING, LintCode.FIELD_REFUSED)
# Lines 1 to 12; the mirror follows.
CLUSTERS = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
metadata:
  name: copy
spec:
  connectCluster: new
  clusters:
    - alias: old
      bootstrapServers: old-1:9092
    - alias: new
      bootstrapServers: new-1:9092
  mirrors:
"""
MIRROR = "    - sourceCluster: old\n      targetCluster: new\n"
# Lines 1 to 16; the connectors follow.
TARGET = """\
apiVersion: kafka.strimzi.io/v1
kind: KafkaMirrorMaker2
metadata:
  name: copy
spec:
  replicas: 1
  target:
    alias: new
    bootstrapServers: new-1:9092
    groupId: copy
    configStorageTopic: copy-configs
    offsetStorageTopic: copy-offsets
    statusStorageTopic: copy-status
  mirrors:
    - source: {alias: old, bootstrapServers: 'old-1:9092'}
"""


def mirror(more: str, clusters: str = CLUSTERS) -> str:
    """Return a resource with further lines in its mirror, which begin on line 15."""
    return f"{clusters}{MIRROR}{indent(dedent(more), '      ')}"


def cluster(more: str) -> str:
    """Return a resource with further lines in its target cluster, which begin on line 12."""
    clusters = CLUSTERS.replace("new-1:9092\n", f"new-1:9092\n{indent(dedent(more), '      ')}")
    return f"{clusters}{MIRROR}      sourceConnector: {{tasksMax: 2}}\n"


def texts(text: str, *codes: LintCode) -> list[tuple[int, str, str, str]]:
    """Return line, key, effect and fix of each finding of the codes."""
    return [(each.line, each.key, each.effect, each.fix) for each in judged("mm2.yaml", text) if each.code in codes]


def test_a_right_resource_has_no_mistake() -> None:
    """Resources of each version without a mistake have no finding but hints."""
    right = [
        mirror("sourceConnector: {tasksMax: 2, config: {replication.factor: 3}}\ntopicsPattern: orders\n"),
        f"{TARGET}      sourceConnector: {{tasksMax: 2, version: '[4.1,4.3)'}}\n",
        cluster("tls: {trustedCertificates: [{secretName: ca, pattern: '*.crt'}]}\n"),
        cluster("tls:\n  trustedCertificates: []\nauthentication: {type: custom, sasl: true, config: {a: b}}\n"),
    ]

    for text in right:
        assert [each for each in judged("mm2.yaml", text) if each.code.severity is not Severity.INFO] == []


@pytest.mark.parametrize(
    ("more", "line", "key", "fix"),
    [
        ("sourceConnector:\n  taskMax: 2\n", 16, "mirrors.sourceConnector.taskMax", "Write `tasksMax`."),
        ("sourceConnector:\n  tasks.max: 2\n", 16, "mirrors.sourceConnector.tasks.max", "Write `tasksMax`."),
        ("checkPointConnector:\n  config: {}\n", 15, "mirrors.checkPointConnector", "Write `checkpointConnector`."),
        (
            "config:\n  replication.factor: 3\n",
            15,
            "mirrors.config",
            "Move it to `mirrors.checkpointConnector.config` or `mirrors.heartbeatConnector.config` or "
            "`mirrors.source.config` or `mirrors.sourceConnector.config`, or remove it.",
        ),
        (
            "sourceConnector:\n  replication.factor: 3\n",
            16,
            "mirrors.sourceConnector.replication.factor",
            "Move it into `config`.",
        ),
        (
            "sourceConnector:\n  topicsPattern: a\n",
            16,
            "mirrors.sourceConnector.topicsPattern",
            "Move it to `mirrors.topicsPattern`, or remove it.",
        ),
    ],
)
def test_an_unknown_field_is_found_at_its_line_with_the_field_that_is_meant(
    more: str, line: int, key: str, fix: str
) -> None:
    """A field that no release has at its place is named on its own line, with what to write."""
    effect = "Kubernetes refuses or drops it, so Strimzi does not see its value"

    assert texts(mirror(more), *FIELDS) == [(line, key, effect, fix)]


def test_a_field_of_another_api_version_is_found() -> None:
    """The heartbeat connector, which v1 does not have, is named with the versions that have it, once."""
    config = "        config:\n          heartbeats.topic.replication.factor: 1\n"
    text = f"{TARGET}      sourceConnector: {{tasksMax: 1}}\n      heartbeatConnector:\n{config}"

    (finding,) = [each for each in judged("mm2.yaml", text) if each.code.severity is not Severity.INFO]

    assert (finding.code, finding.line) == (LintCode.FIELD_UNKNOWN, 17)
    assert finding.fix == "Remove it; only the API version v1alpha1, v1beta2 has it."


def test_a_misspelt_required_field_is_one_finding() -> None:
    """A required field that is misspelt is found once, at the wrong name, and the resource is refused."""
    text = cluster(
        "tls: {}\nauthentication:\n  type: scram-sha-512\n  username: me\n  passwordSecret:\n    secret: a\n"
        "    password: b\n"
    )

    assert texts(text, *FIELDS) == [
        (17, "clusters.authentication.passwordSecret.secret", "Kubernetes refuses the resource", "Write `secretName`.")
    ]


def test_missing_fields_of_one_place_are_one_finding() -> None:
    """The required fields that a place lacks are named together, on its first line."""
    text = TARGET.replace("    groupId: copy\n    configStorageTopic: copy-configs\n", "")

    assert texts(text, *FIELDS) == [
        (
            8,
            "target.configStorageTopic",
            "Kubernetes refuses the resource",
            "Add `configStorageTopic`, `groupId`.",
        )
    ]


@pytest.mark.parametrize(
    ("field", "fix"),
    [
        ("replicas: '3'", "Write a whole number without quotes."),
        ("version: 3.5", "Write a text in quotes."),
        ("livenessProbe: {timeoutSeconds: 0}", "Write 1 or more."),
        ("logging: {type: inlin}", "Write `inline`."),
        ("livenessProbe: 5", "Write a group of fields."),
        ("resources: [a]", "Write a group of fields."),
    ],
)
def test_a_value_of_a_wrong_type_or_word_is_refused(field: str, fix: str) -> None:
    """A value that the definition refuses is found with what to write."""
    text = mirror("sourceConnector: {tasksMax: 1}\n", CLUSTERS.replace("spec:\n", f"spec:\n  {field}\n"))

    assert [(line, effect, said) for line, _, effect, said in texts(text, *FIELDS)] == [
        (6, "Kubernetes refuses the resource", fix)
    ]


def test_an_alias_has_the_form_of_the_definition() -> None:
    """An alias that does not fit the pattern of the definition is refused."""
    text = mirror("sourceConnector: {tasksMax: 1}\n").replace("alias: new", "alias: my copy")

    assert found("mm2.yaml", text, *FIELDS) == ["10 FIELD_REFUSED"]


@pytest.mark.parametrize("value", ["${REPLICAS}", "<number>", "null", "0x3", "on"])
def test_a_value_that_may_be_right_is_not_refused(value: str) -> None:
    """A variable, an empty value, and a value that YAML readers take for different types are not judged."""
    text = mirror("sourceConnector: {tasksMax: 1}\n", CLUSTERS.replace("spec:\n", f"spec:\n  replicas: {value}\n"))

    assert texts(text, *FIELDS) == []


def test_an_api_version_that_no_release_has_is_found() -> None:
    """A kind in an API version that it never had is refused."""
    text = mirror("sourceConnector: {taskMax: 1}\n")

    assert found("mm2.yaml", text.replace("v1beta2", "v1beta1"), *FIELDS) == ["1 FIELD_REFUSED"]


def test_a_resource_of_another_group_has_fields_of_its_own() -> None:
    """A product that extends Strimzi's kinds, or a resource without a version: only misspelt fields are found."""
    text = mirror("sourceConnector: {taskMax: 1}\nlicense: a\n")

    for other in ("kafka.strimzi.io/v1beta2", "apiVersion: kafka.strimzi.io/v1beta2\n"):
        assert found("mm2.yaml", text.replace(other, "")[-1000:], *FIELDS)[0].endswith("FIELD_UNKNOWN")
    assert found("mm2.yaml", text.replace("kafka.strimzi.io", "events.example.com"), *FIELDS) == ["15 FIELD_UNKNOWN"]


def test_the_first_operators_hand_unknown_fields_of_a_mirror_to_the_connectors() -> None:
    """In v1alpha1 a key of Kafka in a mirror reaches its connectors, and a misspelt field has no effect."""
    text = mirror("topics: '*'\nreplication.factor: x\ntopicPattern: a\nsourceConnector: {tasksMax: 1}\n").replace(
        "v1beta2", "v1alpha1"
    )

    assert found("mm2.yaml", text) == ["15 PATTERN_INVALID", "16 VALUE_TYPE", "17 FIELD_UNKNOWN"]
    assert "no effect" in texts(text, LintCode.FIELD_UNKNOWN)[0][2]


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        ("KafkaConnect", "replicas: 1\n  bootstrapServer: a:9092\n", ["5 FIELD_UNKNOWN"]),
        ("KafkaConnect", "bootstrapServers: a:9092\n  config: {rest.port: 1}\n", ["5 KEY_SET_BY_OPERATOR"]),
        ("KafkaConnector", "taskMax: 2\n", ["4 FIELD_UNKNOWN"]),
        ("KafkaConnector", "class: a\n  tasksMax: 2\n  config: {tasks.max: 4}\n", ["6 KEY_SET_BY_OPERATOR"]),
    ],
)
def test_resources_of_connect_are_judged(kind: str, spec: str, expected: list[str]) -> None:
    """The fields and forbidden keys of the other kinds are judged in the same way."""
    text = f"apiVersion: kafka.strimzi.io/v1beta2\nkind: {kind}\nspec:\n  {spec}"

    assert found("a.yaml", text, *FIELDS, LintCode.KEY_SET_BY_OPERATOR) == expected


def test_mirrormaker_1_without_a_group_is_one_finding() -> None:
    """A misspelt group of MirrorMaker 1 is named at its line, and not a second time as a missing group."""
    text = dedent("""\
        apiVersion: kafka.strimzi.io/v1beta2
        kind: KafkaMirrorMaker
        spec:
          replicas: 1
          include: orders
          consumer:
            bootstrapServers: old-1:9092
            groupID: mirror
            config: {auto.offset.reset: earliest, group.id: other}
          producer: {bootstrapServers: 'new-1:9092'}
        """)

    assert found("mm1.yaml", text) == ["8 FIELD_UNKNOWN", "9 KEY_SET_BY_OPERATOR"]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("connectCluster: new", "connectCluster: nwe", [6]),
        ("sourceCluster: old", "sourceCluster: odl", [13]),
        ("targetCluster: new", "targetCluster: nwe", [14]),
    ],
)
def test_an_alias_that_no_cluster_has_is_found_at_the_field_that_names_it(old: str, new: str, lines: list[int]) -> None:
    """A wrong alias is one error, at the field with the alias."""
    text = mirror("sourceConnector: {tasksMax: 2, config: {replication.factor: 3}}\n").replace(old, new)

    errors = [each for each in judged("mm2.yaml", text) if each.code.severity is not Severity.INFO]

    assert [(each.code, each.line) for each in errors] == [(LintCode.ALIAS_UNKNOWN, line) for line in lines]
    assert errors[0].fix in {"Write 'new'.", "Write 'old'."}


def test_connect_runs_on_the_target() -> None:
    """A `connectCluster` that is not the target is an error, unless it is the same cluster under another alias."""
    text = mirror("sourceConnector: {tasksMax: 2}\n").replace("connectCluster: new", "connectCluster: old")
    same = text.replace("old-1:9092", "new-1:9092")

    assert found("mm2.yaml", text, LintCode.CONNECT_CLUSTER_DIFFERS) == ["6 CONNECT_CLUSTER_DIFFERS"]
    assert found("mm2.yaml", same, LintCode.CONNECT_CLUSTER_DIFFERS) == []


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (mirror("sourceConnector:\n  tasksMax: 1\n  config:\n    tasks.max: 4\n"), 18, "`tasksMax` counts"),
        (mirror("sourceConnector:\n  config:\n    name: mine\n"), 17, "it sets the key itself"),
        (mirror("topicsPattern: .*\nsourceConnector:\n  config:\n    topics: orders\n"), 18, "ignored"),
        (cluster("config:\n  sasl.mechanism: PLAIN\n"), 13, "`authentication` counts for the workers"),
        (
            f"{TARGET}      sourceConnector: {{tasksMax: 1}}\n".replace(
                "    groupId", "    config: {group.id: x}\n    groupId"
            ),
            10,
            "`groupId` counts for the workers",
        ),
    ],
)
def test_a_key_that_the_operator_does_not_take_is_found_with_the_field_that_counts(
    text: str, line: int, said: str
) -> None:
    """A forbidden or overwritten key in `config` is one warning, which names what counts."""
    findings = [each for each in judged("mm2.yaml", text) if each.code.severity is not Severity.INFO]

    assert [(each.code, each.line) for each in findings] == [(LintCode.KEY_SET_BY_OPERATOR, line)]
    assert said in findings[0].effect


def test_keys_that_the_operator_takes_are_not_found() -> None:
    """`group.id` counts before v1, topics without a pattern count, and so does the login of a source cluster."""
    source = "      config: {security.protocol: SSL, ssl.truststore.location: /a, ssl.truststore.type: PEM}\n"
    right = [
        cluster("config: {group.id: mine}\n"),
        mirror("sourceConnector:\n  config:\n    topics: orders\n"),
        mirror("sourceConnector: {tasksMax: 1}\n", CLUSTERS.replace("old-1:9092\n", f"old-1:9092\n{source}")),
    ]

    for text in right:
        assert found("mm2.yaml", text, LintCode.KEY_SET_BY_OPERATOR, LintCode.LOGIN_NOT_USED) == []


def test_a_login_in_the_config_of_a_source_cluster_needs_the_protocol() -> None:
    """Connectors get `sasl.` keys of a source cluster, and use them only with `security.protocol` beside them."""
    keys = "sasl.mechanism: PLAIN"
    texts = [
        mirror(
            "sourceConnector: {tasksMax: 1}\n", CLUSTERS.replace("old-1:9092\n", f"old-1:9092\n      config: {each}\n")
        )
        for each in (f"{{{keys}}}", f"{{{keys}, security.protocol: SASL_SSL}}")
    ]

    assert [found("mm2.yaml", each, LintCode.LOGIN_NOT_USED) for each in texts] == [["10 LOGIN_NOT_USED"], []]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("authentication:\n  type: scram-sha-512\n  username: a\n", ["12 LOGIN_UNENCRYPTED"]),
        ("authentication: {type: tls}\n", ["12 LOGIN_NOT_USED"]),
        ("config:\n  ssl.enabled.protocols: TLSv1.3\n", ["13 LOGIN_NOT_USED"]),
        ("tls: {}\nconfig:\n  ssl.enabled.protocols: TLSv1.3\n", []),
        ("tls: {}\nauthentication: {type: scram-sha-512}\n", []),
    ],
)
def test_logins_and_settings_of_tls_without_tls_are_found(more: str, expected: list[str]) -> None:
    """A login without `tls` is not encrypted, and a certificate or a setting of TLS has no effect."""
    assert found("mm2.yaml", cluster(more), LintCode.LOGIN_UNENCRYPTED, LintCode.LOGIN_NOT_USED) == expected


def test_the_reader_of_the_records_gets_its_keys_from_the_source_connector() -> None:
    """`consumer.` in a source cluster reaches no client, and the fix reaches the reader of the records."""
    key = "consumer.max.poll.records: 5"
    wrong = mirror(
        "sourceConnector: {tasksMax: 2}\n", CLUSTERS.replace("old-1:9092\n", f"old-1:9092\n      config: {{{key}}}\n")
    )

    (finding,) = [each for each in judged("mm2.yaml", wrong) if each.code.severity is not Severity.INFO]

    assert finding.line == 10
    assert finding.fix == "Write 'consumer.max.poll.records' into `config` of `sourceConnector`."
    assert found("mm2.yaml", mirror(f"sourceConnector: {{tasksMax: 2, config: {{{key}}}}}\n")) == []


def test_policies_that_differ_are_found_at_the_connector_that_differs() -> None:
    """The checkpoint connector's own line is named, also if it lacks the setting; the source's line is another one."""
    policy = "replication.policy.class: org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
    text = mirror(f"sourceConnector:\n  config:\n    {policy}\ncheckpointConnector:\n  config: {{}}\n")

    (finding,) = [each for each in judged("mm2.yaml", text) if each.code is LintCode.POLICIES_DIFFER]

    assert (finding.line, finding.others) == (18, (17,))


def test_the_table_has_the_fields_of_the_announced_versions() -> None:
    """Fields have the API versions of Strimzi's announcements, which are not from the table."""
    fields = strimzi_fields()

    assert fields.versions("KafkaMirrorMaker2") == ("v1alpha1", "v1beta2", "v1")
    assert fields.versions_with("KafkaMirrorMaker2", "target.groupId") == ("v1beta2", "v1")
    assert fields.versions_with("KafkaMirrorMaker2", "mirrors.heartbeatConnector") == ("v1alpha1", "v1beta2")
    assert fields.versions_with("KafkaMirrorMaker", "include") == ("v1beta2",)
    assert fields.versions_with("KafkaConnect", "plugins.artifacts.reference") == ("v1beta2", "v1")


def test_each_cause_has_one_finding() -> None:
    """What follows from a field that is refused or missing has no finding of its own."""
    texts = [
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaMirrorMaker2\nspec: [a]\n",
        mirror("sourceConnector: {tasksMax: 0}\n"),
        mirror("sourceConnector: {tasksMax: 1}\n", CLUSTERS.replace("bootstrapServers: old", "bootstrapServer: old")),
    ]

    for text in texts:
        findings = [each.code for each in judged("mm2.yaml", text) if each.code.severity is not Severity.INFO]
        assert len(findings) == 1
        assert findings[0] in FIELDS


def test_a_key_of_the_producer_at_the_target_is_right() -> None:
    """The workers read `producer.` of the target, also where a connector overrides it."""
    text = mirror(
        "sourceConnector: {tasksMax: 1, config: {producer.override.linger.ms: 5}}\n",
        CLUSTERS.replace("new-1:9092\n", "new-1:9092\n      config: {producer.linger.ms: 9}\n"),
    )

    assert found("mm2.yaml", text, LintCode.KEY_MISPLACED) == []


def test_many_unknown_fields_are_not_all_compared() -> None:
    """Only the first unknown fields have a proposal, so that a large resource takes little time."""
    more = "".join(f"  tasksMax{number}: 1\n" for number in range(200))

    fixes = [each.fix for each in judged("mm2.yaml", mirror(f"sourceConnector:\n{more}"))]

    assert fixes.count("Write `tasksMax`.") == 100
    assert fixes.count("Correct or remove it.") == 100


def test_import_ignores_fields_that_the_resource_does_not_have() -> None:
    """A line in an unknown field is reported as ignored, and a field of the same name elsewhere is not."""
    more = "version: 1\ncheckPointConnector: {tasksMax: 2}\nsourceConnector: {tasksMax: 3}\ntopicsPattern: orders\n"
    text = mirror(more, CLUSTERS.replace("spec:\n", "spec:\n  version: 3.9.0\n"))

    uses = {(each.line, each.key): each.use for each in import_files(read_mirror_files("a.yaml", text), "shop").uses}

    assert uses[6, "version"] is Use.USED
    assert uses[16, "version"] is Use.IGNORED
    assert uses[17, "checkPointConnector.tasksMax"] is Use.IGNORED
    assert uses[18, "sourceConnector.tasksMax"] is Use.USED


def test_import_takes_the_topics_that_the_first_operators_hand_on() -> None:
    """`topics` of a mirror in v1alpha1, which its connectors get, is what is copied."""
    text = mirror("topics: orders, payments\nsourceConnector: {tasksMax: 3}\n").replace("v1beta2", "v1alpha1")

    proposal = import_files(read_mirror_files("a.yaml", text), "shop").text

    assert "orders" in proposal
    assert "payments" in proposal
    assert 'pattern: ".*"' not in proposal


def test_a_mirror_without_a_source_connector_copies_nothing() -> None:
    """The operator makes only the connectors that a mirror names, so one without a source connector copies nothing."""
    without = mirror("checkpointConnector: {tasksMax: 1}\n")

    assert found("mm2.yaml", without, LintCode.SOURCE_CONNECTOR_MISSING) == ["13 SOURCE_CONNECTOR_MISSING"]
    for right in ("sourceConnector: {}\n", "sourceConector: {}\n"):
        assert found("mm2.yaml", mirror(right), LintCode.SOURCE_CONNECTOR_MISSING) == []


CERTIFICATE = "certificateAndKey: {secretName: s, certificate: c, key: k}"
SECRET = "passwordSecret: {secretName: s, password: p}"
OAUTH = "type: oauth, tokenEndpointUri: 'https://a/b', clientId: c"


@pytest.mark.parametrize(
    ("login", "expected"),
    [
        (f"type: tls, {CERTIFICATE}", ""),
        (f"type: tls, username: a, {SECRET}", "`certificateAndKey`"),
        (f"type: scram-sha-512, {CERTIFICATE}", "`username` and `passwordSecret`"),
        (f"type: scram-sha-256, {SECRET}", "`username`"),
        ("type: plain, username: a", "`passwordSecret`"),
        ("type: plain, username: a, passwordSecret: null", "`passwordSecret`"),
        (f"type: plain, username: a, {SECRET}", ""),
        ("type: oauth, accessTokenLocation: /a", ""),
        (OAUTH, "`clientSecret`"),
        (f"{OAUTH}, refreshToken: {{secretName: s, key: k}}", ""),
        (f"{OAUTH}, username: a, {SECRET}", ""),
        ("type: custom, sasl: true", ""),
        ("type: '{{ .Values.type }}'", ""),
    ],
)
def test_a_login_has_the_fields_of_its_type(login: str, expected: str) -> None:
    """The operator refuses a login that lacks fields; the line of the type is named, in each kind of resource."""
    lines = ["bootstrapServers: a:1", "tls: {}", f"authentication: {{{login}}}"]
    client, cluster = ("".join(f"{blanks}{each}\n" for each in lines) for blanks in ("    ", "      "))
    head = "apiVersion: kafka.strimzi.io/v1beta2\n"
    texts = {
        f"{head}kind: KafkaMirrorMaker2\nspec:\n  clusters:\n    - alias: a\n{cluster}": 8,
        f"{head}kind: KafkaMirrorMaker\nspec:\n  producer:\n{client}  consumer:\n    groupId: g\n{client}": 7,
        f"{head}kind: KafkaConnect\nspec:\n{client}": 6,
    }
    for text, line in texts.items():
        logins = [each for each in judged("r.yaml", text) if each.code is LintCode.LOGIN_INCOMPLETE]
        assert [each.line for each in logins][:1] == ([line] if expected else [])
        assert all(f"requires {expected}, which" in each.found for each in logins)
