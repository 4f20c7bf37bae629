"""What anybody on the host sees of a run in `ps`."""

from __future__ import annotations

import re

import pytest

from sandbox.kafka import LOGIN_USER
from tests.live.conftest import LiveWorld
from tests.live.granting import grant_to
from tests.live.invariants import HostSampler
from tests.live.migrations import LiveMigration

pytestmark = [pytest.mark.live, pytest.mark.campaign]

NOTE, TOPIC, GROUP = "canary note $(id) 'x", "canary-topic-77aa", "canary-group-c0de"
SHORTEST_LINE = 12


def login_of(live: LiveWorld) -> tuple[str, str]:
    """Return where the source takes a login, and the password, as its broker was configured."""
    properties = (live.sandbox.state.root / "source" / "server.properties").read_text()
    listener, password = (
        re.search(pattern, properties) for pattern in (r"LOGIN://([^,\s]+)", f'user_{LOGIN_USER}="([^"]+)"')
    )
    assert listener
    assert password
    return listener[1], password[1]


def connection_with_secrets(live: LiveWorld, number: str) -> str:
    """Store a connection that logs in to the source; return what a migration file says of it."""
    address, password = login_of(live)
    extra = {
        "bootstrap.servers": address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": LOGIN_USER,
        "sasl.password": password,
    }
    name = f"source_with_secrets_{number}"
    live.api.add_connection(name, "kafka", extra)
    return f"{name}\n  insecure: [sasl_plaintext]"


def lines_of_launch(migration: LiveMigration) -> set[str]:
    """Return every line of the files that MirrorMaker was started with, secrets included."""
    (folder,) = migration.host_folder.glob("gen-*")
    files = [folder / line.removeprefix("file=") for line in (folder / "manifest").read_text().splitlines()]
    texts = [path.read_text() for path in files if path.is_file()]
    return {line.strip() for text in texts for line in text.splitlines() if len(line.strip()) >= SHORTEST_LINE}


@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
def test_no_secret_and_no_user_text_is_in_a_process_list(live: LiveWorld, engine: str) -> None:
    """Neither a password nor a note, topic, group or line of the launch shows in `ps`, from the trigger to the end."""
    topic = f"{TOPIC}-{engine}"
    more = {"more_topics": f", {topic}", "groups": GROUP, "mirror": f"  engine: {engine}"}
    migration = live.migration(f"process-list-{engine}", source=connection_with_secrets(live, engine), **more)
    migration.create_topic(topic)
    grant_to(f"User:{LOGIN_USER}", live.sandbox, migration.path, "source")
    _, password = login_of(live)
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
    assert any(password in line for line in lines)
    assert [] == [text for text in (password, NOTE, topic, GROUP, *lines) if text in seen]
