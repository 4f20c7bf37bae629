"""`kafka-migration import` keeps what the files say, as Kafka reads them, or refuses and says why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from textwrap import indent

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.migration.patterns import matches
from kafka_migration.core.migration.settings import Migration
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_import.import_rules import Use
from kafka_migration.mirrormaker_import.imported_flow import ImportChoices
from kafka_migration.mirrormaker_import.proposal import Imported, import_files

pytestmark = pytest.mark.unit

CLUSTERS = "clusters = target, source\nsource.bootstrap.servers = s:1\ntarget.bootstrap.servers = t:1\n"
HEAD = f"{CLUSTERS}source->target.enabled = true\n"
MIRROR = "org.apache.kafka.connect.mirror"
NO_CHOICES, NAMED = ImportChoices(), ImportChoices(naming="identity")


def imported(text: str | Mapping[str, str], flow: str | None = None, choices: ImportChoices = NO_CHOICES) -> Imported:
    texts = {"mm2.properties": text} if isinstance(text, str) else text
    return import_files(
        [file for name, each in texts.items() for file in read_mirror_files(name, each)], "copied", flow, choices
    )


def migration(text: str | Mapping[str, str], flow: str | None = None, choices: ImportChoices = NO_CHOICES) -> Migration:
    return load_migration(imported(text, flow, choices).text, where="copied.yaml")


def refusal(text: str | Mapping[str, str], flow: str | None = None, choices: ImportChoices = NO_CHOICES) -> Finding:
    with pytest.raises(Refused) as refused:
        imported(text, flow, choices)
    return refused.value.findings[0]


def check(found: Imported, about: str) -> str:
    return next(each.text for each in found.checks if each.about == about)


def moved(text: str | Mapping[str, str], *groups: str) -> list[str]:
    patterns = migration(text).cutover.groups
    return [group for group in groups if matches(group, patterns)]


NOT_ENABLED = {
    "nothing": "",
    "a comment": "source->target.enabled = true # copy\n",
    "another word": "source->target.enabled = yes\n",
    "false": "source->target.enabled = false\n",
    "an unknown alias": "surce->target.enabled = true\n",
    "the top level": "enabled = true\n",
}


@pytest.mark.parametrize("name", NOT_ENABLED)
def test_a_direction_is_never_guessed(name: str) -> None:
    """Without a flow that Kafka reads as enabled nothing is imported; the order of `clusters` says nothing."""
    finding = refusal(f"{CLUSTERS}{NOT_ENABLED[name]}topics = orders\n")

    assert "source->target" in finding.expected
    assert "--flow" in finding.remedy


@pytest.mark.parametrize("name", sorted(NOT_ENABLED.keys() - {"the top level"}))
def test_a_disabled_flow_is_imported_by_its_name(name: str) -> None:
    """`--flow` imports a flow that is not enabled, and says so; the named flow gives the direction."""
    found = imported(f"{CLUSTERS}{NOT_ENABLED[name]}topics = orders\n", "source->target")

    assert "does not copy source->target" in check(found, "flow")
    assert "s:1" in found.connections[0].command()


def test_a_variable_may_enable_the_flow() -> None:
    """What a variable enables is imported by its name, and the check does not deny it."""
    text = f"{CLUSTERS}source->target.enabled = ${{COPY}}\n"

    assert "--flow" in refusal(text).remedy
    assert check(imported(text, "source->target"), "flow").startswith("Line 4 enables source->target only if")


def test_case_of_enabled() -> None:
    """Connectors read `TRUE` as true, and remove blanks."""
    assert migration(f"{CLUSTERS}source->target.enabled = TRUE \n").source.connection == "source_kafka"


@pytest.mark.parametrize("flow", ["source->other", "source", "source->source", "->"])
def test_an_unknown_flow_is_refused(flow: str) -> None:
    """`--flow` names two clusters of the files."""
    assert "source->target" in refusal(HEAD, flow).expected


@pytest.mark.parametrize("alias", ["Primary", "primary_dc", "A", "9x-Y_z"])
def test_the_alias_stays(alias: str) -> None:
    """An alias with capitals or `_` is the beginning of the names on the target, as with MirrorMaker."""
    found = migration(HEAD.replace("source", alias))

    assert found.target_topic("orders") == f"{alias}.orders"


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ("source.cluster.alias = dc1\n", "dc1.orders"),
        ("source->target.source.cluster.alias = dc2\nsource.cluster.alias = dc1\n", "dc2.orders"),
        ("source.cluster.alias =\nreplication.policy.separator =\n", "orders"),
        (f"replication.policy.class = {MIRROR}.IdentityReplicationPolicy\n", "orders"),
        (f"replication.policy.class = {MIRROR}.DefaultReplicationPolicy\n", "source.orders"),
        (
            f"source->target.replication.policy.class = {MIRROR}.DefaultReplicationPolicy\n"
            f"replication.policy.class = {MIRROR}.IdentityReplicationPolicy\n",
            "source.orders",
        ),
        (f"target.replication.policy.class = {MIRROR}.IdentityReplicationPolicy\n", "source.orders"),
        ("replication.policy.separator = .\n", "source.orders"),
    ],
)
def test_names_are_those_of_the_effective_policy(lines: str, name: str) -> None:
    """Class, alias and separator of the source connector make the names."""
    assert migration(f"{HEAD}{lines}").target_topic("orders") == name


UNNAMED = {
    "a dot in the alias": HEAD.replace("source", "dc.one"),
    "the alias of the target": HEAD.replace("source", "copied-target"),
    "a word of MirrorMaker": HEAD.replace("source", "offset"),
    "another separator": f"{HEAD}replication.policy.separator = _\n",
    "a blank alias": f"{HEAD}source.cluster.alias =\n",
    "no separator": f"{HEAD}replication.policy.separator =\n",
    "a separator with a blank": f"{HEAD}replication.policy.separator = . \n",
    "another class": f"{HEAD}replication.policy.class = com.example.Names\n",
    "a class without its package": f"{HEAD}replication.policy.class = IdentityReplicationPolicy\n",
    "a blank class": f"{HEAD}replication.policy.class =\n",
}


@pytest.mark.parametrize("name", UNNAMED)
def test_other_names_are_refused_or_chosen(name: str) -> None:
    """Names that a migration file cannot give are refused; with `--naming` a person chooses, and reads what changes."""
    assert "--naming" in refusal(UNNAMED[name]).remedy

    found = imported(UNNAMED[name], choices=NAMED)
    assert "orders keeps its name (--naming identity)" in check(found, "names on the target")
    assert "MirrorMaker has" in check(found, "names on the target")


def test_topics_that_came_from_the_target_are_not_copied_back() -> None:
    """With prefixed names MirrorMaker 2 leaves out topics of the target's own, in a chain of clusters too."""
    rules = migration(f"{HEAD}topics = .*\n").rules

    names = ("orders", "target.orders", "other.target.orders", "target", "my-target.orders")
    assert [name for name in names if rules.takes(name)] == ["orders", "target", "my-target.orders"]


