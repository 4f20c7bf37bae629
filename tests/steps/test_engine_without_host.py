"""A run whose engine needs no host, and whose generations have no log, such as one on Kafka Connect."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_migration.airflow_adapters import ssh
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.migration.engine_table import ROWS, Ability
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.host import OpenedMirror
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.watching.watch import Outcome
from tests.contract.stub_engine import StubEngine, StubMirror, StubPlace, StubProcess
from tests.steps.world import FOUR_RECORDS, P0, World
from tests.stored_examples import watch_ended

NO_HOST = "the stub runs on no host"


@pytest.fixture
def hostless(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose engine runs without a host; four records are to be copied."""
    process, place = StubProcess(), StubPlace()
    monkeypatch.setitem(ROWS, "mirrormaker2", replace(ROWS["mirrormaker2"], needs_host=Ability(NO_HOST)))
    world.deployed["open_mirror"] = lambda migration: OpenedMirror(process)
    world.deployed["engine_of"] = lambda migration, source, target: StubEngine(migration, place)
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.start()
    running = StubMirror(process.processes[1].launch, place, world.source, world.target)
    running.copy(P0, 4)
    running.flush()
    return world


def test_run_needs_no_host_and_no_log(hostless: World) -> None:
    """It starts, copies, stops in order and is certified, although it has no host to ask and no log to read."""
    assert hostless.do("stop_mirror")["stopped"]

    certificate = hostless.certified
    assert (True, None, 4) == (certificate.graceful, certificate.exit_code, certificate.mirror_positions[P0])
    assert hostless.run.host_tools is None


def test_killed_generation_without_log_is_not_graceful(hostless: World) -> None:
    """The engine judges the evidence of its own process: after a kill nothing proves an orderly end."""
    process = hostless.run.process
    assert isinstance(process, StubProcess)
    process.ignores_term = True

    hostless.do("stop_mirror")

    assert not hostless.certified.graceful


@pytest.mark.parametrize(("is_patient", "sent", "graceful"), [(False, 4, True), (False, 6, False), (True, 6, True)])
def test_end_in_order_is_not_clean_if_the_target_shows_that_positions_are_behind(
    hostless: World, is_patient: bool, sent: int, graceful: bool
) -> None:
    """A process that waits only for some time for answers may end in order, and have sent more than it stored."""
    engine = hostless.run.engine
    assert isinstance(engine, StubEngine)
    engine.place.is_patient = is_patient
    hostless.target.produce("orders", 0, *FOUR_RECORDS[: sent - 4])
    hostless.do("stop_mirror")
    stop = hostless.certified

    assert (graceful, sent - 4) == (stop.graceful, stop.ahead_records.get(P0, 0))


def test_part_that_was_started_again_makes_the_ending_unclean(hostless: World) -> None:
    """Records may be on the target twice anywhere, so its growth shows no record ahead, although the end was in order.

    The position is the stored one: a part that is cut off may store a lower one after the watch has seen a higher one.
    """
    engine = hostless.run.engine
    assert isinstance(engine, StubEngine)
    engine.place.was_restarted = True
    hostless.run.evidence.write(Stored.WATCH, watch_ended(Outcome.DRAINED, proved={P0: 4}))
    engine.place.positions[P0] = 3
    hostless.target.produce("orders", 0, *FOUR_RECORDS[2:])
    hostless.do("stop_mirror")
    stop = hostless.certified

    assert (False, True, {}) == (stop.graceful, stop.resent, stop.ahead_records)
    assert (3, 6) == (stop.mirror_positions[P0], stop.target_end_offsets[P0])
    assert "a part of it was started again before" in stop.reason


def test_checks_of_the_host_do_not_apply(hostless: World) -> None:
    """Preflight does not ask a host that the engine does not need, and says why."""
    checks = hostless.run.evidence.require(Kind.PREFLIGHT)["checks"]
    reasons = {check["check"]: check["reason"] for check in checks if check["state"] == "not applicable"}

    assert NO_HOST == reasons["mirror"]
    assert [] == [check["check"] for check in checks if check["state"] == "failed"]


def test_deployment_opens_tools_only_for_a_host(migration: Migration, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection to MirrorMaker has tools exactly if the engine needs a host."""
    monkeypatch.setattr(ssh, "SshTransport", lambda connection: None)
    with_host = ssh.opened_mirror(migration)
    monkeypatch.setitem(ROWS, "mirrormaker2", replace(ROWS["mirrormaker2"], needs_host=Ability(NO_HOST)))

    assert isinstance(with_host.process, ssh.SshMirrorHost)
    assert isinstance(with_host.host_tools, ssh.SshMirrorHost)
    assert ssh.opened_mirror(migration).host_tools is None
