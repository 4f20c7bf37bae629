"""What people read when a Connect cluster, as the place of a migration's process, refuses a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.text.shortened import sentence, some


class _Words(NamedTuple):
    """What was expected, the begin of what happened, why it matters, what to do."""

    expected: str
    happened: str
    matters: str
    remedy: str


_WORDS: Mapping[Code, _Words] = {
    Code.RESERVED_BY: _Words(
        "a migration without a reservation",
        "Another run holds the reservation",
        "Only one run may act on a migration, so this request did nothing.",
        "Wait until that run has ended, or end it: its task `finish` frees the reservation. Then trigger this run "
        "again.",
    ),
    Code.NOT_RESERVED: _Words(
        "this run's reservation",
        "This run does not hold the reservation",
        "Another run has taken over the migration, or the connector of the reservation was deleted. So this "
        "request did nothing.",
        "If another run of this migration is active, wait until it has ended. Then trigger a new run.",
    ),
    Code.ALREADY_RUNNING: _Words(
        "no running connector of this migration",
        "The connector of this migration is running",
        "Two of them would copy each record twice, so no second one was started.",
        "Clear the run that started this connector, or mark that run as failed: its task `stop_mirror` then stops the "
        "connector. If a person started it, stop it with Connect's REST interface (`PUT /connectors/<name>/stop`). "
        "Then trigger this run again.",
    ),
    Code.GENERATION_STOPPED: _Words(
        "a generation that was never stopped",
        "The start came after the stop of this generation",
        "No run would stop a connector that starts so late, so nothing was started.",
        "Trigger a new run.",
    ),
    Code.GENERATION_UNEXPECTED: _Words(
        "the generation that follows the last one on the Connect cluster",
        "The Connect cluster counts other generations than the run",
        "The connector may still run on an earlier Connect cluster, and two would copy each record twice. Nothing was "
        "started.",
        "Make sure that the connection names the Connect cluster of the earlier runs. If that was replaced on purpose "
        "and the connector does not run on the old one, delete the migration's connectors on the new one. Then "
        "trigger the run again.",
    ),
    Code.MIRROR_DEAD: _Words(
        "running tasks after the start",
        "The connector failed at its start",
        "It is not running, so no further records are copied.",
        "Remove the cause that the trace names. Then trigger the run again.",
    ),
}


def refusal(code: Code, migration: str, found: str) -> Finding:
    """Return the finding of a request that was refused; `found` is what is there instead."""
    words = _WORDS[code]
    return Finding(
        code,
        f"migration {migration} on the Connect cluster",
        found,
        words.expected,
        words.remedy,
        happened=sentence(f"{words.happened}: {found}"),
        matters=words.matters,
    )


def not_stopped(connector: str, unproved: Sequence[str]) -> Finding:
    """Return the finding of a stop that nothing proves; `unproved` is what shows no end, such as a worker."""
    where = some(unproved)
    return Finding(
        Code.MIRROR_NOT_STOPPED,
        f"connector {connector}",
        f"no proof that its tasks have ended: nothing from {where}",
        "a row of each worker that its task has ended, or its own answer",
        f"Look at {where}. A worker that is cut off or paused continues to copy when it can: make it answer, or end "
        "its process. Then clear the task with its downstream tasks. Start no other run before.",
        happened=f"Connector {connector} was told to stop, but nothing from {where} shows that its tasks have ended.",
        matters="It may still copy records, so it is unknown up to which offsets it copied.",
    )


def unseen(connector: str, topic: str) -> Finding:
    """Return the finding of a connector that writes its states to another topic than the one that the file names."""
    return Finding(
        Code.CONNECT_TOPIC_UNSAFE,
        f"topic {topic}",
        f"no row of connector {connector}, although it has started",
        "the workers' status.storage.topic",
        "Set mirror.connect.status_topic to the status.storage.topic of the workers. Then trigger the run again.",
        happened=f"Connector {connector} has started, but topic {topic} (mirror.connect.status_topic) has no row of "
        "it.",
        matters="Without the workers' own rows, restarts of tasks cannot be seen and no stop can be proved. So the "
        "connector was told to stop.",
    )


def no_worker(settings: HttpSettings, found: str) -> Refused:
    """Return the refusal of what no worker of Kafka Connect answers at the address of a connection."""
    name = f"Kafka Connect ({settings.connection}, {settings.url})"
    return Refused(
        [
            Finding(
                Code.CONNECTION_INVALID,
                f"connection {settings.connection}",
                f"{found} from {name}",
                "the answers of a worker of Kafka Connect",
                "Correct address, login and ssl.ca.pem of the Airflow connection, or grant its user the right to use "
                "the REST interface. Then trigger the run again, or clear the task.",
                happened=f"{name} did not answer as a worker of Kafka Connect: {found}.",
                matters="Without its answers, MirrorMaker's connector can neither be checked nor started nor stopped.",
            )
        ]
    )
