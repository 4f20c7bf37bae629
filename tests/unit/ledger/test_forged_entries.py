"""Rules of entries beyond the head that Airflow keeps: only a writer's announcement makes them part of the ledger."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store import ledger_store
from kafka_migration.adapters.store.document_files import create_whole, read_whole, to_json
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.chain import (
    Confirmation,
    Head,
    announcement_key,
    confirmation_of,
    head_key,
    linked,
)
from kafka_migration.core.ledger.copy_basis import ClusterSeen, CopyBasis
from kafka_migration.core.ledger.cutovers import (
    CreatedTopic,
    CutOver,
    Rehearsed,
    Reported,
    Reserved,
    RolledBack,
    SettingsFrozen,
    SettingsRestored,
    TopicsAnnounced,
    TopicsCreated,
)
from kafka_migration.core.ledger.generations import (
    Comparison,
    GenerationStart,
    Judgement,
    ReadOffsets,
    Remembered,
    SchemaIdsFound,
    StopCertificate,
)
from kafka_migration.core.ledger.interval_bounds import BoundsResolved, IntervalAnswer
from kafka_migration.core.ledger.ledger import ENTRY_KINDS
from kafka_migration.core.run.run_window import Interval
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from tests.contract.memory_anchor import MemoryAnchor
from tests.unit.partitions import P0

RUN, AT, NIGHT = "kafka_migration__shop/manual__1#1", "t", datetime(2030, 1, 1, tzinfo=UTC)
READ = Comparison(Verdict.PASS, (ReadOffsets(0, 1, 0, 9, 0, 9),), 9, 9)
LIES: tuple[Document, ...] = (
    Reserved(RUN, AT),
    CopyBasis(RUN, AT, ClusterSeen("A"), ClusterSeen("B"), "lake", "{topic}", "mirrormaker2"),
    TopicsAnnounced(RUN, AT, {}),
    TopicsCreated(RUN, AT, {"orders": CreatedTopic("id", {})}),
    SettingsRestored(RUN, AT, ("orders",)),
    SettingsFrozen(RUN, AT, ("orders",)),
    GenerationStart(2, RUN, AT, {P0: 9}, {P0: 9}),
    StopCertificate(1, RUN, AT, True, 143, "why", {P0: 9}, {P0: 9}, Remembered(rewind={P0: 5})),
    Judgement(RUN, AT, True, (1,), {"orders": Verdict.PASS}, {"orders": 9}, POSITION_DIGEST, {"orders": (READ,)}),
    SchemaIdsFound(RUN, AT, {"orders": (1,)}, ()),
    Rehearsed(RUN, AT, "digest", (), (), {}),
    Reported(RUN, AT, {"attempt-1/run.json": "digest"}),
    CutOver(RUN, AT, ("billing",), ("orders",), partly=False),
    RolledBack(RUN, AT, "rollback", ("orders",), ("billing",), ()),
    BoundsResolved(RUN, AT, {}, {P0: 0}),
    IntervalAnswer(RUN, AT, Interval(NIGHT, NIGHT), {}),
)


@pytest.fixture
def store(tmp_path: Path, anchor: MemoryAnchor) -> LedgerStore:
    """A ledger with two entries that Airflow recorded."""
    made = LedgerStore(tmp_path, "shop", anchor=anchor)
    made.append(GenerationStart(1, RUN, AT, {P0: 0}, {P0: 0}).to_document())
    made.append(TopicsCreated(RUN, AT, {}).to_document())
    return made


def forge(folder: Path, entry: dict[str, Any], *, number: int | None = None) -> Head:
    """Add an entry with the right number and digest, or replace one; return its head."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = sorted(folder.iterdir())[: number and number - 1]
    head = Head(len(kept) - 1).after(kept[-1].read_bytes()) if kept else Head()
    text = to_json(linked(entry, head))
    (folder / f"{head.number + 1:06}.json").write_text(text)
    return head.after(text.encode())


def refused(tmp_path: Path, anchor: MemoryAnchor) -> str:
    """Return the finding that both a reader and a writer get."""
    for act in (LedgerStore.read, lambda store: store.append(Reserved(RUN, AT).to_document())):
        with pytest.raises(Refused) as error:
            act(LedgerStore(tmp_path, "shop", anchor=anchor))
        assert [Code.LEDGER_BROKEN] == [finding.code for finding in error.value.findings]
    return str(error.value)


