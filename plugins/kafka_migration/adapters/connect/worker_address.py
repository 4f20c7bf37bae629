"""One worker of a Connect cluster, asked at its own address; a worker's name is the address that it advertises."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from kafka_migration.adapters.connect.connect_rest import is_absence
from kafka_migration.adapters.http.http_service import HttpAnswer, HttpService
from kafka_migration.core.connect.connect_tools import worker_settings
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import Refused, TransientError

TIMEOUT_S = 5.0


class WorkerAnswer(StrEnum):
    """What a worker says of the tasks of a connector.

    `gone`: no process listens at its address. `free`: it knows of no task of the connector. `silent`: it does not
    answer, or does not tell.
    """

    GONE = "gone"
    FREE = "free"
    HAS_TASKS = "has tasks"
    SILENT = "silent"


def ask_worker(settings: HttpSettings, worker: str, connector: str) -> WorkerAnswer:
    """Ask a worker, `host:port`, whether a connector has tasks, as this worker's own copy of the settings says.

    Its thread that starts and stops tasks gives the answer, so a worker that is stuck does not answer.
    """
    try:
        own = worker_settings(settings, f"{urlsplit(settings.url).scheme}://{worker}")
        with closing(HttpService(f"worker {worker}", own, _refused, timeout_s=TIMEOUT_S)) as service:
            return _meaning(service.get(f"/connectors/{quote(connector, safe='')}/tasks"))
    except TransientError as error:
        return WorkerAnswer.GONE if _is_refusal(error) else WorkerAnswer.SILENT
    except Refused:
        return WorkerAnswer.SILENT


def _refused(_: str) -> Refused:
    return Refused([])


def _meaning(answer: HttpAnswer) -> WorkerAnswer:
    tasks = answer.document()
    if is_absence(answer) or (answer.status == HTTPStatus.OK and tasks == []):
        return WorkerAnswer.FREE
    return WorkerAnswer.HAS_TASKS if answer.status == HTTPStatus.OK else WorkerAnswer.SILENT


def _is_refusal(error: BaseException | None) -> bool:
    """Whether the cause of an error is that the host has no process at this port."""
    while error is not None:
        if isinstance(error, ConnectionRefusedError):
            return True
        error = error.__cause__ or error.__context__
    return False
