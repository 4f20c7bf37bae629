"""The rights that `acls` prints are enough, and each is needed: real authorizers, one right taken away at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from kafka_migration.airflow_adapters.airflow_connections import cluster_named
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.settings import Migration, Mode
from kafka_migration.core.rights.rights import Need, Right, rights_for
from kafka_migration.engines.engine_rights import missing_rights, required_rights
from kafka_migration.migration_file.loading import load_migration_file
from sandbox.sandbox import Sandbox
from sandbox.security.kdc import USER
from tests.live.granting import Rights
from tests.live.stage import Stage, connect_by, set_the_stage
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

SIDES: tuple[Side, ...] = ("source", "target")
PRINCIPAL = f"User:{USER}"
# The smallest mode that has each need.
MODES = {
    Need.SYNC: Mode.SYNC,
    Need.PLAN: Mode.REHEARSE,
    Need.CUTOVER: Mode.CUTOVER,
    Need.RESTORE: Mode.RESTORE,
    Need.FAIL_BACK: Mode.FAIL_BACK,
}


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Both clusters with an authorizer, and the MirrorMaker host."""
    with Sandbox(tmp_path_factory.mktemp("secured"), airflow=False, secured=True) as sandbox:
        yield sandbox


@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
def test_each_right_is_needed(secured: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """With the printed rights a sync passes; without any one of them preflight names it, for every mode and side."""
    set_the_stage(secured, tmp_path, monkeypatch)
    connect_by("scram-sha-512", secured, monkeypatch)
    topic = f"orders-{engine}"
    stage = Stage(secured, f"minimal-{engine}", tmp_path, [topic], engine)
    file = tmp_path / "migrations" / f"minimal-{engine}.yaml"
    _, migration = load_migration_file(file)
    users = {side: Rights(secured.bootstraps[side], PRINCIPAL) for side in SIDES}
    grant_all_of(Mode.SYNC, migration, users)
    assert "drained" == stage.copied(topic)[0]
    for need, mode in MODES.items():
        grant_all_of(mode, migration, users)
        for side in SIDES:
            require_each(mode, need, side, migration, users[side])


def grant_all_of(mode: Mode, migration: Migration, users: Mapping[Side, Rights]) -> None:
    """Grant the rights of a mode, and no more."""
    for side, user in users.items():
        user.revoke_all()
        user.grant(rights_for(mode, required_rights(migration, side)))


def require_each(mode: Mode, need: Need, side: Side, migration: Migration, user: Rights) -> None:
    """Without each right of this need exactly it is missing; brokers learn of a change after a moment."""
    rights = rights_for(mode, required_rights(migration, side))
    wait_until(lambda: not missing(mode, side, migration), 60, f"all rights of {mode} on the {side}")
    for right in {(each.resource, each.operation): each for each in rights if each.need is need}.values():
        with user.without(right):
            is_missed = partial(is_the_only_one, right, mode, side, migration)
            wait_until(is_missed, 60, f"{right} to be missed")
        wait_until(lambda: not missing(mode, side, migration), 60, f"{right} to be granted")


def missing(mode: Mode, side: Side, migration: Migration) -> list[Finding]:
    """Return what preflight finds about the rights of a side."""
    return list(missing_rights(cluster_named(side, f"demo_{side}"), migration, side, mode, PRINCIPAL))


def is_the_only_one(right: Right, mode: Mode, side: Side, migration: Migration) -> bool:
    """Whether the only finding names this right, perhaps with the operations that are lost with it."""
    findings = missing(mode, side, migration)
    return [Code.RIGHT_MISSING] == [each.code for each in findings] and (
        right.operation in findings[0].found and right.resource.name in findings[0].found
    )
