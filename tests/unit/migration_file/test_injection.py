"""Texts of attackers in every field that takes a text: they are refused, or they have no effect."""

from __future__ import annotations

import copy
import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.engine import LaunchFacts
from kafka_migration.core.mirror.host import MirrorLaunch
from kafka_migration.core.rights.rights import acl_lines
from kafka_migration.engines.engine_rights import required_rights
from kafka_migration.engines.mirrormaker2 import MirrorMaker2
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.orchestration.dag.forms import manual_doc, nightly_doc, rollback_doc
from tests.contract.fake_cluster import FakeCluster
from tests.markdown_text import blocks
from tests.unit.migration_file.bad_files import DOCUMENT, FREE_TEXTS, FULL, KEYS, PATTERNS, Path, dumped, texts
from tests.unit.migration_file.payloads import PAYLOADS

# Places whose texts have a form.
CLOSED = [path for path in texts() if path not in FREE_TEXTS | PATTERNS]
FREE: list[Path] = sorted(FREE_TEXTS | PATTERNS, key=str)
FACTS = LaunchFacts({"bootstrap.servers": "a:1"}, {"bootstrap.servers": "b:2"}, max_message_bytes=2048, partitions=2)
TOPICS = ("orders", "audit")
# A group that may be active or rewind must match a pattern of groups, so that one that matches all stands beside.
OPEN = {**DOCUMENT, "cutover": {**DOCUMENT["cutover"], "groups": [*DOCUMENT["cutover"]["groups"], ".*"]}}
Taken = tuple[str, list[Path], Migration]


def placed(document: Any, path: Path, value: object) -> None:
    """Put a value at a place of the document."""
    for part in path[:-1]:
        document = document[part]
    document[path[-1]] = value


def file_with(value: str, paths: list[Path], keys: tuple[Path, ...] = (), whole: Any = DOCUMENT) -> str:
    """Return the full file with a text at all of these places, and in place of these keys."""
    document = copy.deepcopy(whole)
    for path in paths:
        placed(document, path, value)
    for *parents, key in keys:
        place = document
        for part in parents:
            place = place[part]
        place[value] = place.pop(key)
    return dumped(document)


def refused_places(text: str) -> set[str]:
    """Return the places that the findings on a file name."""
    try:
        load_migration(text, where="f")
    except Refused as refused:
        return {finding.subject.removeprefix("f: ") for finding in refused.findings}
    return set()


def place_of(path: Path) -> str:
    """Return a place as findings name it."""
    if path in {("topics", 0), ("topics", 1)}:
        return f"topics.{path[1]}.name"
    return "alerts.notifiers.0.kinds" if "kinds" in path else ".".join(map(str, path))


def test_there_are_enough() -> None:
    """There are more than 300 texts and 40 places."""
    assert len(PAYLOADS) >= 300
    assert len(CLOSED) >= 40


def test_each_place_that_has_a_form_refuses_each_text() -> None:
    """Every place whose texts have a form refuses every text of an attacker, at once and by its own name."""
    expected = {place_of(path) for path in CLOSED}
    accepted = {payload: sorted(left) for payload in PAYLOADS if (left := expected - places(payload))}

    assert {} == accepted


def places(payload: str) -> set[str]:
    """Return the refused places of a file with the text everywhere."""
    return refused_places(file_with(payload, CLOSED))


def test_each_key_refuses_each_text() -> None:
    """Keys that people choose are refused, too."""
    accepted = [payload for payload in PAYLOADS if len(refused_places(file_with(payload, [], KEYS))) < len(KEYS)]

    assert [] == accepted


def launch(migration: Migration) -> MirrorLaunch:
    """Return what the MirrorMaker host gets."""
    engine = MirrorMaker2(migration, FakeCluster("old"), FakeCluster("new"))
    return engine.launch(1, FACTS)


def accepted() -> Iterator[Taken]:
    """Yield each text with the free places that take it, and the migration of a file that has it at all of them."""
    for payload in PAYLOADS:
        refused = refused_places(file_with(payload, FREE, whole=OPEN))
        if paths := [path for path in FREE if place_of(path) not in refused]:
            text = file_with(payload, paths, whole=OPEN)
            yield payload, paths, load_migration(text, where="f").of_topics(TOPICS)


@pytest.fixture(scope="module")
def taken() -> list[Taken]:
    """The texts that free places take."""
    return list(accepted())


def test_each_free_place_takes_many_texts(taken: list[Taken]) -> None:
    """Each free place takes more than 200 texts."""
    counts = Counter(path for _, paths, _ in taken for path in paths)

    assert [] == [path for path in FREE if counts[path] < 200]


def test_free_text_stays_in_its_place(taken: list[Taken]) -> None:
    """What the MirrorMaker host gets is the same, whatever a free place holds."""
    usual = launch(load_migration(FULL, where="f").of_topics(TOPICS))
    assert {str(usual)} == {str(launch(migration)) for _, _, migration in taken}


def named(group: str) -> Migration | None:
    """Return the migration of a file whose only pattern of groups means this name; `None` if the file is refused."""
    pattern = "".join(sign if sign == "_" or sign.isalnum() else f"\\{sign}" for sign in group)
    document = {**DOCUMENT, "cutover": {"groups": [pattern]}}
    try:
        return load_migration(dumped(document), where="f").of_topics(TOPICS)
    except Refused:
        return None


def test_free_text_is_one_word_of_a_command() -> None:
    """In the commands of `kafka-migration acls`, a shell reads each group as one word without any meaning."""
    seen = 0
    for payload in PAYLOADS:
        migration = named(payload)
        for line in acl_lines(required_rights(migration, "source"), "b:1", "User:x") if migration else ():
            if line.startswith("#"):
                assert "\n" not in line
                continue
            words = shlex.split(line)
            assert "kafka-acls.sh" == words[0]
            assert {word for word in words if word.startswith("--")} <= {*OPTIONS, payload}, payload
            seen += words[words.index("--group") + 1 :] == [payload] if "--group" in words else 0

    assert seen > 100


OPTIONS = {
    *("--bootstrap-server", "--command-config", "--add", "--allow-principal", "--operation", "--topic", "--group"),
    *("--cluster", "--transactional-id", "--resource-pattern-type"),
}


def test_free_text_is_no_markup_of_a_page(taken: list[Taken]) -> None:
    """The pages of the DAGs show no text of an attacker as markup."""
    for payload, _, migration in taken:
        for write in (manual_doc, nightly_doc, rollback_doc):
            page = write("shop", migration)
            assert "html_block" not in {kind for kind, _ in blocks(page)}, payload
