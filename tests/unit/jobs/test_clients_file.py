"""Rules of the file with Kafka's logins on the driver: it is gone before Spark starts, and others' files stay."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError

from kafka_digest.runtime import command
from kafka_digest.runtime.job_documents import read_clients, take_clients
from kafka_digest.runtime.job_errors import JobError

CLIENTS = {"source": {"kafka.sasl.jaas.config": "canary"}, "target": {"kafka.request.timeout.ms": 5}}
READ = {"source": {"kafka.sasl.jaas.config": "canary"}, "target": {"kafka.request.timeout.ms": "5"}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with the options of both sides."""
    path = tmp_path / "clients.json"
    path.write_text(json.dumps(CLIENTS))
    return path


def test_file_is_gone_before_spark_starts(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever becomes of Spark, and however it is killed, the file is not there any more."""
    seen: list[bool] = []

    class Builder:
        """Notes whether the file is there when Spark is to start, which fails."""

        def appName(self, _name: str) -> Builder:  # noqa: N802
            return self

        def config(self, **_options: Any) -> Builder:
            return self

        def getOrCreate(self) -> None:  # noqa: N802
            seen.append(file.exists())
            raise Py4JError("no Spark here, but canary")

    monkeypatch.setattr(command, "SparkSession", SimpleNamespace(builder=Builder()))
    arguments = ["--request", "r", "--result", "s", "--clients-once", str(file)]

    assert 1 == command.run_job(arguments, lambda *_: {}, program="validate_topics.py")
    assert [False] == seen
    assert "SPARK_FAILED: starting Spark: Py4JError: no Spark here, but ***" in capsys.readouterr().err


def test_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    """A second start of the driver names the missing file; a file of another form is removed as well."""
    with pytest.raises(JobError, match=r"clients\.json: No such file"):
        take_clients(str(tmp_path / "clients.json"))

    (tmp_path / "clients.json").write_text("canary")
    with pytest.raises(JobError, match="no JSON") as raised:
        take_clients(str(tmp_path / "clients.json"))
    assert "canary" not in str(raised.value)
    assert [] == list(tmp_path.iterdir())


def test_shipped_copy_is_removed(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy in Spark's own folder is removed when it is read; a file that the caller named stays."""
    shipped = tmp_path / "userFiles"
    shipped.mkdir()
    (shipped / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr("kafka_digest.runtime.job_documents.SparkFiles.get", lambda name: str(shipped / name))
    assert READ == read_clients(file.name)
    assert not (shipped / file.name).exists()

    assert READ == read_clients(str(file))
    assert file.exists()
