"""`kafka-migration import` on the configurations of public repositories and guides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.core.discovery.connections_to_create import ConnectionToCreate
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.patterns import matches
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.mirrormaker_files.model.mirror_settings import Flow, MirrorFile
from kafka_migration.mirrormaker_files.rules.linter import lint
from kafka_migration.mirrormaker_import.chosen_flow import ChosenFlow
from kafka_migration.mirrormaker_import.imported_flow import ImportChoices, ImportedFlow
from kafka_migration.mirrormaker_import.imported_names import NameItem, TopicChoice
from kafka_migration.mirrormaker_import.line_values import LineValues
from kafka_migration.mirrormaker_import.names_on_target import TargetNames
from kafka_migration.mirrormaker_import.proposal import Imported, file_text, import_files
from tests.golden import assert_golden
from tests.unit.mirrormaker_files.planted import CLEAN, CONSUMER, HEAD, PLANTED, PRODUCER, START
from tests.unit.mirrormaker_files.public_files import PUBLIC
from tests.unit.mirrormaker_files.reading import read_mirror_file

pytestmark = pytest.mark.unit

GOLDEN = Path(__file__).with_name("public_files.golden")


def read(texts: Mapping[str, str]) -> list[MirrorFile]:
    return [read_mirror_file(name, text) for name, text in texts.items()]


def imported(texts: Mapping[str, str]) -> Imported:
    files = read(texts)
    flows = [str(flow) for file in files for flow in file.flows]
    return import_files(files, "copied", flows[0] if flows else None)


def result(texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the findings, the uses, the connections and the migration file, or the refusals."""
    try:
        yield from (f"{each.file}:{each.line} {each.severity} {each.code}" for each in lint(read(texts), kafka_keys()))
        found = imported(texts)
    except Refused as refused:
        yield from (f"refused: {finding}" for finding in refused.findings)
        return
    yield from (f"{use.file}:{use.line} {use.use}: {use.key} -> {use.where}" for use in found.uses)
    yield from (connection.command() for connection in found.connections[:2])
    yield from found.text.splitlines()
    yield from (f"check {each.about}: {each.text}" for each in found.checks)


def test_public_files_have_their_golden_result() -> None:
    """Findings, uses, connections and migration file are those of the golden file, which people have read."""
    assert_golden(GOLDEN, {name: "\n".join(result(texts)) for name, texts in PUBLIC.items()})


@pytest.mark.parametrize("name", PUBLIC)
def test_every_setting_has_a_use(name: str) -> None:
    """No setting is left out, and no secret is in the result."""
    files = read(PUBLIC[name])
    try:
        found = imported(PUBLIC[name])
    except Refused:
        return
    settings = sorted((file.name, each.line) for file in files for each in file.settings)

    assert sorted((use.file, use.line) for use in found.uses) == settings
    assert "planted-secret" not in str(found)
    load_migration(found.text, where="copied.yaml")


@pytest.mark.parametrize("name", [name for name, (text, _) in PLANTED.items() if text.startswith(HEAD)])
def test_a_file_with_mistakes_is_imported_or_refused(name: str) -> None:
    """Mistakes never give an invalid migration file, and never show a secret."""
    try:
        found = imported({name: PLANTED[name][0]})
    except Refused as refused:
        results = [str(finding.code) for finding in refused.findings]
    else:
        results = [load_migration(found.text, where="copied.yaml").name]
        assert "planted-secret" not in str(found)
    assert set(results) in ({"copied"}, {"MIRROR_FILE_NOT_IMPORTED"})


def test_the_intent_is_kept() -> None:
    """Names, policy, tasks, replicas, isolation, tuning and groups are those of the file."""
    more = "new.producer.linger.ms = 20\ntopics.exclude = tmp-.*\nold->new.topics = orders, payments[.]eu, tmp-1\n"
    text = f"{CLEAN['dedicated.properties']}{more}"
    migration = load_migration(imported({"mm2.properties": text}).text, where="copied.yaml")

    assert migration.topics == ("orders", "payments.eu")
    assert (migration.mirror.tasks, migration.mirror.topic_names.naming) == (4, "identity")
    assert migration.mirror.isolation_level == "read_committed"
    assert dict(migration.mirror.properties) == {"producer.linger.ms": "20"}
    assert migration.cutover.groups == ("(?!console-consumer-|connect-|__)shop-.*",)


def test_a_flow_wins_over_the_top_level() -> None:
    """A key of the flow counts, also if the top level has the key further below."""
    text = imported({"mm2.properties": f"{HEAD}old->new.tasks.max = 3\ntasks.max = 9\ntopics = other\n"}).text

    assert "tasks: 3" in text
    assert "other" not in text


def test_mirrormaker1_needs_its_command_line() -> None:
    """Without the command line the topics are not known, so nothing is proposed."""
    with pytest.raises(Refused) as refused:
        imported({"consumer.properties": CONSUMER, "producer.properties": PRODUCER})

    assert refused.value.findings[0].remedy == "Add the script with the command line, or give the topics with --topics."


def test_several_flows_need_a_name() -> None:
    """With several enabled flows nothing is chosen by the package."""
    files = read({"mm2.properties": f"{HEAD}new->old.enabled = true\n"})
    with pytest.raises(Refused) as refused:
        import_files(files, "copied")

    assert "--flow" in refused.value.findings[0].remedy
    assert import_files(files, "copied", "new->old").text.count('connection: "new_kafka"') == 1


