"""What anybody on the host sees of a run in `ps`."""

from __future__ import annotations

import pytest

from tests.live.conftest import LiveWorld
from tests.live.invariants import HostSampler
from tests.live.migrations import LiveMigration

pytestmark = [pytest.mark.live, pytest.mark.campaign]

SECRETS = ("canary-jaas-6f1c", "canary-key-91be")
NOTE, TOPIC, GROUP = "canary note $(id) 'x", "canary-topic-77aa", "canary-group-c0de"
SHORTEST_LINE = 12


def connection_with_secrets(live: LiveWorld, number: str) -> str:
    """Store a connection to the source with passwords; where nothing is encrypted, no client uses them."""
    extra = {
        "bootstrap.servers": live.sandbox.state.source_bootstrap,
        "security.protocol": "PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "somebody",
        "sasl.password": SECRETS[0],
        "ssl.key.password": SECRETS[1],
    }
    name = f"source_with_secrets_{number}"
    live.api.add_connection(name, "kafka", extra)
    return name


def lines_of_launch(migration: LiveMigration) -> set[str]:
    """Return every line of the files that MirrorMaker was started with, secrets included."""
    (folder,) = migration.host_folder.glob("gen-*")
    files = [folder / line.removeprefix("file=") for line in (folder / "manifest").read_text().splitlines()]
    texts = [path.read_text() for path in files if path.is_file()]
    return {line.strip() for text in texts for line in text.splitlines() if len(line.strip()) >= SHORTEST_LINE}


@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
def test_no_secret_and_no_user_text_is_in_a_process_list(live: LiveWorld, engine: str):
    """Neither a password nor a note, topic, group or line of the launch shows in `ps`, from the trigger to the end."""
    topic = f"{TOPIC}-{engine}"
    more = {"more_topics": f", {topic}", "groups": GROUP, "mirror": f"  engine: {engine}"}
    migration = live.migration(f"process-list-{engine}", source=connection_with_secrets(live, engine), **more)
    migration.create_topic(topic)
    migration.produce(200)
    with HostSampler(migration, keeps_command_lines=True) as sampler:
        run_id = migration.trigger("follow", note=NOTE)
        migration.wait_for_task(run_id, "watch_lag", ["deferred"])
        lines = lines_of_launch(migration)
        assert 0 == migration.cli("stop").returncode
        run = migration.finished(run_id)

    assert "success" == run.state, migration.codes(run_id)
    seen = "\n".join(sampler.command_lines)
    assert migration.name in seen
    assert all(any(secret in line for line in lines) for secret in SECRETS)
    assert [] == [text for text in (*SECRETS, NOTE, topic, GROUP, *lines) if text in seen]
