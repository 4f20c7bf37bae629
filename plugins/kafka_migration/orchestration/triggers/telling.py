"""Sends alerts from a trigger without blocking it."""

from __future__ import annotations

import asyncio

from asgiref.sync import sync_to_async

from kafka_migration.core.report.alerts import Alert
from kafka_migration.orchestration.task.alerting import send
from kafka_migration.steps.run.migration_run import MigrationRun

# Keeps references, because the event loop alone does not keep a future alive.
_telling: set[asyncio.Future[None]] = set()


def tell(run: MigrationRun, alert: Alert) -> None:
    """Send an alert in parallel with the polls: a notifier that hangs must not block the lease renewal."""
    telling = asyncio.ensure_future(sync_to_async(send, thread_sensitive=False)(run, alert))
    _telling.add(telling)
    telling.add_done_callback(_telling.discard)
