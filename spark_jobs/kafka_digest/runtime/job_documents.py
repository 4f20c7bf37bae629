"""JSON documents on any file system that Hadoop supports: local folders, `file:`, `s3a:`, `hdfs:` …"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark import SparkFiles
from pyspark.sql import SparkSession

from kafka_digest.runtime.job_errors import JobError


def as_uri(location: str) -> str:
    """Return a path with its scheme.

    A path without a scheme is local; Hadoop would look for it on the cluster's default file system.
    """
    return location if ":/" in location else f"file:{Path(location).absolute()}"


def read_document(session: SparkSession, location: str) -> dict[str, Any]:
    """Read a JSON document. Raises `JobError` if it is invalid."""
    file_system, path = _open(session, as_uri(location))
    stream = file_system.open(path)
    try:
        text = session._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
    finally:
        stream.close()
    return _parsed(text, location)


def write_document(session: SparkSession, location: str, document: Mapping[str, Any]) -> None:
    """Write a JSON document to a temporary file next to its path, then rename it."""
    file_system, path = _open(session, as_uri(location))
    folder = path.getParent().toString().rstrip("/")
    temporary = session._jvm.org.apache.hadoop.fs.Path(f"{folder}/.{path.getName()}.{uuid.uuid4().hex}")
    try:
        stream = file_system.create(temporary, True)
        stream.write(bytearray(json.dumps(document, indent=1).encode()))
        stream.close()
        file_system.delete(path, False)
        if not file_system.rename(temporary, path):
            raise JobError(f"{location}: the finished result could not be renamed to this path")
    finally:
        file_system.delete(temporary, False)


def remove(session: SparkSession, location: str) -> None:
    """Remove a file or folder if it exists."""
    file_system, path = _open(session, as_uri(location))
    file_system.delete(path, True)


def take_clients(path: str) -> dict[str, dict[str, str]]:
    """Read a file like `read_clients` and remove it, so that the logins only exist in this process."""
    place = Path(path)
    try:
        text = place.read_text()
        place.unlink()
    except OSError as error:
        raise JobError(f"{path}: {error.strerror}") from None
    return parsed_clients(text, path)


def read_clients(name: str) -> dict[str, dict[str, str]]:
    """Read the clients file `{"source": {option: value}, "target": {…}}`; its text is never shown.

    `--files` puts it into Spark's own folder, where it is removed, or in cluster mode on YARN into the working
    directory.
    """
    shipped = Path(SparkFiles.get(Path(name).name))
    found = next((place for place in (shipped, Path(name)) if place.is_file()), None)
    if found is None:
        raise JobError(f"{name}: the file does not exist and was not shipped with --files")
    text = found.read_text()
    shipped.unlink(missing_ok=True)
    return parsed_clients(text, name)


def parsed_clients(text: str, name: str) -> dict[str, dict[str, str]]:
    """Return the clients of a text; its content is never shown. Raises `JobError` for a text of another form."""
    clients = _parsed(text, name)
    if not {"source", "target"} <= clients.keys():
        raise JobError(f"{name}: needs the entries source and target")
    return {side: {key: str(value) for key, value in clients[side].items()} for side in ("source", "target")}


def _open(session: SparkSession, uri: str) -> tuple[Any, Any]:
    path = session._jvm.org.apache.hadoop.fs.Path(uri)
    file_system = path.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())
    # Otherwise a local file gets a hidden .crc file next to it, which breaks readers once the file is edited.
    file_system.setWriteChecksum(False)
    file_system.setVerifyChecksum(False)
    return file_system, path


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise JobError(f"{name}: no JSON (line {error.lineno}, column {error.colno})") from None
    if not isinstance(document, dict):
        raise JobError(f"{name}: a JSON object is needed")
    return document
