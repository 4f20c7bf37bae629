"""YAML files: Kubernetes resources, of Strimzi and others, and Compose files."""

from __future__ import annotations

from base64 import b64encode
from textwrap import dedent

import pytest

from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind
from tests.unit.mirrormaker_files.planted import HEAD
from tests.unit.mirrormaker_files.reading import found, read, refused

pytestmark = pytest.mark.unit

MIRROR = dedent("""\
    kind: KafkaMirrorMaker2
    spec:
      clusters:
        - {alias: old, bootstrapServers: "old-1:9092"}
        - {alias: new, bootstrapServers: "new-1:9092"}
      mirrors:
        - sourceCluster: old
          targetCluster: new
          topicsPattern: orders
    """)
SECRET = "apiVersion: v1\nkind: Secret\ndata: {a: Yg==}\n"


def indented(text: str, by: str) -> str:
    return "".join(f"{by}{line}\n" for line in text.splitlines())


def test_all_documents_of_a_file_are_read() -> None:
    """Other resources before and between the mirrors are passed over, and each mirror has its own lines."""
    files = read("mirrors.yaml", f"{SECRET}---\n{MIRROR}---\n{SECRET}---\n{MIRROR}")

    assert [(kind, line) for kind, line, _ in files] == [("strimzi", 5), ("strimzi", 19)]
    assert "27 topicsPattern=orders" in files[1][2]


def test_the_items_of_a_list_are_read() -> None:
    """`kubectl get -o yaml` gives a list."""
    item = MIRROR.replace("\n", "\n  ")
    files = read("mirrors.yaml", f"apiVersion: v1\nkind: List\nitems:\n- {item}\n- {item}\n")

    assert [line for _, line, _ in files] == [4, 14]


def test_a_file_of_other_resources_is_refused_with_their_kinds() -> None:
    """The refusal says what the file has instead."""
    text = "kind: Deployment\nspec: {}\n---\nkind: Service\n---\nkind: Service\n"

    assert "only other resources (kind Deployment, Service)" in refused("app.yaml", text)


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ("config: &shared\n          tasks.max: 4\n", "12 sourceConnector.config.tasks.max=4"),
        ("config: {<<: {tasks.max: 4}}\n", "11 sourceConnector.config.tasks.max=4"),
        ("config: {<<: [{a.b: 1}, {a.b: 2, tasks.max: 4}]}\n", "11 sourceConnector.config.a.b=1"),
        ("config: {<<: {tasks.max: 3}, tasks.max: 4}\n", "11 sourceConnector.config.tasks.max=4"),
    ],
)
def test_merged_and_named_parts_have_the_lines_on_which_they_are_written(config: str, line: str) -> None:
    """`&name`, `*name` and `<<` are resolved as YAML says."""
    ((_, _, settings),) = read("mirror.yaml", f"{MIRROR}      sourceConnector:\n        {config}")

    assert line in settings


def test_an_alias_is_read_where_it_is_used() -> None:
    """A part that is named once and used twice is a part of both."""
    shared = "x: &old {alias: old, bootstrapServers: 'old-1:9092'}\n"
    text = shared + MIRROR.replace('{alias: old, bootstrapServers: "old-1:9092"}', "*old")
    ((_, _, settings),) = read("mirror.yaml", text)

    assert settings[:2] == ["1 alias=old", "1 bootstrapServers=old-1:9092"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("kind: KafkaMirrorMaker2\na: &a [*a]\n", ": an alias (*name) within what it names"),
        ("kind: KafkaMirrorMaker2\na: &a {b: *a}\n", ": an alias (*name) within what it names"),
        (
            "kind: KafkaMirrorMaker2\nx0: &x0 [1, 2]\n"
            + "".join(f"x{i}: &x{i} [*x{i - 1}, *x{i - 1}]\n" for i in range(1, 20)),
            "aliases (*name) that make more than 30,000 names and values",
        ),
        (
            "kind: KafkaMirrorMaker2\nx0: &x0 [1]\n" + "".join(f"x{i}: &x{i} [*x{i - 1}]\n" for i in range(1, 90)),
            "more than 50 levels",
        ),
        ("kind: KafkaMirrorMaker2\nspec: {a: [}\n", "mirror.yaml:2: Instead of "),
        ("kind: KafkaMirrorMaker2\nspec: {{ .Values.x }}\n", "only other resources"),
    ],
)
def test_documents_that_cannot_be_read_are_refused_with_their_line(text: str, reason: str) -> None:
    """An alias makes no small text huge, and no loop."""
    if "Values" in text:
        assert [each[0] for each in read("mirror.yaml", text)] == ["strimzi"]
    else:
        said = refused("mirror.yaml", text)
        assert all(part in said for part in reason.split("…"))


