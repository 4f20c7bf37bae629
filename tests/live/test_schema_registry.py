"""Schema ids are checked against real registries: two of Apicurio Registry, with its Confluent interface."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import pytest
from confluent_kafka import Producer

from sandbox.schema_registry import schema_registry
from tests.contract.registry_contract import ADDRESS, CUSTOMER, ORDER, RegistryContract
from tests.contract.registry_server import Reference
from tests.live.conftest import LiveWorld
from tests.live.groups import awaiting, commit, committed, decide, ends

pytestmark = [pytest.mark.live, pytest.mark.campaign]

RECORDS = 40
MARKER = "schema-registries"
SECTION = """\
schema_registry:
  source: old_registry
  target: new_registry
"""


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The addresses of the source's and of the target's registry."""
    folder = tmp_path_factory.mktemp("registries")
    with schema_registry(folder, MARKER) as source, schema_registry(folder, MARKER) as target:
        yield source, target


def register(url: str, subject: str, text: str, kind: str = "AVRO", references: Sequence[Reference] = ()) -> int:
    """Add a version to a subject of a registry; return the schema's id."""
    body: dict[str, Any] = {"schema": text, "schemaType": kind}
    body["references"] = [{"name": n, "subject": s, "version": v} for n, s, v in references]
    request = urllib.request.Request(
        f"{url}/subjects/{quote(subject, safe='')}/versions",
        json.dumps(body).encode(),
        {"Content-Type": "application/vnd.schemaregistry.v1+json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return int(json.load(answer)["id"])


class TestApicurioRegistry(RegistryContract):
    """Apicurio Registry does what the contract says."""

    @pytest.fixture(autouse=True)
    def _served(self, urls: tuple[str, str]) -> None:
        self.url = urls[0]

    def register(self, subject: str, text: str, kind: str = "AVRO", references: Sequence[Reference] = ()) -> int:
        """Add a version to a subject."""
        return register(self.url, subject, text, kind, references)


def test_cutover_stops_until_the_target_has_the_schemas(
    live: LiveWorld, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A schema that only the source's registry has stops the cutover; once the target has it, the group moves."""
    folder = tmp_path_factory.mktemp("registries")
    with schema_registry(folder, MARKER) as source, schema_registry(folder, MARKER) as target:
        for name, url in (("old_registry", source), ("new_registry", target)):
            live.api.add_connection(name, "http", {}, host=url)
            register(url, "shared-address", ADDRESS)
            order = register(url, "orders-value", ORDER)
        customer = register(source, "customers-value", CUSTOMER, references=[("Address", "shared-address", 1)])
        migration = live.migration("schemas", nightly=SECTION)
        produce(migration.source, migration.name, [order, customer])
        group, at_end = "schemas-group", ends(migration.source, migration.name)
        commit(migration.source, group, migration.name, at_end)

        refused = migration.trigger("cutover")
        assert "failed" == migration.finished(refused).state
        document = migration.document(refused)
        assert ["SCHEMA_MISSING"] == [finding["code"] for finding in document["findings"]]
        assert f"schema id {customer}" in str(document["findings"])
        assert ([], None) == (migration.mirror_pids(), migration.reservation)

        assert customer == register(target, "customers-value", CUSTOMER, references=[("Address", "shared-address", 1)])
        run_id = awaiting(migration)
        decide(live.api, migration, run_id, "Approve")

    assert "success" == migration.finished(run_id).state
    assert "PASS" == migration.document(run_id)["verdict"]
    assert sum(at_end.values()) == sum(committed(migration.target, group, migration.name).values())


def produce(cluster: dict[str, str], topic: str, ids: Sequence[int]) -> None:
    """Send records that begin with these schema ids, in turn."""
    producer = Producer(cluster)
    for number in range(RECORDS):
        value = b"\0" + ids[number % len(ids)].to_bytes(4, "big") + b"data"
        producer.produce(topic, key=f"k{number}", value=value)
    assert producer.flush(60) == 0
