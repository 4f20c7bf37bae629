"""What people read when a Connect cluster, as the place of a migration's process, refuses a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
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
        "connector. Then trigger this run again.",
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


def not_stopped(connector: str, workers: Sequence[str]) -> Finding:
    """Return the finding of a stop that nothing proves; `workers` have not shown that their tasks have ended."""
    named = some(workers) if workers else "unknown"
    where = f"worker {named}" if workers else "the Connect cluster"
    return Finding(
        Code.MIRROR_NOT_STOPPED,
        f"connector {connector}",
        f"no proof that its tasks have ended; workers without an answer: {named}",
        "a row of each worker that its task has ended, or its own answer",
        f"Look at {where}: a worker that is cut off or paused continues to copy when it can. Make it answer, or end "
        "its process. Then clear the task with its downstream tasks. Start no other run before.",
        happened=f"Connector {connector} was told to stop, but {where} did not show that its tasks have ended.",
        matters="It may still copy records, so it is unknown up to which offsets it copied.",
    )