def test_properties_in_a_config_map_have_the_lines_of_the_file() -> None:
    """A ConfigMap holds each file under its name; a file of another program is passed over."""
    text = (
        "kind: ConfigMap\ndata:\n  log4j.properties: |\n    log4j.rootLogger=INFO\n  mm2.properties: |-\n\n"
        + indented(f"{HEAD}task.max = 4\n", "    ")
        + "  consumer.properties: |\n    bootstrap.servers=old-1:9092\n    group.id=a\n"
    )
    files = read("map.yaml", text)

    assert [(kind, line) for kind, line, _ in files] == [("mirrormaker2", 6), ("mirrormaker1-consumer", 14)]
    assert found("map.yaml", text, LintCode.KEY_MISSPELLED) == ["12 KEY_MISSPELLED"]


def test_a_script_and_a_connector_in_a_config_map_are_read() -> None:
    """The name and the content of an entry decide about its kind, as for a file."""
    text = "kind: ConfigMap\ndata:\n  run.sh: |\n    #!/bin/sh\n    kafka-mirror-maker.sh \\\n      --whitelist a\n"
    text += '  c.json: "{\\"connector.class\\": \\"MirrorSourceConnector\\"}"\n'

    assert read("map.yaml", text) == [
        ("mirrormaker1-command", 5, ["6 --whitelist=a"]),
        ("connectors", 7, ["7 connector.class=MirrorSourceConnector"]),
    ]


def test_a_broken_entry_of_a_config_map_is_refused_with_its_line() -> None:
    """The line of a mistake within an entry is that of the file."""
    text = 'kind: ConfigMap\ndata:\n  c.json: |\n    {"connector.class": "x",\n     "a" }\n'

    assert ": Expecting ':' delimiter" in (said := refused("map.yaml", text))
    assert "map.yaml:5: Instead of " in said


def connector(name: str, more: str) -> str:
    """Return the properties of a connector."""
    return f"connector.class=org.apache.kafka.connect.mirror.{name}\nsource.cluster.alias=a\n{more}\n"


@pytest.mark.parametrize("is_encoded", [False, True])
def test_properties_of_a_connector_in_a_secret_are_read(is_encoded: bool) -> None:
    """A value of `data` is decoded and stands on one line; one of `stringData` has the lines of the file."""
    text = connector("MirrorHeartbeatConnector", "replication.policy.class=x.Y")
    value = b64encode(text.encode()).decode() if is_encoded else "|\n" + indented(text, "    ")
    ((kind, _, settings),) = read(
        "secret.yaml", f"kind: Secret\n{'data' if is_encoded else 'stringData'}:\n  a.properties: {value}\n"
    )

    assert kind == "connectors"
    assert settings[2] == f"{3 if is_encoded else 6} replication.policy.class=x.Y"


@pytest.mark.parametrize("value", ["'!'", "/w==", "Yg==", "[a]"])
def test_values_of_a_secret_that_are_no_text_are_passed_over(value: str) -> None:
    """A key store, a broken value and a password are no files."""
    assert "only other resources" in refused("secret.yaml", f"kind: Secret\ndata:\n  a: {value}\n")


