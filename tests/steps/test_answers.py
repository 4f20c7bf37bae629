"""What the verbs and the page answer about a migration, without Airflow and without the command line."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.adapters.store.run_status_store import NewsStore
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnreadable, Finding, Refused, TransientError
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.group_writes import OffsetsResultDocument
from kafka_migration.core.kafka.cluster import KafkaCluster, NewTopic, Side
from kafka_migration.core.ledger.chain import Head
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.core.ledger.generations import Comparison, GenerationStart, Judgement, ReadOffsets, StopCertificate
from kafka_migration.core.migration.settings import Cluster, Phase
from kafka_migration.core.report.run_status import contradictions
from kafka_migration.core.rollback.decommission import State, WaitingTimes
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.stored.stored_documents import OffsetsBeforeDocument, Stored
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from kafka_migration.steps.answers import status_answer as status_module
from kafka_migration.steps.answers.kept_migration import MigrationStore, all_migrations
from kafka_migration.steps.answers.status_answer import (
    AllStatuses,
    BriefStatus,
    EndedRun,
    StatusAgain,
    StatusAnswer,
    UnreadStatus,
    VerdictAnswer,
    all_statuses,
    status_answer,
    verdict_answer,
)
from kafka_migration.steps.rollback.decommissioning import DecommissionAnswer, decommission_answer
from tests.contract.fake_cluster import FakeCluster
from tests.contract.memory_anchor import MemoryAnchor
from tests.present import present
from tests.unit.partitions import P0

NOW = datetime(2030, 1, 2, tzinfo=UTC)
AT = "2030-01-01T00:00:00+00:00"
RUN = RunIdentity("kafka_migration__shop", "manual__1", 1)
FOREIGN = Finding(Code.TARGET_WRITTEN_BY_OTHERS, "orders[0]", "end 31", "end 30", "Look at it.")


def copied(root: Path, name: str = "shop") -> MigrationStore:
    """Leave what a generation leaves that copied five records of `orders` and was judged."""
    ledger = LedgerStore(root, name)
    read = Comparison(Verdict.PASS, (ReadOffsets(0, 1, 0, 5, 0, 5),), 5, 5)
    ledger.append(GenerationStart(1, RUN.holder, AT, {P0: 0}, {P0: 0}).to_document())
    ledger.append(StopCertificate(1, RUN.holder, AT, True, 143, "stopped", {P0: 5}, {P0: 5}).to_document())
    proved = {"orders": Verdict.PASS}, {"orders": 5}, POSITION_DIGEST, {"orders": (read,)}
    ledger.append(Judgement(RUN.holder, AT, False, (1,), *proved).to_document())
    return MigrationStore(root, name)


def told(store: MigrationStore, *findings: Finding) -> MigrationStore:
    """Leave the result of a last run with these findings."""
    found = contradictions((), findings, RUN.holder, AT, ())
    last = EndedRun(RUN.holder, datetime.fromisoformat(AT), "sync", "failed", "", "", "", findings, found)
    store.news.tell_last_run(last.to_document())
    return store


def described(error: Exception) -> tuple[Finding, ...]:
    assert isinstance(error, Refused)
    return error.findings


def test_status_is_a_value(tmp_path: Path) -> None:
    """Phase, generation, last run and the verdict of each topic are values, not texts."""
    found = status_answer(told(copied(tmp_path), FOREIGN), NOW)
    last, generation = present(found.last_run), present(found.last_generation)

    assert (Phase.SYNCING, None, {"orders": Verdict.PASS}) == (found.phase, found.now, found.topics)
    assert ((FOREIGN,), "24h00m ago") == (last.findings, last.age)
    assert (1, False, ()) == (generation.number, generation.open, found.pending_generations)
    assert StatusAnswer.from_document(found.to_document()) == found


@pytest.mark.parametrize(("age_s", "is_fresh"), [(120, True), (121, False)])
def test_progress_is_fresh_for_two_minutes(tmp_path: Path, age_s: int, is_fresh: bool) -> None:
    """An older progress may belong to a run that is no longer active."""
    store = copied(tmp_path)
    at = (NOW - timedelta(seconds=age_s)).isoformat()
    store.news.tell_progress({"run": RUN.holder, "at": at, "step": "watch_lag", "copied": 1, "total": 2, "lag": 1})
    now = present(status_answer(store, NOW).now)

    assert (is_fresh, "watch_lag") == (now.is_fresh, now.step)
    assert "50.0% (1 of 2 offsets)" in now.words


def test_every_migration_is_listed_although_one_cannot_be_read(tmp_path: Path) -> None:
    """A broken ledger is an entry with its code, and hides no other migration."""
    told(copied(tmp_path), FOREIGN)
    copied(tmp_path, "bad")
    (tmp_path / "bad" / "ledger" / "000002.json").write_text("{")
    found: AllStatuses = all_statuses(all_migrations(tmp_path), NOW, described)
    bad, shop = found.migrations

    assert UnreadStatus("bad", Code.LEDGER_BROKEN) == bad
    assert isinstance(shop, BriefStatus)
    assert (True, "PASS", Code.TARGET_WRITTEN_BY_OTHERS) == (
        shop.contradicted,
        shop.standing,
        present(shop.last_run).code,
    )
    assert [Code.LEDGER_BROKEN] == [finding.code for finding in found.problems]


def test_verdict_has_what_is_proved_and_what_contradicts_it(tmp_path: Path) -> None:
    """The answer names the judged stretches of each side, and later findings against them."""
    found = verdict_answer(told(copied(tmp_path), FOREIGN))
    orders = found.topics["orders"]

    assert ("PASS", AT, [Code.TARGET_WRITTEN_BY_OTHERS]) == (
        found.standing,
        found.as_of,
        [each.code for each in found.contradictions],
    )
    assert (True, 5, 5, ()) == (orders.proved, orders.source_offsets, orders.target_records, orders.flaws)
    assert ((0, 5, Verdict.PASS, RUN.holder),) == orders.partitions[0].target
    assert VerdictAnswer.from_document(found.to_document()) == found


def test_unknown_migration_is_refused_with_those_that_are_there(tmp_path: Path) -> None:
    """A wrong name shows the names that the evidence root has."""
    copied(tmp_path)
    with pytest.raises(Refused, match=r"MIGRATION_UNKNOWN · migration ship: .* it has that of shop"):
        MigrationStore.open(tmp_path, "ship")


def never(side: Side, cluster: Cluster) -> KafkaCluster:
    """Open no cluster: the answer needs none."""
    raise AssertionError(f"{side} cluster {cluster.connection} was asked")


def test_decommission_before_the_first_cutover_asks_no_cluster(tmp_path: Path) -> None:
    """Nothing is cut over, so the answer is no, whatever the clusters have."""
    found = decommission_answer(copied(tmp_path), WaitingTimes(), NOW, never)

    assert ("no", [State.NOT_MET]) == (found.answer, [each.state for each in found.conditions])
    assert DecommissionAnswer.from_document(found.to_document()) == found


@pytest.fixture
def moved(tmp_path: Path, migration_text: str) -> MigrationStore:
    """A migration that was cut over without any consumer group."""
    store = copied(tmp_path)
    evidence = RunEvidence(tmp_path, "shop", RUN)
    evidence.freeze_migration(migration_text)
    evidence.write(Stored.OFFSETS_BEFORE, OffsetsBeforeDocument("t", "d", {}, {}))
    evidence.write(Stored.OFFSETS_RESULT, OffsetsResultDocument.of("t", "d", (), ()))
    store.ledger.append(CutOver(RUN.holder, AT, (), ("audit", "orders"), False).to_document())
    return store


@pytest.fixture
def clusters() -> dict[str, FakeCluster]:
    """Both clusters, each with the topics of the migration."""
    made = {"source": FakeCluster("s"), "target": FakeCluster("t")}
    for cluster in made.values():
        cluster.create_topics([NewTopic("orders", 1, 1, {}), NewTopic("audit", 1, 1, {})])
    return made


def opening(clusters: dict[str, FakeCluster]) -> Callable[[Side, Cluster], KafkaCluster]:
    return lambda side, _: clusters[side]


def test_decommission_reads_both_clusters_and_closes_them(
    moved: MigrationStore, clusters: dict[str, FakeCluster]
) -> None:
    """After a cutover each condition is compared with the clusters; no connection stays open."""
    found = decommission_answer(moved, WaitingTimes(timedelta(0), timedelta(0)), NOW, opening(clusters))
    states = {each.condition: each.state for each in found.conditions}

    assert State.MET is states["Every topic is cut over"]
    assert State.MET is states["No consumer group reads on the source"]
    assert [1, 1] == [cluster.closings for cluster in clusters.values()]


def test_decommission_is_unknown_if_a_cluster_does_not_answer(
    moved: MigrationStore, clusters: dict[str, FakeCluster]
) -> None:
    """Silence is no answer: the error is passed on, and the connections are closed."""
    clusters["source"].is_down = True
    with pytest.raises(TransientError):
        decommission_answer(moved, WaitingTimes(), NOW, opening(clusters))

    assert [1, 1] == [cluster.closings for cluster in clusters.values()]


def test_ledger_that_is_not_confirmed_is_no_ground_for_yes(tmp_path: Path) -> None:
    """What Airflow does not confirm is unknown, and comes first."""
    copied(tmp_path)
    store = MigrationStore(tmp_path, "shop", lambda _: MemoryAnchor(Head()))
    found = decommission_answer(store, WaitingTimes(), NOW, never)

    assert ("Airflow confirms the ledger", State.UNKNOWN) == (found.conditions[0].condition, found.conditions[0].state)
    assert 3 == found.ledger.not_confirmed


def test_news_of_another_version_are_named(tmp_path: Path) -> None:
    """A document that cannot be read is named, and gives no status."""
    store = copied(tmp_path)
    NewsStore(tmp_path, "shop").tell_last_run({"run": 1})
    with pytest.raises(Exception, match=r"EVIDENCE_UNREADABLE · .*last-run\.json"):
        status_answer(store, NOW)


def test_status_again_reads_only_new_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answer as a new reader gives, at each moment; without a new entry the copy is not judged again."""
    store = copied(tmp_path)
    again = StatusAgain(store)
    assert status_answer(MigrationStore(tmp_path, "shop"), NOW) == again.at(NOW)

    LedgerStore(tmp_path, "shop").append(GenerationStart(2, RUN.holder, AT, {P0: 5}, {P0: 5}).to_document())
    assert status_answer(MigrationStore(tmp_path, "shop"), NOW) == again.at(NOW)

    monkeypatch.setattr(status_module, "coverage_of", lambda _: pytest.fail("judged again"))
    assert 2 == present(again.at(NOW).last_generation).number


@pytest.mark.parametrize(
    "numbers",
    [
        {"copied": 10**400, "total": 1},
        {"rate": float("nan")},
        {"eta_s": 1e300},
        {"reading": {"began_at": AT, "at": AT, "read": 1, "at_most": 2**63}},
    ],
)
def test_progress_of_odd_numbers_cannot_be_read(tmp_path: Path, numbers: dict[str, object]) -> None:
    """Anyone may write the progress: a number that no run tells makes it unreadable, in words."""
    store = copied(tmp_path)
    store.news.tell_progress({"schema": 1, "run": RUN.holder, "at": AT, "step": "watch_lag", **numbers})

    with pytest.raises(EvidenceUnreadable, match=r"progress\.json"):
        status_answer(store, NOW)
