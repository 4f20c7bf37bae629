"""The rules on the text of a file: where Kafka, a shell or Connect reads something other than what is meant."""

from __future__ import annotations

import json

import pytest

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.formats.properties_reader import remarks
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint
from tests.unit.mirrormaker_files.planted import BYTES, CLEAN, HEAD
from tests.unit.mirrormaker_files.reading import found, judged, refused

pytestmark = pytest.mark.unit

CODES = (
    LintCode.FILE_NOT_LOADED,
    LintCode.LINE_NOT_CONTINUED,
    LintCode.COMMENT_IN_VALUE,
    LintCode.COMMENT_NOT_CONTINUED,
    LintCode.SEPARATOR_MISSING,
    LintCode.CHARACTER_MISLEADING,
    LintCode.ENCODING_WRONG,
    LintCode.VALUE_NOT_TEXT,
    LintCode.VALUE_NULL,
    LintCode.CONNECTOR_OF_OTHER_PRODUCT,
    LintCode.KEY_UNKNOWN,
    LintCode.KEY_MISSPELLED,
    LintCode.KEY_MISPLACED,
    LintCode.KEY_REPEATED,
)


def connector(more: str, name: str = "org.apache.kafka.connect.mirror.MirrorSourceConnector") -> str:
    converters = ", ".join(f'"{each}.converter": "{BYTES}"' for each in ("key", "value", "header"))
    return f'{{"name": "copy", "config": {{\n"connector.class": "{name}", {converters},\n{more}}}}}'


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("tasks.max = \\u00g1\n", ["6 FILE_NOT_LOADED"]),
        ("a.b = 1\\u\n", ["6 FILE_NOT_LOADED", "6 KEY_UNKNOWN"]),
        ("groups = a,\\\n  \\u12\n", ["7 FILE_NOT_LOADED"]),
        ("topics.exclude = \\\\u00g1\n", []),
        ("topics.exclude = a,\\ \n  b\ntasks.max = 1\n", ["6 LINE_NOT_CONTINUED"]),
        ("topics.exclude = a,\\\n  b,\\ \n  c, d\n", ["7 LINE_NOT_CONTINUED"]),
        ("topics.exclude = a,\\\\ \n", []),
        ("topics.exclude = a,\\\n  # not b\n  c\n", ["7 COMMENT_IN_VALUE", "8 SEPARATOR_MISSING"]),
        ("topics.exclude = a,\\\n  # not b,\\\n  c\n", ["7 COMMENT_IN_VALUE"]),
        ("topics.exclude = a,\\\n  ! x,\\\n  # y,\\\n c\n", ["7 COMMENT_IN_VALUE"]),
        ("# topics.exclude = a, \\\n  b, \\\n  c\n", ["6 COMMENT_NOT_CONTINUED"]),
        ("# a note \\\ntasks.max = 4\n", []),
        ("# a note \\\n# and more\nrefresh.topics.enabled true\n", []),
        ("topics.exclude = a,\n  b, c\n", ["7 SEPARATOR_MISSING"]),
        ("topics.exclude = a,\n  b.c\n  d.e\n", ["7 SEPARATOR_MISSING"]),
        ("refresh.topics.enabled true\n", []),
        ("com.acme.key value\n", ["6 KEY_UNKNOWN"]),
        ("refresh.topics.enabled\n", ["6 SEPARATOR_MISSING"]),
        ("tasks.max =\u00a04\n", ["6 CHARACTER_MISLEADING"]),
        ("tasks.max\u00a0= 4\n", ["6 CHARACTER_MISLEADING"]),
        ("tasks.max\u200b = 4\n", ["6 CHARACTER_MISLEADING"]),
        ("tasks.max \uff1d 4\n", ["6 CHARACTER_MISLEADING"]),
        ("\ufefftasks.max = 4\n", ["6 CHARACTER_MISLEADING"]),
        ("topics.exclude = \u201ea\u201c\n", ["6 CHARACTER_MISLEADING"]),
        ("old\u2192new.groups = a\n", ["6 CHARACTER_MISLEADING"]),
        ("tasks\u2011max = 4\n", ["6 CHARACTER_MISLEADING"]),
        ("# a comment: \u201cé\u201d\u00a0\n", []),
        ("topics.exclude = é\nold->new.groups = ü\n", ["6 ENCODING_WRONG"]),
        ("topics.exclude = \\u00e9\n", []),
        ("new.ssl.keystore.password = \u00a0é\n", ["6 ENCODING_WRONG"]),
    ],
)
def test_lines_that_java_reads_in_another_way(lines: str, expected: list[str]) -> None:
    """Each cause is one finding on its line, and what follows from it is none."""
    text = f"{HEAD}{lines}"

    assert found("mm2.properties", text, *CODES) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"\ufeff{HEAD}", ["1 ENCODING_WRONG"]),
        (f"\ufeff# comment\n{HEAD}", []),
        (f"\ufeff\n{HEAD}", []),
    ],
)
def test_a_byte_order_mark_belongs_to_the_first_key(text: str, expected: list[str]) -> None:
    """Java does not remove it, so it only harms a setting on the first line."""
    assert found("mm2.properties", text, *CODES) == expected


