"""Login files of Java (JAAS) that stand beside the files of MirrorMaker."""

from __future__ import annotations

import pytest

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint
from tests.unit.mirrormaker_files.reading import found, judged

pytestmark = pytest.mark.unit

MODULE = '  a.b.LoginModule required\n  useKeyTab=true\n  keyTab="/a/${KEYTAB}"\n  serviceName="kafka"'
RIGHT = f"// logins\nKafkaServer {{\n{MODULE};\n}};\nKafkaClient {{\n{MODULE};\n  c.LoginModule optional;\n}};\n"
OPTIONS = "kafka-mirror-maker.sh --consumer.config c --producer.config p --whitelist a"


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("", "", 0),
        ("// logins", "/* logins\n*/", 0),
        ("// logins", "# logins", 1),
        ('"kafka";\n};\nKafka', '"kafka"\n};\nKafka', 6),
        ('"kafka";\n  c.', '"kafka"\n  c.', 12),
        ("optional;\n};", "optional;\n}", 14),
        ("optional;\n};\n", "optional;\n", 13),
        ("};\nKafkaClient", "}\nKafkaClient", 7),
        ("};\nKafkaClient", "KafkaClient", 7),
        ("c.LoginModule optional", "c.LoginModule", 13),
        ("KafkaServer {", "KafkaServer", 2),
        ("KafkaServer {", "KafkaClient {", 8),
        ("useKeyTab=true", "useKeyTab=1", 4),
        ("useKeyTab=true", "useKeyTab='true'", 4),
        ("useKeyTab=true", "useKeyTab true", 4),
        ("useKeyTab=true", "useKeyTab=true,", 4),
        ("useKeyTab=true", "useKeyTab=$USE", 0),
        ("KafkaClient", "kafkaClient", 8),
        ("KafkaClient", "KafkaClients", 8),
        ("KafkaClient", "Client", 0),
    ],
)
def test_a_login_file_is_read_as_java_reads_it(old: str, new: str, line: int) -> None:
    """What Java's `ConfigFile` refuses is named at its line, or at the line that lacks something."""
    text = RIGHT.replace(old, new) if old != "useKeyTab=true" else RIGHT.replace(old, new, 1)

    assert found("kafka_jaas.conf", text) == ([f"{line} LOGIN_REFUSED"] if line else [])


def test_what_is_filled_in_outside_of_quotes_is_not_judged() -> None:
    """It may hold the sign that is missing."""
    text = RIGHT.replace('keyTab="/a/${KEYTAB}"', "keyTab=${KEYTAB}").replace('"kafka";', '"kafka"')

    assert found("kafka_jaas.conf", text) == []


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("cat > jaas.conf <<'EOF'\n", f"EOF\n{OPTIONS}\n", 7),
        ("kind: ConfigMap\ndata:\n  jaas.conf: |\n", "", 9),
    ],
)
def test_a_login_file_within_a_file_is_judged_at_its_lines(before: str, after: str, line: int) -> None:
    """A script or a ConfigMap may hold the file."""
    blanks = "    " if "kind" in before else ""
    text = "".join(f"{blanks}{each}\n" for each in RIGHT.replace('"kafka";', '"kafka"').splitlines())

    assert found("a.txt", before + text + after, LintCode.LOGIN_REFUSED) == [f"{line} LOGIN_REFUSED"]


def test_a_given_login_file_is_not_called_elsewhere() -> None:
    """The remark that a login is not judged is for a file that is not given."""
    script = f"KAFKA_OPTS=-Djava.security.auth.login.config=/a/kafka_jaas.conf\n{OPTIONS}\n"
    files = [*read_mirror_files("run.sh", script), *read_mirror_files("kafka_jaas.conf", RIGHT)]

    assert found("run.sh", script, LintCode.LOGIN_ELSEWHERE) == ["1 LOGIN_ELSEWHERE"]
    assert [each.code for each in lint(files, kafka_keys()) if each.code is LintCode.LOGIN_ELSEWHERE] == []


def test_no_word_of_a_login_is_shown() -> None:
    """A password in the file is in no finding."""
    text = 'KafkaClient {\n a.LoginModule required username="u" password="p4ssw0rd-x"\n};\n'

    assert [each.line for each in judged("kafka_jaas.conf", text)] == [2]
    assert "p4ssw0rd" not in str(judged("kafka_jaas.conf", text))
