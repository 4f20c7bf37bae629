"""`lint` and `import` show no secret, whatever its key is called and wherever it stands."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from kafka_migration.core.findings.errors import Refused
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.rules.linter import lint
from kafka_migration.mirrormaker_import.proposal import import_files
from tests.unit.mirrormaker_files.canaries import CANARY, texts, with_secret_forms, with_secret_keys
from tests.unit.mirrormaker_files.planted import CONSUMER, HEAD, START
from tests.unit.mirrormaker_files.reading import read_mirror_file

pytestmark = pytest.mark.unit

RESOURCE = "kind: KafkaMirrorMaker2\nspec:\n"
JSON = '{"connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",'
PEM = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC+{}/x3k9"

# Files that no sample is like: broken ones, other formats, and secrets at places that are no values.
ODD = {
    "open.json": f'{JSON} "sasl.password": "{CANARY}',
    "comma.json": f'{JSON} "sasl.password": "{CANARY}",}}',
    "escape.json": f'{JSON} "sasl.password": "\\{CANARY}"}}',
    "quote.yaml": f'{RESOURCE}  password: "{CANARY}\n  a: b"c: d\n',
    "colon.yaml": f"{RESOURCE}  password: a: {CANARY}\n",
    "tab.yaml": f"{RESOURCE}\tpassword: {CANARY}\n",
    "alias.yaml": f"{RESOURCE}  password: *{CANARY}\n",
    "anchor.yaml": f"{RESOURCE}  a: &{CANARY} 1\n  b: &{CANARY} [\n",
    "tag.yaml": f"{RESOURCE}  a: !{CANARY}!x 1\n",
    "escape.yaml": f'{RESOURCE}  password: "\\{CANARY}"\n',
    "secret.yaml": f"apiVersion: v1\nkind: Secret\ndata:\n  password: {CANARY}\n# kind: KafkaMirrorMaker2\n",
    "kind.yaml": f"kind: {CANARY}\nx:\n  kind: KafkaMirrorMaker2\n",
    "block.yaml": f"{RESOURCE}  clusters:\n    - alias: a\n      config: |\n        sasl.password={CANARY}\n",
    "list.yaml": f"{RESOURCE}  clusters:\n    - alias: a\n      config: [{{password: {CANARY}}}, token={CANARY}]\n",
    "quote.sh": f"{START} --whitelist 'a --password {CANARY}\n",
    "java.sh": f"KAFKA_OPTS=-Djavax.net.ssl.keyStorePassword={CANARY} {START} -Dtoken={CANARY} --whitelist a\n",
    "words.sh": f"{START} --num.streams 4 -Dx.pasword {CANARY} --whitelist 'a*' --password {CANARY}\n",
    "arguments.sh": f"{START} --message.handler.args '{CANARY}*' --whitelist a --tokn={CANARY}\n",
    "here.sh": f"{START} --whitelist a --consumer.config <(cat <<EOF\nsasl.password={CANARY}\nEOF\n)\n",
    "environment.sh": f"export CONNECT_SASL_JAAS_CONFIG='x password=\"{CANARY}\";'\n{START} --whitelist a\n",
    "lines.properties": f'{HEAD}old.sasl.jaas.config = x required\n  username="u"\n  password="{CANARY}";\n',
    "pem.properties": f"{HEAD}old.ssl.keystore.key = -----BEGIN PRIVATE KEY-----\n{PEM.format(CANARY)}\n",
    "joined.properties": f"{HEAD}topics.exclude = a,\\\nold.ssl.keystore.pasword={CANARY}\n",
    "no-separator.properties": f"{HEAD}old.sasl.password\\={CANARY}\n",
    "topic.properties": f"{HEAD}old->new.groups = eyJhbGciOiJIUzI1NiJ9{CANARY}, x*\n",
    "address.properties": HEAD.replace("old-1:9092", f"user:{CANARY}@old-1:9092"),
    "jaas.properties": f"{HEAD}old.security.protocol = SASL_SSL\nold.sasl.mechanism = PLAIN\n"
    f"old.sasl.jaas.config = x required password='a username=\"{CANARY}\"' ;\n",
    "tuning.properties": f"{HEAD}old.consumer.client.rack = AKIA{CANARY.upper()}ABCDEFGH\n",
    "number.properties": f"{HEAD}new.producer.linger.ms = token {CANARY}\n",
    "consumer.properties": f'{CONSUMER}sasl.jas.config="{CANARY}"\nmax.poll.records=password {CANARY}\n',
    "environment.properties": f'{HEAD}CONNECT_SASL_PASSWORD="{CANARY}"\nexport AWS_SECRET_ACCESS_KEY={CANARY} # x\n',
}


def answers(name: str, text: str) -> Iterator[str]:
    """Yield everything that both verbs print about one file, whose first flow is imported."""
    try:
        files = [read_mirror_file(name, text)]
        findings = lint(files, kafka_keys())
        yield from map(str, findings)
        yield json.dumps([each.to_document() for each in findings])
        imported = import_files(files, "copied", next(map(str, files[0].flows), None))
        yield from (imported.text, str(imported.uses), *(each.command() for each in imported.connections))
    except Refused as refused:
        yield from map(str, refused.findings)


def shows_canary(answer: str) -> bool:
    return CANARY.lower() in answer.lower()


def is_harmless(name: str, text: str) -> bool:
    """Return whether the canary became the value of a key that holds no secret, or a field that names a cluster."""
    try:
        file = read_mirror_file(name, text)
    except Refused:
        return False
    held = [each for each in file.settings if CANARY in each.value]
    types = [kafka_keys().types_of(each.key) for each in held]
    return any(found and "PASSWORD" not in found for found in types) or CANARY in "".join(file.clusters)


# Every 57th variant of the samples, so that each position and each variant has its turn in some file. The campaign
# takes two more of each 57, so it has every 19th.
STEP = 57
some_of_each = pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.campaign) for first in (19, 38))]
)


def some_of(variants: Callable[[str], Iterator[str]], first: int) -> Iterator[tuple[str, str]]:
    """Yield variants of the samples from the given one on."""
    every = ((name, variant) for name, text in texts() for variant in variants(text))
    return itertools.islice(every, first, None, STEP)


@some_of_each
def test_no_value_of_a_secret_or_mistyped_key_is_shown(first: int) -> None:
    """A value under a key that names a secret, or that is mistyped, is in no answer."""
    shown = [
        (name, variant)
        for name, variant in some_of(with_secret_keys, first)
        if any(map(shows_canary, answers(name, variant))) and not is_harmless(name, variant)
    ]
    assert shown == []


@some_of_each
def test_no_value_in_the_form_of_a_secret_is_shown(first: int) -> None:
    """A value that looks like a secret is in no answer, whatever its key is."""
    shown = [
        (name, variant)
        for name, variant in some_of(with_secret_forms, first)
        if any(map(shows_canary, answers(name, variant)))
    ]
    assert shown == []


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("verb", ["lint", "import"])
@pytest.mark.parametrize("form", ["table", "json"])
def test_the_command_shows_and_writes_no_secret(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, verb: str, form: str
) -> None:
    """Neither standard output, nor standard error, nor the written file has the secret of an odd file."""
    (tmp_path / name).write_text(ODD[name])
    more = ["--name", "copied", "--write", str(tmp_path)] if verb == "import" else []
    main([verb, str(tmp_path / name), "-o", form, *more])
    written = tmp_path / "copied.yaml"
    answer = capfd.readouterr()

    assert answer.out or answer.err
    assert not shows_canary(answer.out + answer.err)
    assert not written.exists() or not shows_canary(written.read_text())


@pytest.mark.parametrize(
    "argument", [f"https://user:{CANARY}@host/mm2.properties", f"password={CANARY}", f"token={CANARY}/mm2.properties"]
)
@pytest.mark.parametrize("is_there", [True, False])
def test_names_of_files_show_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], argument: str, is_there: bool
) -> None:
    """A secret in the name of a file, or in an address given as one, is not repeated."""
    monkeypatch.chdir(tmp_path)
    if is_there:
        Path(argument).parent.mkdir(parents=True, exist_ok=True)
        Path(argument).write_text(f"{HEAD}task.max = 1\n")
    for command in (["lint", argument], ["import", argument, "--name", "copied", "-o", "json"]):
        main(command)

    assert not shows_canary("".join(capsys.readouterr()))


def test_usage_errors_show_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    """An option that does not exist is named without the secret after it."""
    with pytest.raises(SystemExit):
        main(["lint", "x", "--password", CANARY, f"--token={CANARY}"])

    assert not shows_canary("".join(capsys.readouterr()))


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("tasks.max = four", "'four'"),
        ("replication.factor = 0", "'0'"),
        ("new.config.storage.replication.factor = 7", "'7'"),
        ("sync.topic.acls.enabled = no", "'no'"),
        ("old->new.groups = password-resets*", "'password-resets*'"),
        ("tasks.max = 4 # four", "'4 #…'"),
        ("topic.filter.class = DefaultTopicFilter", "'DefaultTopicFilter'"),
        ("value.converter = org.apache.kafka.connect.json.JsonConverter", "JsonConverter'"),
        ("refresh.topics.interval.seconds = 60000", "60,000 s"),
        ('topics.exclude = "*.internal,__.*"', "*.internal,__.*"),
        ("new.producer.acks = 7", "'7'"),
    ],
)
def test_harmless_values_are_shown(line: str, shown: str) -> None:
    """Numbers, booleans, classes and patterns under Kafka's own keys stay visible."""
    findings = lint([read_mirror_file("mm2.properties", f"{HEAD}{line}\n")], kafka_keys())

    assert any(shown in each.found for each in findings)
