"""Whole migrations whose validation and translation run on a real YARN, between clusters that require a login."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.airflow import AirflowFolders
from sandbox.airflow_api import AirflowApi
from sandbox.sandbox import Sandbox
from sandbox.security.listeners import Way
from tests.live.brought_spark import VERSION, BroughtSpark
from tests.live.canaries import Canaries
from tests.live.conftest import PARSING, SILENCE, LiveWorld
from tests.live.granting import grant_what_a_cutover_needs
from tests.live.groups import approve, awaiting, ends
from tests.live.migrations import LiveMigration
from tests.live.test_groups_read_on import (
    GROUPS,
    TARGET_PARTITIONS,
    give_partitions,
    planned,
    read_some,
    require_nothing_skipped,
)
from tests.live.yarn_scene import BEGUN

pytestmark = [pytest.mark.live, pytest.mark.campaign]

SPARK_4 = "4.0.0"
LOGIN: Way = "scram-sha-512"
RECORDS, MORE = 600, 60


@dataclass(frozen=True)
class OnYarn:
    """A sandbox with YARN, and the Spark of its Airflow."""

    live: LiveWorld
    version: str
    brought: BroughtSpark | None

    def connection(self, mode: str) -> str:
        """Return the Spark connection of a deploy mode."""
        name = f"demo_yarn_{mode}"
        if self.brought is None:
            return name
        ours = json.loads(self.live.sandbox.airflow_env()[f"AIRFLOW_CONN_{name.upper()}"])["extra"]
        given = {key: value for key, value in {**ours, **self.brought.extra(mode)}.items() if value is not None}
        self.live.api.add_connection(f"brought_{mode}", "spark", given, host="yarn")
        return f"brought_{mode}"


@pytest.fixture(scope="module")
def on_yarn(
    request: pytest.FixtureRequest,
    migrations_folder: Path,
    dags_folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[OnYarn]:
    """Clusters with logins, a MirrorMaker host, YARN, and Airflow with the Spark of the parameter."""
    brought = BroughtSpark.made_in(tmp_path_factory.mktemp("brought")) if request.param == VERSION else None
    folders = AirflowFolders(dags=dags_folder, migrations=migrations_folder)
    environment = {**SILENCE, **PARSING, **(brought.environment if brought else {})}
    root = tmp_path_factory.mktemp("sandbox")
    with (
        Sandbox(root, folders=folders, extra_environment=environment, secured=True, yarn=True) as running,
        AirflowApi.of(running.state) as api,
    ):
        for side, security in running.security.items():
            api.add_connection(f"{side}_{LOGIN}", "kafka", security.connection(LOGIN))
        yield OnYarn(LiveWorld(running, api, migrations_folder), request.param, brought)


@pytest.mark.parametrize(
    ("on_yarn", "mode"),
    [(SPARK_4, "client"), (SPARK_4, "cluster"), (VERSION, "cluster")],
    indirect=["on_yarn"],
)
def test_migration_is_proved_and_moved_on_yarn(on_yarn: OnYarn, mode: str) -> None:
    """A sync and a cutover are proved, each group reads on without a gap, and YARN's disk has no login."""
    live, name = on_yarn.live, f"yarn-{mode}-{on_yarn.version.replace('.', '-')}"
    logins = {"source": f"source_{LOGIN}", "target": f"target_{LOGIN}"}
    spark = on_yarn.connection(mode)
    migration = live.migration(name, mirror="  engine: mirrormaker1", spark=spark, **logins)
    give_partitions(migration, TARGET_PARTITIONS)
    grant_what_a_cutover_needs(live.sandbox, migration.path, {"source": LOGIN, "target": LOGIN})
    migration.produce(RECORDS)
    sync = migration.run()
    assert ("success", "PASS") == (sync["state"], sync["verdict"]), sync["findings"]

    migration.produce(MORE, first=RECORDS)
    read = groups_that_read(migration)
    run_id = awaiting(migration)
    plan = planned(migration, run_id)
    approve(live.api, migration, run_id)

    assert "PASS" == migration.document(run_id)["verdict"]
    require_nothing_skipped(migration, read, plan, is_sent_again=False)
    for task in ("validate_topics", "translate_offsets"):
        log = live.api.log(migration.dag_id, run_id, task)
        assert f"Spark {on_yarn.version} runs this job on yarn as application_" in log, log[-4000:]
        assert "/cluster/app/application_" in log
    assert BEGUN.search(live.api.log(migration.dag_id, run_id, "validate_topics"))
    assert set() == logins_on_disk(live.sandbox)


def groups_that_read(migration: LiveMigration) -> Mapping[str, list[bytes]]:
    """Let groups read the source anywhere; return what each has read."""
    produced = sum(ends(migration.source, migration.name).values())
    counts = sorted(random.Random(7).sample(range(1, produced), len(GROUPS)))
    return {
        f"{migration.name}-{name}": read_some(migration.source, migration.name, f"{migration.name}-{name}", count)
        for name, count in zip(GROUPS, counts, strict=True)
    }


def logins_on_disk(sandbox: Sandbox) -> set[tuple[str, str]]:
    """Return where the passwords of both clusters stand on the disks of YARN and in the evidence."""
    passwords = {side: security.connection(LOGIN)["sasl.password"] for side, security in sandbox.security.items()}
    canaries = Canaries(passwords)
    evidence = Path(sandbox.state.evidence_root)
    assert canaries.look_below(evidence.parent / "yarn") > 20
    assert canaries.look_below(evidence) > 20
    return canaries.hits
