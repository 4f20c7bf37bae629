"""`judge` compares the schemas of the ids in the copied records, and `preflight` asks both registries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from kafka_migration.adapters.http.registry_client import HttpSchemaRegistry
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.migration.settings import Part
from tests.contract.registry_server import RegistryServer
from tests.steps.world import AUDIT, P0, RECORD, World

SECTION = """\
schema_registry:
  source: old_registry
  target: new_registry
"""
Found = Mapping[tuple[str, Part], Sequence[int]]
VALUES: tuple[str, Part] = ("orders", "value")
UNREAD = "SCHEMA_IDS_NOT_READ · topic orders: Not all schema ids of topic orders are known: those of generations 1 "


@dataclass
class Registries:
    """The registries of both clusters; 1 and 2 are the same schemas in both."""

    source: RegistryServer
    target: RegistryServer


@pytest.fixture
def registries(world: World) -> Iterator[Registries]:
    """Name two registries in the migration file."""
    world.extend_file(SECTION)
    world.connections |= {"old_registry": "http", "new_registry": "http"}
    with RegistryServer() as source, RegistryServer() as target:
        urls = {"old_registry": source.url, "new_registry": target.url}
        world.deployed["open_registry"] = lambda side, connection: HttpSchemaRegistry(
            side, HttpSettings(connection, urls[connection]), wait_s=0.01
        )
        for registry in (source, target):
            registry.register("orders-value", '"string"')
            registry.register("orders-key", '"long"')
        yield Registries(source, target)


def judge(world: World, found: Found, **flags: bool) -> dict[str, Any]:
    """Copy a record in a generation of its own, let Spark find these ids, and judge; return the document."""
    copied(world)
    spark_found(world, found, **flags)
    world.do("judge")
    return world.run.evidence.require(Kind.JUDGE)


def copied(world: World) -> None:
    """Copy a record in a generation of its own."""
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})


@contextmanager
def before_the_section(world: World) -> Iterator[None]:
    """Leave the registries out of the migration file for a while; the next run has them."""
    with_section = world.file.read_text()
    world.edit_file(SECTION, "")
    yield
    world.file.write_text(with_section)


def spark_found(world: World, found: Found, **flags: bool) -> None:
    """Write request and result of a validation that finds all windows equal, and these ids."""
    world.validated()
    result = world.run.evidence.require(Kind.VALIDATION_RESULT)
    ids = [
        {**each, "ids": list(found.get((each["topic"], each["part"]), ())), **flags} for each in result["schema_ids"]
    ]
    world.run.evidence.write(Kind.VALIDATION_RESULT, {**result, "schema_ids": ids})


def refused(world: World, found: Found, **flags: bool) -> str:
    """Copy and judge as `judge` does, which must fail; return what it says."""
    copied(world)
    spark_found(world, found, **flags)
    return world.refuses("judge")


def test_same_schemas_pass(world: World, registries: Registries) -> None:
    """Ids that mean the same schema in both registries do not change the verdict."""
    document = judge(world, {VALUES: [1], ("orders", "key"): [2]})

    assert ("PASS", []) == (document["verdict"], document["warnings"])
    assert {"/schemas/ids/1", "/schemas/ids/2"} == {path for path, _ in registries.target.asked}


def test_without_registries_nothing_is_asked(world: World) -> None:
    """Without the section Spark collects no ids, and the ledger has no entry about them."""
    world.source.produce("orders", 0, RECORD)
    world.copy_and_judge({P0: 1})

    assert {} == world.run.evidence.require(Kind.VALIDATION_REQUEST)["schema_ids"]
    assert () == world.ledger.schema_ids


def test_missing_schema_fails_the_run_but_not_the_copy(world: World, registries: Registries) -> None:
    """An id that only the source's registry has fails `judge`; the copy stays proved."""
    registries.source.register("orders-value", '"int"', schema_id=5)

    said = refused(world, {VALUES: [1, 5], ("audit", "value"): [5]})

    assert said.count("SCHEMA_MISSING") == 2
    assert "The copied values of topic orders have the schema id 5, which the target's registry does not have" in said
    assert "topic audit, values" in said
    rows = {row["topic"]: row["whole_verdict"] for row in world.run.evidence.require(Kind.JUDGE)["topics"]}
    assert {"orders": "PASS", "audit": "PASS"} == rows