def test_json_of_other_programs_in_a_config_map_is_passed_over() -> None:
    """A dashboard beside the settings hides none of them."""
    text = 'kind: ConfigMap\ndata:\n  b.json: "{\\"title\\": 1}"\n  consumer.properties: "group.id=a"\n'

    assert [kind for kind, *_ in read("map.yaml", text)] == ["mirrormaker1-consumer"]


@pytest.mark.parametrize(
    ("source", "checkpoint", "expected"),
    [
        ("offset-syncs.topic.location=target", "", ["6 LOCATIONS_DIFFER"]),
        ("", "offset-syncs.topic.location=target", ["13 LOCATIONS_DIFFER"]),
        ("offset-syncs.topic.location=source", "", []),
        ("offset-syncs.topic.location=target", "offset-syncs.topic.location=target", []),
        ("replication.policy.class=IdentityReplicationPolicy", "", ["11 POLICIES_DIFFER"]),
    ],
)
def test_connectors_of_different_documents_are_compared(source: str, checkpoint: str, expected: list[str]) -> None:
    """A source and a checkpoint connector that do not fit are found, wherever each of them stands."""
    parts = connector("MirrorSourceConnector", source), connector("MirrorCheckpointConnector", checkpoint)
    text = "---\n".join(f"kind: Secret\nstringData:\n  a: |\n{indented(part, '    ')}" for part in parts)

    assert found("a.yaml", text, LintCode.LOCATIONS_DIFFER, LintCode.POLICIES_DIFFER) == expected


def test_mirrormaker1_of_strimzi_is_a_consumer_a_producer_and_a_command() -> None:
    """The operator writes two client files and the options of the command."""
    text = (
        "kind: KafkaMirrorMaker\nspec:\n  version: 2.8.0\n  whitelist: a|b\n  consumer:\n    bootstrapServers: o:1\n"
        "    groupId: g\n    numStreams: 2\n    config: {auto.offset.reset: latest}\n"
        "  producer:\n    bootstrapServers: n:1\n    abortOnSendFailure: false\n    config:\n      acks: 1\n"
    )
    consumer, producer, command = read("mirror.yaml", text)

    assert consumer[2] == ["6 bootstrapServers=o:1", "7 groupId=g", "8 numStreams=2", "9 auto.offset.reset=latest"]
    assert producer[2] == ["11 bootstrapServers=n:1", "12 abortOnSendFailure=false", "14 acks=1"]
    assert {"4 whitelist=a|b", "8 consumer.numStreams=2", "12 producer.abortOnSendFailure=false"} <= set(command[2])
    codes = LintCode.OPTION_MISSING, LintCode.GROUP_MISSING, LintCode.FAILURE_IGNORED
    assert found("mirror.yaml", text, *codes) == ["12 FAILURE_IGNORED"]