@pytest.mark.parametrize("value", ["", " ", '""', ","])
def test_blank_groups_move_none(value: str) -> None:
    """A blank list moves no group, and the check says so."""
    text = f"{HEAD}groups = {value}\n"

    assert moved(text, "billing", "", "x") == []
    assert check(imported(text), "groups").startswith("None")


@pytest.mark.parametrize(
    ("lines", "groups"),
    [
        ("", ["billing", "my-connect-x"]),
        ("groups = .*\n", ["billing", "my-connect-x"]),
        ("groups.exclude =\n", ["billing", "connect-x", "my-connect-x", "console-consumer-1", "__x"]),
        ("groups.blacklist = bill.*\n", ["connect-x", "my-connect-x", "console-consumer-1", "__x"]),
        ("groups.blacklist = bill.*\ngroups.exclude = __x|c.*\n", ["billing", "my-connect-x"]),
        ("groups = connect-x, bill.*|__x\ngroups.exclude = connect\n", ["billing", "connect-x", "__x"]),
        ("groups = .*\nsource->target.groups = billing\n", ["billing"]),
    ],
)
def test_groups_are_those_of_kafkas_filter(lines: str, groups: list[str]) -> None:
    """Groups and their exclusions, with Kafka's defaults, select the same names."""
    names = ("billing", "connect-x", "my-connect-x", "console-consumer-1", "__x")
    assert moved(f"{HEAD}{lines}", *names) == groups


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "did not move groups: sync.group.offsets.enabled"),
        ("sync.group.offsets.enabled = true\n", "wrote their offsets"),
        ("sync.group.offsets.enabled = true\nemit.checkpoints.enabled = false\n", "did not move groups: emit"),
    ],
)
def test_the_check_says_whether_groups_were_moved(lines: str, words: str) -> None:
    """MirrorMaker moves groups only if both settings say so."""
    assert words in check(imported(f"{HEAD}{lines}"), "groups")


@pytest.mark.parametrize(
    ("lines", "tuning"),
    [
        ("target.producer.linger.ms = 5\nsource.producer.linger.ms = 9\n", {"producer.linger.ms": "5"}),
        (
            "source.consumer.max.poll.records = 5\ntarget.consumer.max.poll.records = 9\n",
            {"consumer.max.poll.records": "5"},
        ),
        ("source->target.producer.linger.ms = 5\n", {}),
        ("target.producer.override.linger.ms = 5\n", {}),
        ("source->target.producer.override.linger.ms = 5\n", {"producer.linger.ms": "5"}),
        ("target.linger.ms = 5\nlinger.ms = 5\nproducer.linger.ms = 5\n", {}),
        ("source->target.consumer.max.poll.records = 5\n", {"consumer.max.poll.records": "5"}),
        (
            "source.consumer.max.poll.records = 5\nsource->target.consumer.max.poll.records = 9\n",
            {"consumer.max.poll.records": "5"},
        ),
    ],
)
def test_only_what_the_clients_of_the_records_get_is_taken(lines: str, tuning: dict[str, str]) -> None:
    """Keys of the other side, of other clients, and without effect are not taken, wherever they stand."""
    for text in (lines, "".join(reversed(lines.splitlines(keepends=True)))):
        assert dict(migration(f"{HEAD}{text}").mirror.properties) == tuning


