"""One worker of a Connect cluster, asked at its own address; a worker's name is the address that it advertises."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from kafka_migration.adapters.connect.connect_rest import is_absence
from kafka_migration.adapters.http.http_service import HttpAnswer, HttpService, proxy_of
from kafka_migration.core.connect.connect_tools import worker_settings
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import Refused, TransientError

TIMEOUT_S = 5.0


class WorkerAnswer(StrEnum):
    """What a worker says of the tasks of a connector.

    `gone`: no process listens at its address. `free`: it knows of no task of the connector. `unclear`: something
    answers there, and does not tell; a worker that starts or rebalances does so. `silent`: nothing answers.
    """

    GONE = "gone"
    FREE = "free"
    HAS_TASKS = "has tasks"
    UNCLEAR = "unclear"
    SILENT = "silent"

    @property
    def is_answer(self) -> bool:
        """Whether something answered."""
        return self not in (WorkerAnswer.GONE, WorkerAnswer.SILENT)

    @property
    def is_end(self) -> bool:
        """Whether the worker runs no task of the connector."""
        return self in (WorkerAnswer.GONE, WorkerAnswer.FREE)


def ask_worker(settings: HttpSettings, address: str, connector: str) -> WorkerAnswer:
    """Ask a worker at its own URL whether a connector has tasks, as this worker's own copy of the settings says.

    Its thread that starts and stops tasks gives the answer, so a worker that is stuck does not answer.
    """
    try:
        own = worker_settings(settings, address)
        with closing(HttpService(f"worker {address}", own, _refused, timeout_s=TIMEOUT_S)) as service:
            return _meaning(service.get(f"/connectors/{quote(connector, safe='')}/tasks"), connector)
    except TransientError as error:
        return WorkerAnswer.GONE if _is_refusal(error) and not _has_proxy(address) else WorkerAnswer.SILENT
    except Refused:
        return WorkerAnswer.SILENT


def _refused(_: str) -> Refused:
    return Refused([])


def _has_proxy(address: str) -> bool:
    """Whether a proxy is between Airflow and an address; its refusal says nothing about the worker."""
    try:
        return proxy_of(urlsplit(address)) is not None
    except ValueError:
        return True


def _meaning(answer: HttpAnswer, connector: str) -> WorkerAnswer:
    if answer.status == HTTPStatus.OK and isinstance(tasks := answer.document(), list):
        return WorkerAnswer.HAS_TASKS if tasks else WorkerAnswer.FREE
    return WorkerAnswer.FREE if is_absence(answer, connector) else WorkerAnswer.UNCLEAR


def _is_refusal(error: BaseException | None) -> bool:
    """Whether the cause of an error is that the host has no process at this port."""
    while error is not None:
        if isinstance(error, ConnectionRefusedError):
            return True
        error = error.__cause__ or error.__context__
    return False