def test_every_kind_of_entry_is_forged_here() -> None:
    """A new kind of entry gets a row among the forged ones."""
    assert set(ENTRY_KINDS) == {lie.to_document()["kind"] for lie in LIES}


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.to_document()["kind"])
def test_forged_entry_of_any_kind_is_refused(
    tmp_path: Path, store: LedgerStore, anchor: MemoryAnchor, lie: Document
) -> None:
    """A well formed and linked entry beyond the head is refused by its number, and nothing anchors it."""
    kept = anchor.kept
    forge(store.folder, lie.to_document())

    assert "has entry 3, which Airflow did not announce" in refused(tmp_path, anchor)
    assert (kept, 3) == (anchor.kept, len(list(store.folder.iterdir())))


def test_announced_entry_of_a_killed_writer_is_read_and_followed(
    tmp_path: Path, store: LedgerStore, anchor: MemoryAnchor
) -> None:
    """A writer that is killed before it keeps the head leaves an entry that counts, with all entries before it."""
    first = forge(store.folder, Reserved("ada", AT).to_document())
    anchor.announce(first)
    anchor.announce(forge(store.folder, Reserved("bob", AT).to_document()))
    anchor.withdraw(first)

    assert "bob" == LedgerStore(tmp_path, "shop", anchor=anchor).read().reserved_by
    LedgerStore(tmp_path, "shop", anchor=anchor).append(TopicsCreated(RUN, AT, {}).to_document())
    assert 5 == anchor.kept.number


def test_forged_entry_after_an_announced_one_is_refused(
    tmp_path: Path, store: LedgerStore, anchor: MemoryAnchor
) -> None:
    """An announcement vouches for the entries before it, and for none after it."""
    anchor.announce(forge(store.folder, Reserved("ada", AT).to_document()))
    forge(store.folder, LIES[-4].to_document())

    assert "has entries 3 to 4, which Airflow did not announce" in refused(tmp_path, anchor)


def test_changed_entry_of_a_killed_writer_is_refused(tmp_path: Path, store: LedgerStore, anchor: MemoryAnchor) -> None:
    """An announcement holds for the bytes that were announced."""
    anchor.announce(forge(store.folder, Reserved("ada", AT).to_document()))
    forge(store.folder, Reserved("mallory", AT).to_document(), number=3)

    assert "has entry 3, which Airflow did not announce" in refused(tmp_path, anchor)


def test_entry_that_another_replaced_is_not_accepted_later(
    tmp_path: Path, store: LedgerStore, anchor: MemoryAnchor
) -> None:
    """An announcement that a killed writer left makes no entry valid whose number is taken."""
    late = forge(store.folder, Reserved("ada", AT).to_document())
    anchor.announce(late)
    (left := store.folder / "000003.json").rename(tmp_path / "left")
    LedgerStore(tmp_path, "shop", anchor=anchor).append(TopicsCreated(RUN, AT, {}).to_document())
    (tmp_path / "left").replace(left)

    assert "an entry 3 that Airflow did not record" in refused(tmp_path, anchor)


