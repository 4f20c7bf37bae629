"""No text makes the linter or the importer fail."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_migration.core.findings.errors import Refused
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.mirrormaker_files.model.mirror_settings import FileKind
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint
from kafka_migration.mirrormaker_import.proposal import import_files
from tests.unit.mirrormaker_files.planted import HEAD

pytestmark = pytest.mark.unit

WORDS = [
    *(
        "clusters",
        "old",
        "new",
        "old->new",
        "->",
        ".",
        "=",
        ":",
        ",",
        " ",
        "\n",
        "\\",
        "#",
        '"',
        "'",
        "{",
        "}",
        "[",
        "]",
    ),
    *("enabled", "topics", "topics.exclude", "groups", "bootstrap.servers", "replication.factor", "tasks.max", "true"),
    *("1", "-1", "9" * 5000, "host:9092", ".*", "(a|b)*", "a{1,3}", "\u202e", "é", "\x00", "\t", "${file:x:y}", "- "),
    *("producer.", "consumer.", "linger.ms", "sasl.jaas.config", "password=", "security.protocol", "SASL_SSL"),
    *("kind: KafkaMirrorMaker2", "spec:", "mirrors:", "clusters:", "alias:", "connector.class", "source.cluster.alias"),
    *(
        "kind: ConfigMap",
        "kind: KafkaConnector",
        "kind: KafkaMirrorMaker",
        "data:",
        "  a: |",
        "    ",
        "---\n",
        "&a ",
        "*a",
    ),
    *("<<: ", "<<EOF", "EOF", "services:", "command: ", "- ", "$A", "A=", "${", "$(", ")", "`", "^", "%A%", "\ufeff"),
    *("CMD [", "ExecStart=", "if ", "fi", "bash -c ", "null", "\u00a0", "\\u12", "-whitelist"),
    *(
        "echo ",
        "printf ",
        "echo -e ",
        "%s",
        "> f\n",
        ">> f\n",
        "| tee f\n",
        "rm f\n",
        "sed -i s/a/b/ f\n",
        "envsubst < f",
    ),
    *(
        "sed -i s/a/b/ f\n",
        "FROM x\n",
        "ENV A b\n",
        "} > f\n",
        "connect-mirror-maker.sh f\n",
        "--consumer.config f ",
        "A='a=1\\nb=2'\n",
    ),
    *("kafka-mirror-maker.sh", "--whitelist", "--consumer.config", "--num.streams", "&", "|", ">"),
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=60).map("".join)
KEYS = st.sampled_from(
    [
        *(
            "topics",
            "old->new.topics",
            "topics.exclude",
            "groups",
            "tasks.max",
            "replication.factor",
            "bootstrap.servers",
        ),
        *("replication.policy.class", "old.bootstrap.servers", "new.security.protocol", "new.sasl.mechanism"),
        *("new.sasl.jaas.config", "old.consumer.isolation.level", "new.producer.linger.ms", "source.cluster.alias"),
        *("new.exactly.once.source.support", "new.ssl.endpoint.identification.algorithm", "old.consumer.client.rack"),
    ]
)
VALUES = st.lists(
    st.sampled_from([*WORDS, "read_committed", "read_uncommitted", "enabled", "SCRAM-SHA-512", "zstd"]), max_size=4
)
LINES = st.lists(st.tuples(KEYS, VALUES.map("".join)).map("=".join), max_size=12)


def imported_text(text: str, kind: FileKind | None) -> str | None:
    """Return the migration file for a text; `None` if it is refused."""
    with contextlib.suppress(Refused):
        files = read_mirror_files("file", text, kind)
        lint(files, kafka_keys())
        return import_files(files, "copied").text
    return None


@pytest.mark.parametrize("kind", [*FileKind, None])
@given(text=TEXTS)
@settings(max_examples=75)
def test_any_text_is_read_or_refused(kind: FileKind | None, text: str) -> None:
    """Each text is refused with a code, or has findings."""
    imported_text(text, kind)


@pytest.mark.campaign
@pytest.mark.parametrize("kind", [*FileKind, None])
@given(text=TEXTS)
@settings(max_examples=1_500)
def test_many_texts_are_read_or_refused(kind: FileKind | None, text: str) -> None:
    """The same with many more texts."""
    imported_text(text, kind)


@given(lines=LINES)
@example(lines=["old->new.topics=^"])
@example(lines=["old->new.topics=^$"])
@example(lines=["old->new.groups=$"])
@example(lines=["old->new.topics.exclude=^"])
@settings(max_examples=75)
def test_any_settings_give_a_valid_file(lines: list[str]) -> None:
    """What is imported from a flow with any values is a valid migration file."""
    assert_valid(lines)


@pytest.mark.campaign
@given(lines=LINES)
@settings(max_examples=3_000)
def test_many_settings_give_a_valid_file(lines: list[str]) -> None:
    """The same with many more values."""
    assert_valid(lines)


def assert_valid(lines: list[str]) -> None:
    """Import a flow with these lines, and load what is written."""
    if text := imported_text("\n".join([HEAD, *lines]), FileKind.MIRRORMAKER2):
        load_migration(text, where="copied.yaml")