def test_other_schema_fails_the_run(world: World, registries: Registries) -> None:
    """An id with another schema in the target's registry is a finding of its own."""
    registries.source.register("orders-value", '"int"', schema_id=5)
    registries.target.register("orders-value", '"double"', schema_id=5)

    assert "SCHEMA_DIFFERS · topic orders, keys" in refused(world, {("orders", "key"): [5]})


def test_id_of_an_earlier_night_counts_until_the_target_has_it(world: World, registries: Registries) -> None:
    """Later runs compare all ids of the ledger, with what the registries say then."""
    registries.source.register("orders-value", '"int"', schema_id=5)
    refused(world, {VALUES: [5]})

    world.next_run()
    assert "SCHEMA_MISSING" in refused(world, {VALUES: [1]})

    registries.target.register("orders-value", '"int"', schema_id=5)
    world.next_run(3)
    assert "PASS" == judge(world, {VALUES: [1]})["verdict"]


def test_missing_schema_is_judged_again_after_the_task_was_cleared(world: World, registries: Registries) -> None:
    """After the schema was copied, clearing `judge` is enough."""
    registries.source.register("orders-value", '"int"', schema_id=5)
    refused(world, {VALUES: [5]})

    registries.target.register("orders-value", '"int"', schema_id=5)

    assert "PASS" == world.do("judge")["verdict"]


def test_id_that_the_source_does_not_know_is_only_a_warning(world: World, registries: Registries) -> None:
    """A number without a schema on the source is probably no id, so it changes no verdict."""
    document = judge(world, {("orders", "key"): [0, 1]}, large=True)

    assert "PASS" == document["verdict"]
    (keys, *rest) = [warning for warning in document["warnings"] if warning["subject"] == "topic orders, keys"]
    assert ("SCHEMA_IDS_UNKNOWN", []) == (keys["code"], rest)
    assert "the schema id 0, which the source's registry does not have; numbers of 1,048,576" in keys["found"]
    assert "schema_registry.parts: {orders: [value]}" in keys["remedy"]


def test_parts_that_the_file_leaves_out_are_not_asked_for(world: World, registries: Registries) -> None:
    """The request names only the parts that the migration file leaves."""
    world.extend_file("  parts: {orders: [value], audit: []}\n")

    judge(world, {VALUES: [1]})

    assert {"orders": ["value"]} == world.run.evidence.require(Kind.VALIDATION_REQUEST)["schema_ids"]


@pytest.mark.parametrize("mode", ["sync", "cutover"])
def test_records_from_before_the_section_are_named(world: World, registries: Registries, mode: str) -> None:
    """Generations whose ids are unknown are a warning in a sync, and stop a cutover."""
    with before_the_section(world):
        copied(world)
        world.judge()
        world.next_run()
    world.params = {"mode": mode}

    if mode == "cutover":
        assert UNREAD in refused(world, {VALUES: [1]})
    else:
        document = judge(world, {VALUES: [1]})
        assert "WARN" == document["verdict"]
        assert {"SCHEMA_IDS_NOT_READ"} == {warning["code"] for warning in document["warnings"]}


@pytest.mark.parametrize(
    ("found", "flags"), [([9], {}), ([], {"large": True}), ([], {"too_many": True})], ids=["id", "large", "too many"]
)
def test_unknown_ids_stop_a_cutover(
    world: World, registries: Registries, found: Sequence[int], flags: Mapping[str, bool]
) -> None:
    """Before consumers read all records, an id that cannot be compared stops the run until the file leaves it out."""
    world.params = {"mode": "cutover"}

    assert "SCHEMA_IDS_UNKNOWN · topic orders, values" in refused(world, {VALUES: found}, **flags)
    assert "NOT_VERIFIABLE" == world.run.evidence.require(Kind.JUDGE)["verdict"]


def test_generation_that_was_not_read_stays_unread(world: World, registries: Registries) -> None:
    """A validation that could not read all records does not count as a look at their ids."""
    judge(world, {VALUES: [1]}, complete=False)
    world.next_run()
    world.params = {"mode": "cutover"}

    assert UNREAD in refused(world, {VALUES: [1]})


def test_generation_counts_only_for_the_topics_that_were_read(world: World, registries: Registries) -> None:
    """A run of two generations does not say that each topic was read in both."""
    with before_the_section(world):
        world.source.produce("orders", 0, RECORD)
        world.source.produce("audit", 0, RECORD)
        world.copy({P0: 1, AUDIT: 1})
        world.next_run()
        world.params = {"mode": "validate", "topics": ["orders"]}
        world.do("preflight", "reserve")
        world.judge()
        world.next_run(3)
    world.params = {"mode": "cutover"}

    said = refused(world, {VALUES: [1]})

    assert (
        "SCHEMA_IDS_NOT_READ · topic orders: Not all schema ids of topic orders are known: those of generations 1 "
        in said
    )
    assert "topic audit" not in said


