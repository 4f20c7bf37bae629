"""`discover` with given addresses needs neither a server nor Airflow."""

from __future__ import annotations

import json

import pytest

from kafka_migration.cli.main import main


def test_lines_are_comments_and_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """Every line is a comment or a command; the limits of the platform come last."""
    assert 0 == main(["discover", "--preset", "msk", "--bootstrap", "b-1.example:9096", "--name", "Old"])
    lines = capsys.readouterr().out.splitlines()
    commands = [line for line in lines if line and not line.startswith("# ")]

    assert ["airflow connections add old_kafka ", "airflow connections add old_mirror_host "] == [
        line.partition("--conn-json")[0] for line in commands
    ]
    assert '"sasl.mechanism": "SCRAM-SHA-512"' in commands[0]
    assert "# Amazon MSK: MSK Serverless offers only IAM, so it cannot be used." in lines


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The document has the preset, the connections with their fields, and the placeholders."""
    assert 0 == main(["discover", "--preset", "hdinsight", "--bootstrap", "wn0", "-o", "json"])
    document = json.loads(capsys.readouterr().out)

    assert (1, "hdinsight", "/usr/hdp/current/kafka-broker", None) == (
        document["schema"],
        document["preset"],
        document["kafka_home"],
        document["cluster"],
    )
    assert {"bootstrap.servers": "wn0:9092", "security.protocol": "PLAINTEXT"} == (
        document["connections"][0]["fields"]["extra"]
    )
    assert "<PRIVATE KEY>" in document["placeholders"]


def test_unknown_protocol_has_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    """A port that the platform does not use leaves the protocol open."""
    assert 4 == main(["discover", "--preset", "apache", "--bootstrap", "a:19092"])
    assert '"security.protocol": "<PROTOCOL>"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "exit_code", "found"),
    [
        ([], 2, "COMMAND_INVALID"),
        (["--bootstrap", "a"], 2, "--bootstrap needs --preset"),
        (["--bootstrap", "a", "--preset", "apache", "--cluster", "x"], 2, "--cluster needs --from"),
        (["--bootstrap", "a", "--from", "b"], 2, "not allowed with"),
        (["--bootstrap", "a", "--preset", "other"], 2, "invalid choice"),
        (["--bootstrap", " ", "--preset", "apache"], 2, "an empty value"),
        (["--bootstrap", "a:x,b:", "--preset", "apache"], 3, "--bootstrap has 'b:', which is no address of a broker."),
        (["--bootstrap", "a:9098", "--preset", "msk"], 3, "accepts only AWS_MSK_IAM"),
    ],
)
def test_wrong_usage_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], exit_code: int, found: str
) -> None:
    """Wrong arguments end with a code and no answer."""
    try:
        code = main(["discover", *arguments])
    except SystemExit as ended:
        code = int(str(ended.code))
    captured = capsys.readouterr()

    assert (exit_code, "") == (code, captured.out)
    assert found in captured.err