def test_names_and_patterns_of_mirrormaker1_are_separated_by_bars() -> None:
    """`a|b` of the command line are two names; a group stays one pattern."""
    files = {
        "consumer.properties": CONSUMER,
        "producer.properties": PRODUCER,
        "s.sh": f"{START} --whitelist 'a|b,(c|d)x'\n",
    }
    text = imported(files).text

    assert '  - "a"\n  - "b"\n  - pattern: "(c|d)x"\n' in text


def of_mirrormaker1(*, to_mirrormaker2: bool = False) -> str:
    files = {"consumer.properties": CONSUMER, "producer.properties": PRODUCER, "s.sh": f"{START} --whitelist a\n"}
    return import_files(read(files), "copied", choices=ImportChoices(to_mirrormaker2=to_mirrormaker2)).text


def test_group_of_mirrormaker1_is_not_moved() -> None:
    """The group of the old MirrorMaker is no consumer of the topics; groups whose names begin alike are moved."""
    (group,) = re.findall(r"^group\.id *= *(\S+)$", CONSUMER, re.MULTILINE)
    migration = load_migration(of_mirrormaker1(), where="copied.yaml")

    moved = [name for name in (group, f"{group}-2", "billing") if matches(name, migration.cutover.groups)]
    assert moved == [f"{group}-2", "billing"]


def test_mirrormaker2_replaces_mirrormaker1() -> None:
    """On request the migration runs MirrorMaker 2, which keeps the names too; the rest is the same."""
    before, after = of_mirrormaker1(), of_mirrormaker1(to_mirrormaker2=True)

    assert after == before.replace('engine: "mirrormaker1"', 'engine: "mirrormaker2"')
    assert load_migration(after, where="copied.yaml").mirror.topic_names.naming == "identity"


ALIASES = ("0x10", "1e3", "010", "2030-01-01", "null", "on", "no", "true", "inf", "0b1", "123")


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_stays_a_text(alias: str) -> None:
    """An alias that YAML would read as a number, a date or a keyword stays the text that it is."""
    text = (
        f"clusters = {alias}, new\n{alias}.bootstrap.servers = a:1\nnew.bootstrap.servers = b:1\n"
        f"{alias}->new.enabled = true\n{alias}->new.topics = orders\n"
    )

    migration = load_migration(imported({"mm2.properties": text}).text, where="copied.yaml")
    assert (alias, f"{alias}_kafka") == (migration.source.alias, migration.source.connection)


TEXTS = st.text(max_size=20)


@given(data=st.data())
def test_every_text_is_written_as_it_is(data: st.DataObject) -> None:
    """Every text of a proposal is read back unchanged, whatever it is made of."""
    name, source, target, topic, group, key, value = (data.draw(TEXTS) for _ in range(7))
    alias = data.draw(st.from_regex(r"[a-z0-9][a-z0-9-]{0,5}", fullmatch=True) | st.sampled_from(ALIASES))
    items = tuple(NameItem(text, is_name=is_name) for text in (topic, value) for is_name in (True, False))
    clusters = [ConnectionToCreate(each, {"extra": {"security.protocol": "SSL"}}) for each in (source, target)]
    flow = SimpleNamespace(
        name=name,
        files=[SimpleNamespace(name=key)],
        chosen=ChosenFlow(Flow(alias, group)),
        choices=ImportChoices(),
        clusters=clusters,
        topics=TopicChoice(items, items),
        groups=(group,),
        names=TargetNames("prefixed", alias),
        values=LineValues(isolation_level=value, properties={key: value}),
        engine="mirrormaker2",
    )

    read_back = yaml.safe_load(file_text(cast(ImportedFlow, flow)))
    assert (name, source, alias) == (read_back["name"], *read_back["source"].values())
    assert (target, "mirror_host") == (read_back["target"]["connection"], read_back["mirror"]["connection"])
    assert [topic, value] == [each for each in read_back["topics"] if isinstance(each, str)]
    assert [topic, value] == [
        each["pattern"] for each in read_back["topics"] if isinstance(each, dict) and "pattern" in each
    ]
    assert (value, {key: value}) == (read_back["mirror"]["isolation_level"], read_back["mirror"]["properties"])
    assert [group] == read_back["cutover"]["groups"]


FLOW = "clusters = a, b\na->b.enabled = true\n"


def test_names_with_a_form_of_a_secret_are_taken() -> None:
    """A topic with a digest in its name, and a broker with a word for a secret, are no secrets."""
    topic, broker = "tenant.9f86d081884c7d659a2feaa0c55ad015", "token-broker1.example:9092"
    found = imported({"f": f"{FLOW}a.bootstrap.servers = {broker}\na->b.topics = x, {topic}\n"})

    assert topic in found.text
    assert broker == found.connections[0].fields["extra"]["bootstrap.servers"]


@pytest.mark.parametrize("secret", ["AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJIUzI1NiJ9", "glpat-abc", "password=x"])
def test_secrets_among_names_are_refused(secret: str) -> None:
    """An item with the form of a key is refused by its position, and an address with one is not shown."""
    with pytest.raises(Refused, match="item 2, a value that is not shown: it looks like a secret") as refused:
        imported({"f": f"{FLOW}a->b.topics = x, {secret}\n"})
    assert secret not in str(refused.value)

    for address in (f"{secret}:9092", "user:token:9092", "u:token@host:9092"):
        found = imported({"f": f"{FLOW}a.bootstrap.servers = {address}\na->b.topics = x\n"})
        assert "<ADDRESSES>" == found.connections[0].fields["extra"]["bootstrap.servers"]