def test_registry_does_not_hide_a_wrong_copy(world: World, registries: Registries) -> None:
    """A copy that differs is reported, whatever the registries would say."""
    copied(world)
    world.validated(equal=False)
    registries.source.faults.append((401, ""))

    world.refuses("judge", match="COPY_DIFFERS · topic orders")

    assert {"COPY_DIFFERS"} == set(world.refusal_codes)


def test_retry_adds_the_ids_once(world: World, registries: Registries) -> None:
    """A task that is tried again adds no second entry of the same ids to the ledger."""
    judge(world, {VALUES: [1]})
    world.do("judge")

    assert 1 == len(world.ledger.schema_ids)


def test_whole_validation_reads_the_ids_of_all_generations(world: World, registries: Registries) -> None:
    """After a run in mode `validate` no generation's ids are unknown."""
    with before_the_section(world):
        copied(world)
        world.judge()
        world.next_run()
    world.params = {"mode": "validate"}
    world.do("preflight", "reserve")
    spark_found(world, {VALUES: [1]})

    assert "PASS" == world.do("judge")["verdict"]


def test_registry_that_does_not_answer_is_asked_again(world: World, registries: Registries) -> None:
    """An outage is no verdict: the task fails for now, and succeeds when it is tried again."""
    copied(world)
    spark_found(world, {VALUES: [1]})
    registries.target.faults.append((500, ""))

    with pytest.raises(TransientError, match="status 500"):
        world.do("judge")

    assert "PASS" == world.do("judge")["verdict"]


def test_result_without_the_ids_is_refused(world: World, registries: Registries) -> None:
    """A result that leaves out the ids of a topic is not taken for "no ids"."""
    copied(world)
    world.validated()
    result = world.run.evidence.require(Kind.VALIDATION_RESULT)
    world.run.evidence.write(Kind.VALIDATION_RESULT, {**result, "schema_ids": result["schema_ids"][1:]})

    world.refuses("judge", match="VALIDATION_RESULT_MISSING · target topic")


def test_preflight_reports_both_registries(world: World, registries: Registries) -> None:
    """Preflight refuses the run before anything starts, with a finding per registry."""
    registries.source.faults.append((401, ""))
    registries.target.faults.append((404, "<html>"))

    world.refuses("preflight")

    assert ["REGISTRY_REFUSED"] * 2 == world.refusal_codes


def test_preflight_says_that_a_registry_does_not_answer(world: World, registries: Registries) -> None:
    """A registry that is down refuses the run."""
    registries.source.faults.append((500, ""))

    world.refuses("preflight", match="REGISTRY_UNREACHABLE")


def test_preflight_asks_for_connections_of_the_right_type(world: World, registries: Registries) -> None:
    """A registry's connection must exist and be of type http."""
    del world.connections["old_registry"]
    world.connections["new_registry"] = "kafka"

    world.refuses("preflight")

    assert {"CONNECTION_MISSING", "CONNECTION_INVALID"} == set(world.refusal_codes)


@pytest.mark.parametrize(("ids", "code"), [([1], ""), ([5], "SCHEMA_MISSING"), ([9], "SCHEMA_IDS_UNKNOWN")])
def test_schemas_of_the_other_topics_are_compared_without_an_unproved_one(
    world: World, registries: Registries, ids: Sequence[int], code: str
) -> None:
    """Before a cutover moves the groups of the other topics, their schemas must be right too."""
    registries.source.register("orders-value", '"int"', schema_id=5)
    world.params = {"mode": "cutover"}
    world.source.produce("audit", 0, RECORD)
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1, AUDIT: 1})
    spark_found(world, {VALUES: ids})
    result = world.run.evidence.require(Kind.VALIDATION_RESULT)
    for row in result["partitions"]:
        if row["window"]["topic"] == "audit":
            row |= {"source_unreadable": "the record at offset 0 cannot be read", "has_bad_record": True}
    world.run.evidence.write(Kind.VALIDATION_RESULT, result)

    if not code:
        assert "NOT_VERIFIABLE" == world.do("judge")["verdict"]
        return
    assert code in world.refuses("judge")
    world.refuses("plan_offsets", match="RECORDS_NOT_VERIFIABLE · topic audit")