def test_the_replication_factor_that_counts() -> None:
    """A cluster's `replication.factor` has no effect."""
    found = imported(f"{HEAD}replication.factor = 3\nsource.replication.factor = 1\n")

    assert load_migration(found.text, where="copied.yaml").target_replication_factor == 3
    assert [each.use for each in found.uses][-1] is Use.IGNORED


def test_the_list_of_uses_says_what_wins() -> None:
    """The first of two lines, an overridden line and an unknown key are no settings that the package replaces."""
    lines = "tasks.max = 1\ntasks.max = 2\ntopics = a\nsource->target.topics = b\nsync.group.offsets.interval.ms = 1\n"
    found = {(each.line, each.use): each.where for each in imported(f"{HEAD}{lines}").uses}

    assert found[5, Use.REPLACED] == "line 6 gives it again, and that value counts"
    assert found[7, Use.REPLACED] == "line 8 wins over it"
    assert found[9, Use.IGNORED] == "no version of MirrorMaker has this key"


def test_a_comment_after_a_value_is_named() -> None:
    """MirrorMaker takes the comment for a part of the value, so the list says that it is left out."""
    (use,) = [each for each in imported(f"{HEAD}tasks.max = 4 # four\n").uses if each.key == "tasks.max"]

    assert "without the comment" in use.where


@pytest.mark.parametrize(
    ("lines", "factor", "words"),
    [
        ("", 2, "2, MirrorMaker's default"),
        ("replication.factor = 5\n", 5, "5, as in the files"),
        ("replication.factor = -1\n", 3, "(-1)"),
        ("replication.factor = ${env:FACTOR}\n", 3, "no usable number"),
    ],
)
def test_the_check_names_the_replication_factor(lines: str, factor: int, words: str) -> None:
    """The check says where the number comes from."""
    found = imported(f"{HEAD}{lines}")

    assert load_migration(found.text, where="copied.yaml").target_replication_factor == factor
    assert words in check(found, "replication factor")


def connector(kind: str, **more: str) -> str:
    values = {"source.cluster.alias": "a", "target.cluster.alias": "b", **more}
    lines = ", ".join(f'"{key}": "{value}"' for key, value in values.items())
    return f'{{"name": "{kind}", "connector.class": "{MIRROR}.{kind}", {lines}}}'


def test_connectors_of_a_flow_belong_together() -> None:
    """Topics come from the source connector, groups from the checkpoint connector of the same flow."""
    files = {
        "source.json": connector("MirrorSourceConnector", topics="orders", groups="none"),
        "checkpoint.json": connector("MirrorCheckpointConnector", topics="none", groups="billing"),
        "other.json": connector("MirrorCheckpointConnector", groups="other", **{"source.cluster.alias": "c"}),
    }
    for ordered in (files, dict(reversed(files.items()))):
        found = migration(ordered)
        assert (found.topics, moved(ordered, "billing", "other", "none")) == (("orders",), ["billing"])


WORKER = "bootstrap.servers=w:1\nconfig.storage.topic=c\noffset.storage.topic=o\nstatus.storage.topic=s\ngroup.id=g\n"


def test_the_producer_of_a_worker_writes_the_records() -> None:
    """With the worker's file, its addresses and its `producer.` keys count, unless the connector overrides them."""
    more = {"target.cluster.bootstrap.servers": "t:1", "producer.override.linger.ms": "7"}
    files = {
        "connect-distributed.properties": f"{WORKER}producer.linger.ms=5\nproducer.batch.size=9\nproducer.x=1\n",
        "source.json": connector("MirrorSourceConnector", topics="orders", **more),
    }
    for choices in (ImportChoices(to_mirrormaker2=True), NO_CHOICES):
        found = imported(files, choices=choices)
        assert "w:1" in found.connections[1].command()
        tuning = load_migration(found.text, where="copied.yaml").mirror.properties
        assert tuning == {"producer.linger.ms": "7", "producer.batch.size": "9"}


@pytest.mark.parametrize(("version", "groups"), [("", ["billing"]), ("3.9", ["billing"]), ("4.1", ["billing", "x"])])
def test_old_names_count_in_old_versions(version: str, groups: list[str]) -> None:
    """Kafka 4 does not read `groups.blacklist`; without a version, import takes it as it is meant."""
    for line in ("groups.blacklist = x\n", "source->target.groups.blacklist = x\n"):
        found = migration(f"{HEAD}{line}", choices=ImportChoices(kafka_version=version))
        assert [each for each in ("billing", "x") if matches(each, found.cutover.groups)] == groups


def test_variables_of_java_are_in_the_list() -> None:
    """What a script hands to Java is reported, because the host of the migration may need it."""
    text = f"export KAFKA_OPTS=-Djava.security.auth.login.config=/etc/jaas.conf\n{COMMAND} a\n"
    found = {each.key: each.use for each in imported({"start.sh": text}).uses}

    assert found["-Djava.security.auth.login.config"] is Use.REPORTED


