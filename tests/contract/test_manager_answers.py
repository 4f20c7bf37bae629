"""No answer of a manager, whatever is in it, ends in another error than a finding."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

import pytest

from kafka_migration.adapters.http.cluster_managers import Ambari, ClouderaManager, ManagerService
from kafka_migration.cli.files.discover_verb import NOT_KNOWN
from kafka_migration.core.discovery.connections_to_create import connections_for
from kafka_migration.core.discovery.described_cluster import ClusterManager, DiscoveredCluster, entrance
from kafka_migration.core.discovery.json_answer import Answer
from kafka_migration.core.discovery.presets import PRESETS
from kafka_migration.core.findings.errors import Refused
from kafka_migration.steps.discovery.read_managers import discovered
from tests.contract.manager_servers import ambari_answers, cloudera_answers

WRONG: list[Any] = [None, 5, -1, True, [], {}, [[]], [None], {"a": 1}, 1e308]
WRONG += ["", " ", "text", "\ud800\n", "a'; b", "9" * 400]
Place = list[str | int]


class AnswersInMemory(ManagerService):
    """The answers of a server, without a server."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self._answers = answers

    def get(self, path: str) -> Answer:
        """Return the answer to a path."""
        found = self.get_if_there(path)
        if found is None:
            raise Refused([])
        return found

    def get_if_there(self, path: str) -> Answer | None:
        """Return the answer to a path, `None` if there is none."""
        found = self._answers.get(unquote(path))
        return None if found is None else Answer(found, path.partition("?")[0])

    def close(self) -> None:
        """Do nothing."""


def places(value: Any) -> Iterator[Place]:
    """Yield the place of each value in a document, the whole document included."""
    yield []
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from ([key, *rest] for rest in places(child))


def changed(document: Any, place: Place, value: Any) -> Any:
    """Return a copy of a document with another value at a place."""
    if not place:
        return value
    made = copy.deepcopy(document)
    parent = made
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = value
    return made


def found(answers: dict[str, Any], manager: Callable[[ManagerService], ClusterManager]) -> DiscoveredCluster | None:
    """Return the cluster, `None` if the answers are refused."""
    with contextlib.suppress(Refused):
        return discovered(lambda: manager(AnswersInMemory(answers)), "manager", None)
    return None


MANAGERS: dict[str, tuple[dict[str, Any], Callable[[ManagerService], ClusterManager]]] = {
    "ambari": (ambari_answers(), Ambari),
    "cloudera": (cloudera_answers(has_host_names=False), lambda service: ClouderaManager(service, "v41")),
}
CASES = [(name, path) for name, (answers, _) in MANAGERS.items() for path in answers if path != "/api/version"]


@pytest.mark.parametrize(("name", "path"), CASES)
def test_any_value_at_any_place(name: str, path: str) -> None:
    """Each value either is one that the field can have, or the answer is refused; commands are plain text."""
    answers, manager = MANAGERS[name]
    for place in places(answers[path]):
        for value in WRONG:
            cluster = found({**answers, path: changed(answers[path], place, value)}, manager)
            if cluster is not None:
                made = connections_for("demo", entrance(cluster), PRESETS["apache"])
                assert all(each.command().isprintable() for each in made), (place, value)


@pytest.mark.parametrize(("name", "path"), CASES)
def test_any_missing_field(name: str, path: str) -> None:
    """A field that is left out is refused or not known; only a setting without a `value` has its default."""
    answers, manager = MANAGERS[name]
    whole = found(answers, manager)
    assert whole is not None
    for place in places(answers[path]):
        if place and isinstance(place[-1], str) and place[-1] != "value":
            document = copy.deepcopy(answers[path])
            parent = document
            for key in place[:-1]:
                parent = parent[key]
            del parent[place[-1]]
            less = found({**answers, path: document}, manager)
            if less is not None:
                _assert_less(whole, less)


def _assert_less(whole: DiscoveredCluster, less: DiscoveredCluster) -> None:
    """Each value is that of the whole answer, or it is not known."""
    assert [broker.host for broker in whole.brokers] == [broker.host for broker in less.brokers]
    for name in ("release", "kafka_version", "zookeepers", "auto_create_topics", "kerberos", "mechanism"):
        assert getattr(less, name) in {None, getattr(whole, name)}, name


def test_document_of_every_cluster_is_json() -> None:
    """The JSON form of what is not known is `null`, and has no word for people."""
    for answers, manager in MANAGERS.values():
        cluster = found(answers, manager)
        assert cluster is not None
        assert NOT_KNOWN not in json.dumps(cluster.to_document())
