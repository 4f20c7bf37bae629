"""Java properties with line numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_migration.mirrormaker_files.formats.properties_reader import Entry, entries
from tests.programs import run_java

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1", [Entry(1, "a", "1")]),
        ("\n# note\n! note\n  a : b\n", [Entry(4, "a", "b")]),
        ("a b c", [Entry(1, "a", "b c")]),
        ("a=1 # no comment  ", [Entry(1, "a", "1 # no comment  ")]),
        ("a=1,\\\n   2\nb=3", [Entry(1, "a", "1,2", last=2), Entry(3, "b", "3")]),
        ("a\\=b\\:c=d\\\\", [Entry(1, "a=b:c", "d\\")]),
        ("a=\\u00e9\\t.", [Entry(1, "a", "é\t.")]),
        ("a=1\r\nb=2\rc=3", [Entry(1, "a", "1"), Entry(2, "b", "2"), Entry(3, "c", "3")]),
        ("a=b\\.c\\d", [Entry(1, "a", "b.cd", "\\.")]),
        ('a=\\"b\\"\\\\.', [Entry(1, "a", '"b"\\.')]),
        ("a\n=b\n", [Entry(1, "a", ""), Entry(2, "", "b")]),
        ("a=b==c", [Entry(1, "a", "b==c")]),
        ("a=\\\n# kept", [Entry(1, "a", "# kept", last=2)]),
    ],
)
def test_reads_as_java_does(text: str, expected: list[Entry]) -> None:
    """Separators, comments, escapes and continued lines follow `java.util.Properties`."""
    assert entries(text) == expected


@given(st.text(alphabet="ab=: \t\\#!\n\ru0041é", max_size=60))
@settings(max_examples=300)
def test_no_text_fails(text: str) -> None:
    """Every text has entries, each with the number of a line of the text."""
    lines = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))

    assert all(1 <= entry.line <= lines for entry in entries(text))


DUMP = """
import java.io.FileReader; import java.util.Properties;
public class Dump { public static void main(String[] a) throws Exception {
Properties p = new Properties(); p.load(new FileReader(a[0], java.nio.charset.StandardCharsets.UTF_8));
for (String k : new java.util.TreeSet<>(p.stringPropertyNames()))
System.out.println(hex(k) + "=" + hex(p.getProperty(k))); }
static String hex(String s) { StringBuilder b = new StringBuilder();
for (char c : s.toCharArray()) b.append(String.format("%04x", (int) c)); return b.toString(); } }
"""


def test_java_reads_the_same(tmp_path: Path) -> None:
    """Java's own reader has the same keys and values for a file with all special forms."""
    text = (
        'a=1\n b : 2 \nc\td # e\n\\ f\\=g = h\\\n   i\\u0041\\q\n! no\nk\nl=\\\\\n"m" = "n"\nfine\\:=\\#x\\\n\n z = 1'
    )
    (tmp_path / "Dump.java").write_text(DUMP)
    (tmp_path / "file.properties").write_text(text)
    printed = run_java(tmp_path / "Dump.java", tmp_path / "file.properties").splitlines()

    assert printed == sorted(f"{_hex(entry.name)}={_hex(entry.value)}" for entry in entries(text))


def _hex(text: str) -> str:
    return "".join(f"{ord(letter):04x}" for letter in text)