def test_connectors_that_disagree_are_named() -> None:
    """Another policy of the checkpoint connector writes offsets for other names."""
    policy = {"replication.policy.class": f"{MIRROR}.IdentityReplicationPolicy"}
    files = {
        "source.json": connector("MirrorSourceConnector", **policy),
        "checkpoint.json": connector("MirrorCheckpointConnector"),
    }
    assert "differ in replication.policy.class" in check(imported(files), "groups")


def test_several_source_connectors_need_a_choice() -> None:
    """Connectors of two flows need `--flow`; two of one flow cannot be one migration."""
    other = connector("MirrorSourceConnector", **{"source.cluster.alias": "c"})
    files = {"a.json": connector("MirrorSourceConnector", topics="x"), "c.json": other}

    assert "a->b, c->b" in refusal(files).expected
    assert migration(files, "a->b").topics == ("x",)
    assert "2 connectors" in refusal({"a.json": connector("MirrorSourceConnector"), "b.json": files["a.json"]}).found


def test_a_connector_without_an_alias_of_the_target() -> None:
    """Kafka's default alias of the target is `target`."""
    text = connector("MirrorSourceConnector").replace('"target.cluster.alias": "b"', '"topics": "x"')

    assert migration({"a.json": text}).target.connection == "target_kafka"


def test_only_checkpoints_copy_nothing() -> None:
    """Without a source connector there is no flow to import."""
    assert "no flow" in refusal({"c.json": connector("MirrorCheckpointConnector")}).found


COMMAND = "kafka-mirror-maker.sh --consumer.config c --producer.config p --whitelist"


def test_commands_of_a_script_are_not_mixed() -> None:
    """Of several commands one is named by its line; the options of the others are in the list."""
    files = {"start.sh": f"{COMMAND} a\n{COMMAND} b\n"}
    assert "line 1 of start.sh, line 2 of start.sh" in refusal(files).found

    found = imported(files, choices=ImportChoices(command=2))
    assert load_migration(found.text, where="copied.yaml").topics == ("b",)
    assert {each.where for each in found.uses if each.line == 1} == {
        "it belongs to another command; import that one with --command"
    }


def test_topics_that_are_given_twice_are_refused() -> None:
    """MirrorMaker 1 does not start with two lists."""
    assert "--topics" in refusal({"start.sh": f"{COMMAND} a --whitelist b\n"}).remedy


@pytest.mark.parametrize("value", ['"$WL"', "${TOPICS:-.*}", "$(cat topics)", "%TOPICS%", "a,$B"])
def test_a_variable_is_no_list_of_topics(value: str) -> None:
    """What only a shell knows is refused, and given with `--topics`."""
    files = {"start.sh": f"{COMMAND} {value}\n"}

    assert "--topics" in refusal(files).remedy
    assert migration(files, choices=ImportChoices(topics="orders, x.*")).rules.taken == ("orders", "x.*")


@pytest.mark.parametrize("key", ["topics", "groups"])
def test_lists_of_other_filters_are_not_known(key: str) -> None:
    """A filter that is not Kafka's decides by itself, so the list must be given."""
    filter_key = f"{key.removesuffix('s')}.filter.class"
    text = f"{HEAD}{filter_key} = com.example.Mine\n"

    assert f"--{key}" in refusal(text).remedy
    assert filter_key.replace(".filter.class", " filter") in check(
        imported(text, choices=ImportChoices(topics="x", groups="y")), "not taken over"
    )


def strimzi(cluster: str) -> dict[str, str]:
    text = (
        "kind: KafkaMirrorMaker2\nspec:\n  connectCluster: b\n  clusters:\n  - alias: a\n    bootstrapServers: a:1\n"
        f"{cluster}  - alias: b\n    bootstrapServers: b:1\n  mirrors:\n  - sourceCluster: a\n    targetCluster: b\n"
        "    sourceConnector:\n      tasksMax: 1\n"
    )
    return {"mm2.yaml": text}


TLS = "    tls:\n      trustedCertificates:\n      - secretName: ca\n        certificate: ca.crt\n"


def login(kind: str, more: str = "") -> str:
    return f"    authentication:\n      type: {kind}\n      username: copy\n{more}"


