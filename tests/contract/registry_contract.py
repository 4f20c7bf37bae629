"""What every schema registry must do for us; run by the server of the tests and by Apicurio Registry."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence

import pytest

from kafka_migration.adapters.http.registry_client import HttpSchemaRegistry
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.schema_registry import Schema
from tests.contract.registry_server import Reference
from tests.present import present

ORDER = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]})
ADDRESS = json.dumps({"type": "record", "name": "Address", "fields": []})
CUSTOMER = json.dumps({"type": "record", "name": "Customer", "fields": [{"name": "at", "type": "Address"}]})
PROTOBUF = 'syntax = "proto3";\nmessage Order { int64 id = 1; }\n'
JSON_SCHEMA = json.dumps({"type": "object", "properties": {"id": {"type": "integer"}}})


class RegistryContract:
    """Inherit it and give a registry, and a way to register schemas in it."""

    url: str

    @abstractmethod
    def register(self, subject: str, text: str, kind: str = "AVRO", references: Sequence[Reference] = ()) -> int:
        """Add a version to a subject; return the schema's id."""

    @pytest.fixture
    def registry(self) -> Iterator[HttpSchemaRegistry]:
        """The client of the registry."""
        made = HttpSchemaRegistry("registry", HttpSettings("registry", self.url))
        yield made
        made.close()

    def test_id_has_its_schema(self, registry: HttpSchemaRegistry) -> None:
        """The schema of an id is the one that was registered."""
        found = present(registry.schema(self.register("orders-value", ORDER)))

        assert found.is_same_as(Schema("AVRO", ORDER))

    def test_unknown_id_has_none(self, registry: HttpSchemaRegistry) -> None:
        """An id that the registry never gave has no schema, which is no error."""
        assert registry.schema(16_777_215) is None
        assert registry.schema(0) is None

    @pytest.mark.parametrize(("kind", "text"), [("JSON", JSON_SCHEMA), ("PROTOBUF", PROTOBUF)])
    def test_kind_belongs_to_the_schema(self, registry: HttpSchemaRegistry, kind: str, text: str) -> None:
        """JSON and Protobuf schemas have their kind."""
        found = present(registry.schema(self.register(f"{kind}-value", text, kind)))

        assert found.is_same_as(Schema(kind, text))

    def test_schema_has_those_to_which_it_refers(self, registry: HttpSchemaRegistry) -> None:
        """A reference is followed to the schema of that version, whatever characters its subject has."""
        subject = "addresses/of customers?"
        self.register(subject, ADDRESS)
        customer = self.register("customers-value", CUSTOMER, references=[("Address", subject, 1)])

        found = present(registry.schema(customer))

        assert found.is_same_as(Schema("AVRO", CUSTOMER, (("Address", Schema("AVRO", ADDRESS)),)))
        assert not found.is_same_as(Schema("AVRO", CUSTOMER, (("Address", Schema("AVRO", ORDER)),)))

    def test_wrong_address_is_refused(self) -> None:
        """A path that no registry serves is not taken for an unknown id."""
        lost = HttpSchemaRegistry("registry", HttpSettings("registry", f"{self.url}/lost"))

        with pytest.raises(Refused) as refused:
            lost.schema(1)

        assert [Code.REGISTRY_REFUSED] == [finding.code for finding in refused.value.findings]