def test_connectors_and_workers_of_strimzi_are_read() -> None:
    """A KafkaConnector is a connector, with the name of the resource, and a KafkaConnect is a worker."""
    text = (
        "kind: KafkaConnector\nmetadata: {name: copy}\nspec:\n"
        "  class: org.apache.kafka.connect.mirror.MirrorSourceConnector\n  tasksMax: 4\n  config:\n    topics: [a, b]\n"
        "---\nkind: KafkaConnect\nspec:\n  bootstrapServers: n:1\n  config:\n    group.id: g\n    producer.acks: 1\n"
    )

    assert read("connect.yaml", text) == [
        ("connect-worker", 9, ["11 bootstrap.servers=n:1", "13 group.id=g", "14 producer.acks=1"]),
        ("connectors", 0, ["2 name=copy", "4 connector.class=org.apache.kafka.connect.mirror.MirrorSourceConnector",
                           "5 tasks.max=4", "7 topics=a,b"]),
    ]  # fmt: skip
    assert found("connect.yaml", text, LintCode.VALUE_NOT_TEXT) == ["7 VALUE_NOT_TEXT"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "services:\n  mirror:\n    command: kafka-mirror-maker --whitelist a|b\n",
            ["3 --whitelist=a|b"],
        ),
        (
            'services:\n  mirror:\n    command: ["kafka-mirror-maker",\n      "--whitelist",\n      "a|b"]\n',
            ["4 --whitelist=a|b"],
        ),
        (
            "services:\n  mirror:\n    entrypoint: kafka-mirror-maker\n    command:\n      - --whitelist=$WL\n"
            "    environment:\n      - WL=a\n",
            ["5 --whitelist=$WL"],
        ),
        (
            'services:\n  mirror:\n    command: >\n      bash -c "sleep 5 && kafka-mirror-maker\n'
            "      --num.streams 2\n      --whitelist '$$WL|b'\"\n    environment: {WL: a}\n",
            ["5 --num.streams=2", "6 --whitelist=$WL|b"],
        ),
        (
            "mirror:\n  image: kafka\n  command: |\n    kafka-mirror-maker\n      --whitelist a\n",
            ["5 --whitelist=a"],
        ),
        (
            "kind: Deployment\nspec:\n  containers:\n    - name: a\n      command: [sh, -c]\n      args:\n        - |\n"
            "          set -e\n          exec kafka-mirror-maker.sh \\\n            --whitelist $WL\n"
            "      env: [{name: WL, value: a}]\n",
            ["10 --whitelist=a"],
        ),
        (
            "kind: Pod\nspec:\n  containers:\n    - image: mirror\n      args:\n        - --consumer.config=c\n"
            "        - --whitelist=$(WL)\n        - --num.streams=$(N)\n      env:\n        - {name: WL, value: a}\n"
            "        - {name: N, valueFrom: {secretKeyRef: {name: s, key: k}}}\n",
            ["6 --consumer.config=c", "7 --whitelist=a", "8 --num.streams=$(N)"],
        ),
        (
            "services:\n  mirror:\n    environment:\n      KAFKA_OPTS: -Djava.security.auth.login.config=/j\n"
            "    command: kafka-mirror-maker --whitelist a\n",
            ["5 --whitelist=a", "4 -Djava.security.auth.login.config=/j"],
        ),
    ],
)
def test_commands_of_containers_have_their_lines(text: str, expected: list[str]) -> None:
    """Containers and services start MirrorMaker with a text or a list; what the container sets is put in."""
    ((kind, _, settings),) = read("file.yaml", text)

    assert (kind, settings) == ("mirrormaker1-command", expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spec: {}\n", ["2 KEY_REPEATED"]),
        ("metadata: {name: a, name: b}\n", ["10 KEY_REPEATED"]),
        ("metadata: {name: a, name: a}\n", []),
    ],
)
def test_keys_that_are_given_twice_are_found(text: str, expected: list[str]) -> None:
    """Of two parts of the same name only the last is used."""
    assert found("mirror.yaml", f"{MIRROR}{text}", LintCode.KEY_REPEATED) == expected


def test_a_pattern_that_is_given_twice_is_found_and_listed() -> None:
    """Both lines are settings, so that neither `lint` nor `import` leaves one out."""
    text = f"{MIRROR}      topicsPattern: audit\n"
    ((_, _, settings),) = read("mirror.yaml", text)

    assert {"9 topicsPattern=orders", "10 topicsPattern=audit"} <= set(settings)
    assert found("mirror.yaml", text, LintCode.KEY_REPEATED) == ["9 KEY_REPEATED"]


def test_a_compose_file_may_be_given_as_a_command() -> None:
    """`--kind mirrormaker1-command` fits YAML, whose services have commands."""
    text = "services:\n  mirror:\n    command: kafka-mirror-maker --whitelist a\n"

    assert read("compose.yml", text, FileKind.COMMAND) == [("mirrormaker1-command", 3, ["3 --whitelist=a"])]