@pytest.mark.parametrize(
    ("cluster", "protocol", "more"),
    [
        ("", "PLAINTEXT", {}),
        (TLS, "SSL", {"ssl.ca.pem": "<CERTIFICATES OF THE AUTHORITY IN PEM>"}),
        ("    tls: {}\n", "SSL", {}),
        ("    tls:\n", "PLAINTEXT", {}),
        ("    tls: null\n", "PLAINTEXT", {}),
        (TLS + login("tls"), "SSL", {"ssl.key.pem": "<CLIENT KEY IN PEM>"}),
        (TLS + login("scram-sha-512"), "SASL_SSL", {"sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "copy"}),
        (login("plain"), "SASL_PLAINTEXT", {"sasl.mechanism": "PLAIN", "sasl.password": "<PASSWORD>"}),
        (
            TLS + "    authentication:\n      type: oauth\n      clientId: me\n",
            "SASL_SSL",
            {"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.client.id": "me"},
        ),
        (
            TLS + login("custom", "      sasl: true\n      config:\n        sasl.mechanism: AWS_MSK_IAM\n"),
            "SASL_SSL",
            {"sasl.mechanism": "<MECHANISM>"},
        ),
    ],
)
def test_tls_and_login_of_a_resource(cluster: str, protocol: str, more: dict[str, str]) -> None:
    """The connection has the protocol and the mechanism that Strimzi's operator makes, and placeholders for secrets."""
    extra = imported(strimzi(cluster)).connections[0].fields["extra"]

    assert extra["security.protocol"] == protocol
    assert more.items() <= extra.items()


def test_files_of_several_mirrormakers_are_refused() -> None:
    """Settings of one MirrorMaker do not act on another."""
    assert "one MirrorMaker" in refusal({"a.properties": HEAD, "b.properties": HEAD}).expected
    assert "one MirrorMaker" in refusal({"a.properties": HEAD, "start.sh": f"{COMMAND} x\n"}).expected


@pytest.mark.parametrize("line", ["state: stopped", "pause: true", "config: {enabled: false}"])
def test_a_stopped_connector_is_imported_by_its_name(line: str) -> None:
    """A source connector that Strimzi stopped copies nothing."""
    files = {"mm2.yaml": f"{strimzi('')['mm2.yaml']}      {line}\n"}

    assert "--flow" in refusal(files).remedy
    assert "disabled or stopped" in check(imported(files, "a->b"), "flow")


def test_tls_of_a_client_of_mirrormaker1() -> None:
    """A KafkaMirrorMaker resource has its addresses and TLS in fields of the clients."""
    text = (
        "kind: KafkaMirrorMaker\nspec:\n  include: orders\n  consumer:\n    bootstrapServers: s:1\n    groupId: g\n"
        f"{TLS}{login('scram-sha-512')}  producer:\n    bootstrapServers: t:1\n    tls: {{}}\n"
    )
    source, target = (each.fields["extra"] for each in imported({"mm1.yaml": text}).connections[:2])

    assert (source["bootstrap.servers"], source["security.protocol"]) == ("s:1", "SASL_SSL")
    assert (target["bootstrap.servers"], target["security.protocol"]) == ("t:1", "SSL")
    assert source["sasl.username"] == "copy"


@pytest.mark.parametrize("files", [{"mm2.properties": HEAD}, {"s.sh": f"{COMMAND} a\n"}])
def test_every_import_says_that_a_copy_cannot_be_kept(files: dict[str, str]) -> None:
    """The check names the code whose explanation says what to do with what was copied before."""
    (code,) = re.findall("kafka-migration explain ([A-Z_]+)", check(imported(files), "what is already copied"))

    assert "MirrorMaker" in f"{Code(code).act} {Code(code).more}"


def extra(found: Imported, side: int) -> dict[str, str]:
    return dict(found.connections[side].fields["extra"])


@pytest.mark.parametrize("alias", ["", "same"])
def test_clusters_with_one_alias_are_not_mixed(alias: str) -> None:
    """Connectors may have the same alias for both clusters, or blank ones; each connection has its own cluster."""
    both = {"source.cluster.alias": alias, "target.cluster.alias": alias, "replication.policy.separator": ""}
    more = {"source.cluster.bootstrap.servers": "s:1", "target.cluster.bootstrap.servers": "t:1"}
    more |= {"target.cluster.security.protocol": "SSL"}
    found = imported({"a.json": connector("MirrorSourceConnector", **both, **more)}, choices=NAMED)

    assert (extra(found, 0)["bootstrap.servers"], extra(found, 0)["security.protocol"]) == ("s:1", "PLAINTEXT")
    assert (extra(found, 1)["bootstrap.servers"], extra(found, 1)["security.protocol"]) == ("t:1", "SSL")
    uses = {each.key: each.where for each in found.uses}
    assert uses["target.cluster.bootstrap.servers"] == "the connection of the target"


@pytest.mark.parametrize("value", ["${SECURITY}", "$SECURITY", "{{ protocol }}", "%SECURITY%", "", "SASL-SSL"])
def test_an_unknown_protocol_is_a_placeholder(value: str) -> None:
    """A protocol that is known only where MirrorMaker runs, or that Kafka does not have, is never `PLAINTEXT`."""
    found = imported(f"{HEAD}source.security.protocol = {value}\nsource.sasl.mechanism = PLAIN\n")

    assert extra(found, 0)["security.protocol"] == "<PROTOCOL>"
    assert extra(found, 0)["sasl.password"] == "<PASSWORD>"
    assert "source has a security protocol that the files do not give" in check(found, "connections")
    assert [each.use for each in found.uses if each.key == "source.security.protocol"] == [Use.REPORTED]


@pytest.mark.parametrize("value", ["${CHECK}", "$CHECK"])
def test_an_unknown_check_of_host_names_is_not_off(value: str) -> None:
    """Only a blank value switches the check of host names off."""
    lines = "source.security.protocol = SSL\nsource.ssl.endpoint.identification.algorithm = "

    assert migration(f"{HEAD}{lines}{value}\n").source.insecure == ()
    assert migration(f"{HEAD}{lines}\n").source.insecure != ()


def test_the_user_stays_beside_a_reference() -> None:
    """The user name is shown if only the password is a reference, and the one of Azure Event Hubs is no reference."""
    lines = "source.security.protocol = SASL_SSL\nsource.sasl.mechanism = PLAIN\nsource.sasl.jaas.config = "
    users = {"copy": "copy", "$ConnectionString": "$ConnectionString", "${USER}": "<USER>", "$USER": "<USER>"}
    for user, shown in users.items():
        jaas = f'PlainLoginModule required username="{user}" password="${{file:/a:b}}";'
        assert extra(imported(f"{HEAD}{lines}{jaas}\n"), 0)["sasl.username"] == shown


def test_addresses_after_the_name_of_a_listener() -> None:
    """Kafka reads only host and port of `PLAINTEXT://host:port`, so the connection has them."""
    text = HEAD.replace("s:1", "PLAINTEXT://s_1:1, SSL://s2:2")

    assert extra(imported(text), 0)["bootstrap.servers"] == "s_1:1,s2:2"


@pytest.mark.parametrize("value", ["", "$SOURCE", "<prefix>.example.com:9092", "host"])
def test_addresses_that_are_not_used_are_not_called_used(value: str) -> None:
    """Without usable addresses the list and the check say so."""
    found = imported(HEAD.replace("s:1", value))

    assert extra(found, 0)["bootstrap.servers"] == "<ADDRESSES>"
    assert [each.use for each in found.uses if each.key == "source.bootstrap.servers"] == [Use.REPORTED]
    assert "no usable addresses of the source." in check(found, "connections")


def test_a_side_without_lines_is_unknown() -> None:
    """A cluster without any line has no protocol, because a file is missing."""
    found = imported({"start.sh": f"{COMMAND} a\n", "consumer.properties": "bootstrap.servers=s:1\ngroup.id=g\n"})

    assert extra(found, 0)["security.protocol"] == "PLAINTEXT"
    assert extra(found, 1) == {"bootstrap.servers": "<ADDRESSES>", "security.protocol": "<PROTOCOL>"}


def test_the_check_compares_the_clusters() -> None:
    """A flow from a cluster to itself, a protocol by default and a missing worker are named."""
    found = check(imported(HEAD.replace("t:1", "s:1")), "connections")
    assert "a broker in common" in found
    assert "PLAINTEXT, the default, because no line gives another" in found
    assert "worker of Kafka Connect" not in found
    assert "its file was not given" in check(imported({"a.json": connector("MirrorSourceConnector")}), "connections")


def test_lines_of_unknown_clusters_have_no_effect() -> None:
    """A line of a flow between clusters that the file does not have cannot be imported with `--flow`."""
    text = f"{HEAD}surce->target.groups = x\ntarget->source.topics = y\n"
    found = {each.key: each.use for each in imported(text).uses}

    assert found["surce->target.groups"] is Use.IGNORED
    assert found["target->source.topics"] is Use.REPORTED


def test_groups_of_the_command_line_come_without_exclusions() -> None:
    """The list says that `--groups` replaces the exclusions too, and they are not judged."""
    found = imported(f"{HEAD}groups = a\ngroups.exclude = *\n", choices=ImportChoices(groups="b"))

    assert {each.where for each in found.uses if each.key.startswith("groups")} == {"--groups of the command line"}


@pytest.mark.parametrize("value", ["<topics>", "a,<OTHER TOPICS>", "a.*,<name>.*"])
@pytest.mark.parametrize("key", ["topics", "topics.exclude", "groups"])
def test_a_placeholder_is_no_pattern(key: str, value: str) -> None:
    """A text that a person has to replace is refused."""
    assert "variable" in refusal(f"{HEAD}{key} = {value}\n").found


def test_a_look_behind_is_no_placeholder() -> None:
    """Angle brackets of a pattern stay."""
    assert migration(f"{HEAD}topics = .*(?<!<)x,a.*(?<=b>)\n").rules.taken


def test_lines_of_different_connectors_do_not_compete() -> None:
    """A line of the heartbeat connector is not overridden by one of the source connector."""
    files = {
        "source.json": connector("MirrorSourceConnector", **{"tasks.max": "1"}),
        "heartbeat.json": connector("MirrorHeartbeatConnector", **{"tasks.max": "2"}),
    }
    found = imported(files)

    assert not [each for each in found.uses if "wins over it" in each.where]
    assert {each.where for each in found.uses if each.file == "heartbeat.json"} == {
        "the package watches MirrorMaker itself"
    }


def test_lines_of_both_clients_do_not_compete() -> None:
    """A `client.id` of MirrorMaker 1's producer does not win over that of its consumer."""
    files = {
        "start.sh": f"{COMMAND} a\n",
        "consumer.properties": "bootstrap.servers=s:1\ngroup.id=g\nclient.id=c\n",
        "producer.properties": "bootstrap.servers=t:1\nclient.id=p\nacks=all\n",
    }
    assert not [each for each in imported(files).uses if "wins over it" in each.where]


def test_equal_policies_and_unused_converters_are_not_missed() -> None:
    """A policy that both connectors have, and settings that ByteArrayConverter ignores, are not important."""
    policy = {"replication.policy.class": f"{MIRROR}.IdentityReplicationPolicy"}
    files = {
        "s.json": connector("MirrorSourceConnector", **policy, **{"key.converter.schemas.enable": "false"}),
        "c.json": connector("MirrorCheckpointConnector", **policy),
    }
    assert "most important" not in check(imported(files), "not taken over")


@pytest.mark.parametrize(
    ("options", "heap"),
    [("-Xms1g -Xmx2g", 2048), ("-Xmx512m", 512), ("-Xmx1g -Xmx3G", 3072), ("-Xmx64m", 1024), ("-Xmx$HEAP", 1024)],
)
def test_the_heap_is_taken_over(options: str, heap: int) -> None:
    """The heap of MirrorMaker becomes `mirror.heap_mb`, as Java reads it, unless a migration file does not take it."""
    script = f'export KAFKA_HEAP_OPTS="{options}"\n{COMMAND} a\n'
    assert migration({"start.sh": script}).mirror.heap_mb == heap

    value = options.rpartition("-Xmx")[2]
    text = f"{strimzi('')['mm2.yaml']}  jvmOptions:\n    -Xmx: {value}\n"
    assert migration({"mm2.yaml": text}).mirror.heap_mb == heap


@pytest.mark.parametrize("number", ["$STREAMS", "${STREAMS}"])
def test_a_number_that_is_a_reference(number: str) -> None:
    """A number that only a shell knows is reported as a reference."""
    (use,) = [each for each in imported({"s.sh": f"{COMMAND} a --num.streams {number}\n"}).uses if "num" in each.key]

    assert (use.use, use.where) == (Use.REPORTED, "its value is a reference")


def test_exchanged_files_are_refused() -> None:
    """A command that gives the consumer's file to the producer copies in the other direction than the files say."""
    files = {
        "consumer.properties": "bootstrap.servers=s:1\ngroup.id=g\n",
        "producer.properties": "bootstrap.servers=t:1\nacks=all\n",
    }
    right, wrong = (
        ("/etc/consumer.properties", "/etc/producer.properties"),
        ("c:\\producer.properties", "consumer.properties"),
    )
    texts = [
        f"kafka-mirror-maker.sh --consumer.config '{c}' --producer.config '{p}' --whitelist a\n"
        for c, p in (right, wrong)
    ]

    assert "s:1" in imported({**files, "start.sh": texts[0]}).connections[0].command()
    assert "direction" in refusal({**files, "start.sh": texts[1]}).remedy


CONSUMES, PRODUCES = "bootstrap.servers=s:1\ngroup.id=g\n", "bootstrap.servers=t:1\nacks=all\n"
OPTIONS = "--consumer.config /etc/{0} --producer.config /etc/{1} --whitelist a"


def in_a_map(text: str) -> str:
    """Return the two files in a ConfigMap, and a container that starts MirrorMaker."""
    entries = {"consumer.properties": CONSUMES, "producer.properties": PRODUCES}
    data = "".join(f"  {name}: |\n{indent(each, '    ')}" for name, each in entries.items())
    args = ", ".join(f'"{word}"' for word in ["kafka-mirror-maker.sh", *text.split()])
    return f"kind: ConfigMap\ndata:\n{data}---\nkind: Pod\nspec:\n  containers:\n    - command: [{args}]\n"


def in_a_script(text: str) -> str:
    """Return a script that writes the two files and starts MirrorMaker."""
    files = (
        f"cat > /etc/consumer.properties <<EOF\n{CONSUMES}EOF\ncat > /etc/producer.properties <<EOF\n{PRODUCES}EOF\n"
    )
    return f"#!/bin/sh\n{files}kafka-mirror-maker.sh {text}\n"


@pytest.mark.parametrize(("name", "given"), [("all.yaml", in_a_map), ("run.sh", in_a_script)])
def test_exchanged_files_within_one_file_are_refused(name: str, given: Callable[[str], str]) -> None:
    """The parts of a ConfigMap or of a script have names of their own, by which the command takes them."""
    names = ("consumer.properties", "producer.properties")

    assert "s:1" in imported({name: given(OPTIONS.format(*names))}).connections[0].command()
    assert "direction" in refusal({name: given(OPTIONS.format(*reversed(names)))}).remedy


@pytest.mark.parametrize(("version", "words"), [("", "up to Kafka 3.9"), ("3.6", ""), ("4.1", "")])
def test_the_check_names_an_assumed_version(version: str, words: str) -> None:
    """Old names of keys exclude topics up to Kafka 3.9 only, so the check says that this version was assumed."""
    found = imported(f"{HEAD}topics = a.*\ntopics.blacklist = ab\n", choices=ImportChoices(kafka_version=version))

    assert ("Kafka 4 ignores it" in check(found, "topics")) is bool(words)


def test_a_poll_timeout_is_a_key_of_the_connector() -> None:
    """`consumer.poll.timeout.ms` is no setting of a client."""
    (use,) = [each for each in imported(f"{HEAD}consumer.poll.timeout.ms = 5\n").uses if "poll" in each.key]

    assert use.use is Use.REPLACED


TARGET_LOGIN = {
    "target.cluster.bootstrap.servers": "t:1",
    "target.cluster.security.protocol": "SASL_SSL",
    "target.cluster.sasl.mechanism": "PLAIN",
    "source.cluster.bootstrap.servers": "s:1",
}


def test_the_login_of_the_connector_is_not_mixed_with_the_worker() -> None:
    """The worker's producer writes the records with its own login, so the connection has nothing of another client."""
    source = connector("MirrorSourceConnector", **TARGET_LOGIN)
    found = imported({"connect-distributed.properties": WORKER, "source.json": source})

    assert extra(found, 1) == {"bootstrap.servers": "w:1", "security.protocol": "PLAINTEXT"}
    assert "other addresses than those of line 1" in check(found, "connections")
    assert extra(imported({"source.json": source}), 1)["security.protocol"] == "SASL_SSL"


def test_a_worker_that_writes_to_the_source_is_refused() -> None:
    """With a worker on the source cluster the connector's target would become the source."""
    files = {
        "connect-distributed.properties": WORKER.replace("w:1", "s:1"),
        "source.json": connector("MirrorSourceConnector", **TARGET_LOGIN),
    }
    assert "writes to the source" in refusal(files).found


def test_fields_of_a_resource_win_over_its_settings() -> None:
    """Strimzi's operator makes protocol and login from fields, and ignores such keys in `config`."""
    text = (
        "kind: KafkaMirrorMaker\nspec:\n  include: a\n  consumer:\n    bootstrapServers: s:1\n    groupId: g\n"
        f"{TLS}{login('plain')}    config: {{security.protocol: PLAINTEXT}}\n"
        "  producer:\n    bootstrapServers: t:1\n    config: {sasl.mechanism: PLAIN, security.protocol: SASL_SSL}\n"
    )
    found = imported({"mm1.yaml": text})
    assert extra(found, 0)["security.protocol"] == "SASL_SSL"
    assert extra(found, 1) == {"bootstrap.servers": "t:1", "security.protocol": "PLAINTEXT"}

    config = "    config: {security.protocol: PLAINTEXT}\n"
    assert extra(imported(strimzi(f"{TLS}{config}")), 0)["security.protocol"] == "SSL"


def test_a_resource_keeps_its_target() -> None:
    """Strimzi refuses a flow into another cluster than `connectCluster`; with `--flow` its target stays the target."""
    text = strimzi("")["mm2.yaml"].replace("connectCluster: b", "connectCluster: a")
    found = imported({"mm2.yaml": text}, "a->b")

    assert [extra(found, side)["bootstrap.servers"] for side in (0, 1)] == ["a:1", "b:1"]


def test_exclusions_of_mirrormaker1() -> None:
    """`--blacklist` leaves topics out, alone and beside `--topics`."""
    files = {"start.sh": "kafka-mirror-maker.sh --consumer.config c --producer.config p --blacklist 'a.*|b'\n"}
    for choices in (NO_CHOICES, ImportChoices(topics=".*")):
        rules = migration(files, choices=choices).rules
        assert [name for name in ("a", "ab", "b", "c") if rules.takes(name)] == ["c"]


def test_the_addresses_of_the_producer() -> None:
    """A producer with addresses of its own writes the records there, and the line of its cluster is not used."""
    text = f"{HEAD}target.producer.bootstrap.servers = elsewhere:1\n"
    found = imported(text)

    assert extra(found, 1)["bootstrap.servers"] == "elsewhere:1"
    assert "other addresses than those of line 3" in check(found, "connections")
    assert {each.key: each.use for each in found.uses}["target.bootstrap.servers"] is Use.REPLACED
    assert "writes to the source" in refusal(text.replace("elsewhere", "s")).found


def test_transformations_may_rename_topics() -> None:
    """The check of names says that a transformation is not taken over."""
    files = {"s.json": connector("MirrorSourceConnector", transforms="r", **{"transforms.r.type": "RegexRouter"})}

    assert "transformations of line 1, which may give other names" in check(imported(files), "names on the target")


def test_properties_of_mirrormaker1_have_their_own_protocol() -> None:
    """Only a resource of Strimzi has fields that win over settings."""
    files = {
        "start.sh": f"{COMMAND} a\n",
        "consumer.properties": "bootstrap.servers=s:1\ngroup.id=g\nsecurity.protocol=SSL\n",
        "producer.properties": "bootstrap.servers=t:1\nacks=all\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n",
    }
    found = imported(files)
    assert [extra(found, side)["security.protocol"] for side in (0, 1)] == ["SSL", "SASL_SSL"]