def test_iso_8859_1_is_what_java_reads() -> None:
    """A properties file that is not UTF-8 has the letters that it shows; a JSON document is refused by Connect."""
    properties = read_mirror_files("mm2.properties", f"{HEAD}topics.exclude = é\n", is_utf8=False)
    document = read_mirror_files("copy.json", connector('"topics": "é"'), is_utf8=False)

    assert [each.code for each in lint(properties, kafka_keys()) if each.code in CODES] == []
    assert [(each.line, each.code) for each in lint(document, kafka_keys()) if each.code in CODES] == [
        (3, LintCode.ENCODING_WRONG)
    ]


def test_lines_with_one_cause_are_one_finding() -> None:
    """A lost backslash at the first line of a list makes settings of all others."""
    text = f"{HEAD}topics.exclude = a,\n b,\n c,\n d\n"
    (finding,) = (each for each in judged("mm2.properties", text) if each.code in CODES)

    assert (finding.line, finding.others) == (7, (8, 9))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ('"topics": ["a", "b"]', ["3 VALUE_NOT_TEXT"]),
        ('"topics": {"a": 1}', ["3 VALUE_NOT_TEXT", "3 KEY_UNKNOWN"]),
        ('"tasks.max": 4, "sync.topic.acls.enabled": false', []),
        ('"topics.exclude": null', ["3 VALUE_NULL"]),
        ('"topics": "a",\n"topics": "b"', ["3 KEY_REPEATED"]),
        ('"topics": "a", "topics": "b"', ["3 KEY_REPEATED"]),
        ('"topics": "a", "topics": "a"', []),
        ('"topics": ["a"],\n"topics": "b"', ["3 KEY_REPEATED"]),
        ('"topics": "a\u00a0"', ["3 CHARACTER_MISLEADING"]),
        ('"topics": "a\\u200b", "taks.max": 3', ["3 CHARACTER_MISLEADING", "3 KEY_MISSPELLED"]),
    ],
)
def test_values_that_connect_takes_in_another_way(more: str, expected: list[str]) -> None:
    """Connect's REST API takes texts, numbers and booleans, and the last of two keys."""
    text = connector(more)

    assert sorted(found("copy.json", text, *CODES)) == sorted(expected)


def test_a_connector_of_another_product_is_named_and_not_judged() -> None:
    """Nothing is known about its settings, and no summary says that they are right."""
    text = connector('"tasks.max": "many", "x": "y"', "io.confluent.connect.replicator.ReplicatorSourceConnector")

    assert found("copy.json", text) == ["2 CONNECTOR_OF_OTHER_PRODUCT"]


@pytest.mark.parametrize("name", ["MirrorSource", "com.acme.MirrorSourceConnector", "${class}"])
def test_a_connector_that_may_be_of_mirrormaker_is_judged(name: str) -> None:
    """A short name, a class that extends one, and a reference may be MirrorMaker's."""
    text = connector('"taks.max": "4"', name)

    assert "3 KEY_MISSPELLED" in found("copy.json", text)
    assert "2 CONNECTOR_OF_OTHER_PRODUCT" not in found("copy.json", text)


@pytest.mark.parametrize("name", CLEAN)
def test_clean_files_have_no_remark(name: str) -> None:
    """No rule on the text says anything about a clean file."""
    assert found(name, CLEAN[name], *CODES) == []


def test_many_odd_lines_are_judged() -> None:
    """A file in which every line is odd has its findings; none of the rules compares all lines with all."""
    lines = "".join(f"word{number}\n" for number in range(9_000))

    assert len(judged("mm2.properties", f"{HEAD}{lines}")) < 10


def test_no_secret_is_in_a_remark() -> None:
    """A line without a separator may be a part of a login."""
    text = f'{HEAD}new.sasl.jaas.config = x required \\ \n  password="planted-secret";\nplanted-secret\n'
    findings = judged("mm2.properties", text)

    assert LintCode.SEPARATOR_MISSING in [each.code for each in findings]
    assert "password=" not in json.dumps([each.to_document() for each in findings])


def test_remarks_are_none_for_plain_text() -> None:
    """The reader says nothing about what Java reads as it is written."""
    assert remarks("a = 1\n# x\n b: 2\n\\u00e9 = \\\n  3\n") == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (r'"source.cluster.sasl.jaas.config": "x.Module required username="a" password=\"b\";",', ["3 JSON_REFUSED"]),
        ('"topics": "a "b" c" ,', ["3 JSON_REFUSED"]),
        (r'"topics": "a \"b\" c",', []),
        ('"topics": "a",', []),
    ],
)
def test_a_document_that_connect_refuses_is_an_error_and_is_read(line: str, expected: list[str]) -> None:
    """A quote without a backslash is one mistake, and hides no other."""
    text = '{\n"connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",\n' + line
    text += '\n"tasks.max": "x"\n}\n'
    codes = LintCode.JSON_REFUSED, LintCode.VALUE_TYPE

    assert found("a.json", text, *codes) == [*expected, "4 VALUE_TYPE"]


def test_a_comma_after_the_last_item_is_an_error() -> None:
    """Several lines of a document are one finding; what cannot be repaired is refused."""
    head = '{"connector.class": "MirrorSourceConnector",\n'

    assert found("a.json", head + '"topics": "a",\n}', LintCode.JSON_REFUSED) == ["2 JSON_REFUSED"]
    said = refused("a.json", head + '"topics": a\n}')
    assert "a.json:2: " in said
    assert "Expecting value" in said
