"""Rules of texts that a database, a file or a message between processes cannot hold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_migration.adapters.store.document_files import to_json
from kafka_migration.core.mirror.mirrorctl_protocol import parse_reply
from kafka_migration.core.text.terminal_text import UNSTORABLE, storable_document
from kafka_migration.engines.mirrormaker2_topics import failed_tasks
from tests.unit.mirror.host.test_mirrorctl_text import REPLY

pytestmark = pytest.mark.unit

ODD = "a\x00b\ud800c\udfffd"


def texts(value: Any) -> list[str]:
    """Return every text in a value, names included."""
    if isinstance(value, dict):
        return [text for each in (*value, *value.values()) for text in texts(each)]
    if isinstance(value, list | tuple):
        return [text for each in value for text in texts(each)]
    return [value] if isinstance(value, str) else []


def test_every_text_of_a_document_becomes_storable() -> None:
    """Names and values at any depth get the replacement character; everything else stays."""
    assert {"a\ufffdb\ufffdc\ufffdd": ["é😀", 5, None, {"x": "a\ufffdb\ufffdc\ufffdd"}]} == storable_document(
        {ODD: ("é😀", 5, None, {"x": ODD})}
    )


def test_documents_can_be_written_whatever_they_quote() -> None:
    """A refusal with half a character in a name is still UTF-8."""
    assert json.loads(to_json({"subject": ODD}).encode()) == {"subject": "a\x00b\ufffdc\ufffdd"}


def test_words_of_a_host_are_storable() -> None:
    """No text of a reply can end the process that reads it."""
    reply = {**REPLY, "message": ODD, "log": ODD, "holder": ODD, "facts": {ODD: ODD}}
    parsed = parse_reply(f"@@mirrorctl {json.dumps(reply)}@@")

    said = [parsed.message, parsed.log, parsed.holder, *parsed.facts, *parsed.facts.values()]
    assert not [text for text in said if UNSTORABLE.search(text)]


def test_words_of_a_status_topic_are_storable() -> None:
    """A trace that a stranger wrote to MirrorMaker's topic ends no trigger."""
    row = (b"status-task-x-0", json.dumps({"state": "FAILED", "trace": ODD}).encode())

    assert "a\ufffdb\ufffdc\ufffdd" == failed_tasks([row])[0].trace