def test_entry_that_is_replaced_while_it_is_written_is_not_anchored(
    tmp_path: Path, store: LedgerStore, anchor: MemoryAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is exchanged between its creation and its reading never becomes the head."""

    def exchanged(path: Path, text: str) -> bool:
        create_whole(path, text)
        forge(store.folder, Reserved("mallory", AT).to_document(), number=3)
        return True

    monkeypatch.setattr(ledger_store, "create_whole", exchanged)
    with pytest.raises(Refused, match="another entry than the one that this task wrote"):
        LedgerStore(tmp_path, "shop", anchor=anchor).append(Reserved("ada", AT).to_document())

    assert 2 == anchor.kept.number


def test_entry_that_is_exchanged_while_it_is_read_is_refused(
    tmp_path: Path, store: LedgerStore, anchor: MemoryAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An announced entry that is exchanged after it was compared with Airflow does not become a part of the ledger."""
    anchor.announce(forge(store.folder, Reserved("ada", AT).to_document()))

    def exchanged(path: Path) -> bytes:
        content = read_whole(path)
        if path.name == "000003.json":
            forge(store.folder, Reserved("mallory", AT).to_document(), number=3)
        return content

    monkeypatch.setattr(ledger_store, "read_whole", exchanged)
    with pytest.raises(Refused, match="an entry 3 that Airflow did not record"):
        LedgerStore(tmp_path, "shop", anchor=anchor).read()


def test_ledger_that_this_airflow_does_not_know_is_refused_with_the_command_that_accepts_it(
    tmp_path: Path, anchor: MemoryAnchor
) -> None:
    """A ledger of which Airflow has recorded nothing is not taken as it is; the command in the finding accepts it."""
    forge(tmp_path / "shop" / "ledger", LIES[-4].to_document())
    found = refused(tmp_path, anchor)
    command = shlex.split(found.partition(", run ")[2].partition(" to accept every")[0])

    assert ["airflow", "variables", "set", head_key("shop")] == command[:4]
    anchor.keep(Head.from_text(command[4]))
    assert ("orders",) == LedgerStore(tmp_path, "shop", anchor=anchor).read().cutovers[0].topics


def test_appending_leaves_the_announcement_of_the_newest_entry_only(store: LedgerStore, anchor: MemoryAnchor) -> None:
    """Airflow's list of variables does not grow with the ledger."""
    store.append(Reserved(RUN, AT).to_document())

    assert ({anchor.kept}, 3) == (anchor.announced, anchor.kept.number)


def test_writer_that_keeps_its_head_late_does_not_set_it_back(
    tmp_path: Path, anchor: MemoryAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that sees a later head leaves it."""
    ada, bob = (LedgerStore(tmp_path, "shop", anchor=anchor) for _ in range(2))

    def overtaken(path: Path, text: str) -> bool:
        monkeypatch.setattr(ledger_store, "create_whole", create_whole)
        created = create_whole(path, text)
        bob.append(Reserved("bob", AT).to_document())
        return created

    monkeypatch.setattr(ledger_store, "create_whole", overtaken)
    ada.append(Reserved("ada", AT).to_document())

    assert 2 == anchor.kept.number
    assert "bob" == LedgerStore(tmp_path, "shop", anchor=anchor).read().reserved_by


def test_no_two_entries_and_no_two_migrations_share_a_variable() -> None:
    """Names that contain the forms of the variables' names lead to different variables."""
    names = ["a", "a__ledger", "a__ledger__000001", f"a__ledger__000001_{'0' * 64}"]
    heads = [Head(number, digest * 64) for number in (1, 2, 1_000_000) for digest in "0f"]
    keys = [*map(head_key, names), *(announcement_key(name, head) for name in names for head in heads)]

    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("kept", "announced", "not_confirmed"),
    [
        (Head(3, "c"), (), 0),
        (Head(2, "b"), (Head(3, "c"),), 0),
        (Head(1, "a"), (Head(2, "b"),), 1),
        (Head(1, "a"), (), 2),
        (Head(2, "x"), (Head(3, "c"),), 3),
        (Head(4, "d"), (Head(3, "c"),), 3),
        (Head(), (), 3),
        (Head(), (Head(3, "c"),), 0),
    ],
)
def test_what_airflow_does_not_confirm(kept: Head, announced: tuple[Head, ...], not_confirmed: int) -> None:
    """Entries beyond the head and beyond all announcements are not confirmed; with another head none is."""
    found = confirmation_of({1: "a", 2: "b", 3: "c"}, kept, announced.__contains__)

    assert Confirmation(3, not_confirmed) == found
    assert Confirmation.from_document(found.to_document()) == found


def test_confirmation_in_words(tmp_path: Path, store: LedgerStore, anchor: MemoryAnchor) -> None:
    """The words name the entries that Airflow does not confirm, and say if Airflow was not asked."""
    assert "2 entries, confirmed by Airflow" == str(store.confirmation(anchor))
    forge(store.folder, LIES[0].to_document())

    without = LedgerStore(tmp_path, "shop")
    assert "3 entries; NOT CONFIRMED by Airflow: 3 to 3" == str(without.confirmation(anchor))
    assert "3 entries, checked only by their own chain" in str(without.confirmation(None))


def test_entries_of_a_stranger_are_not_parsed(
    tmp_path: Path, store: LedgerStore, anchor: MemoryAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flood of entries costs the reading of the newest one, because only that one is compared with Airflow."""
    for _ in range(50):
        forge(store.folder, LIES[0].to_document())
    read: list[str] = []

    def noted(path: Path) -> bytes:
        read.append(path.name)
        return read_whole(path)

    monkeypatch.setattr(ledger_store, "read_whole", noted)

    assert "has entries 3 to 52, which Airflow did not announce" in refused(tmp_path, anchor)
    assert {"000001.json", "000002.json", "000052.json"} == set(read)
