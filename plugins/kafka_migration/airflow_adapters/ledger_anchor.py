"""Keeps each ledger's head and announcements in Airflow variables, outside the evidence root that they protect."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from airflow.sdk import Variable
from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType

from kafka_migration.airflow_adapters.deployed_airflow import LISTS_VARIABLES
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.ledger.chain import Head, announcement_key, head_key

_HEAD = "Newest entry of this migration's ledger. Do not delete it: without it no run accepts the ledger."
_ANNOUNCEMENT = "Announces an entry of this migration's ledger. The run that adds the next entry deletes it."

log = logging.getLogger(__name__)


class VariableAnchor:
    """Keeps the head of one migration's ledger in the Airflow variable `kafka_migration__<name>__ledger`.

    Each announcement is a variable of its own, whose name contains the entry's number and digest. So a writer cannot
    replace the announcement of another one.
    """

    def __init__(self, migration: str, value_of: Callable[[str], str | None] | None = None) -> None:
        self.migration = migration
        self.key = head_key(migration)
        self._value_of = value_of or _value_of

    def head(self) -> Head:
        """Return the head that was kept last; `Head()` if Airflow has no such variable.

        Raises `Refused` (`LEDGER_BROKEN`) if the variable holds no head, `TransientError` if Airflow does not answer.
        """
        return _head_in(self.key, self._value_of(self.key))

    def keep(self, head: Head) -> None:
        """Keep a head instead of the previous one; raises `TransientError` if Airflow does not."""
        with _answering(f"keep the variable {self.key}"):
            Variable.set(self.key, head.to_text(), _HEAD)

    def announce(self, head: Head) -> None:
        """Announce an entry; raises `TransientError` if Airflow does not keep the announcement."""
        key = announcement_key(self.migration, head)
        with _answering(f"keep the variable {key}"):
            Variable.set(key, head.to_text(), _ANNOUNCEMENT)
        # Airflow 3.2 only logs that it did not set a variable.
        if not self.is_announced(head):
            raise TransientError(f"Airflow did not keep the variable {key}")

    def is_announced(self, head: Head) -> bool:
        """Return whether an entry is announced; raises `TransientError` if Airflow does not answer."""
        return self._value_of(announcement_key(self.migration, head)) is not None

    def withdraw(self, head: Head) -> None:
        """Delete an announcement. One that remains because Airflow does not answer has no effect."""
        key = announcement_key(self.migration, head)
        try:
            Variable.delete(key)
        except AirflowRuntimeError as error:
            log.warning("Airflow did not delete the variable %s, which is no longer needed: %s", key, error)


def stored_anchor(migration: str) -> VariableAnchor | None:
    """Return what Airflow's database keeps, for the command line; `None` if the database does not answer.

    Only a task can write it.
    """
    return database_anchor(migration) if _has_database() else None


def database_anchor(migration: str) -> VariableAnchor:
    """Return what Airflow's database keeps, for the API server. Only a task can write it."""
    return VariableAnchor(migration, _stored_value)


@cache
def _has_database() -> bool:
    try:
        _stored_value(head_key(""))
    except TransientError as error:
        log.debug("%s", error)
        return False
    return True


def _stored_value(key: str) -> str | None:
    from airflow.secrets.metastore import MetastoreBackend
    from sqlalchemy.exc import SQLAlchemyError

    try:
        value: str | None = MetastoreBackend().get_variable(key)
    except SQLAlchemyError as error:
        raise TransientError(f"Airflow's database did not answer: {error}") from error
    return value


def _head_in(key: str, text: str | None) -> Head:
    if text is None:
        return Head()
    try:
        return Head.from_text(text)
    except ValueError as error:
        raise Refused([_not_a_head(key, str(error))]) from None


def _value_of(key: str) -> str | None:
    value: str | None = Variable.get(key, default=None)
    if value is None:
        _require_missing(key)
    return value


def _require_missing(key: str) -> None:
    # `Variable.get` returns its default for a variable that does not exist, and also if the API does not answer
    # (ExecutionAPISecretsBackend, Airflow 3.3.2). The list of keys distinguishes the two cases.
    with _answering("list its variables"):
        is_there = key in Variable.keys(prefix=key) if LISTS_VARIABLES else _is_known(key)
    if is_there:
        raise TransientError(f"Airflow did not return the variable {key}")


@contextmanager
def _answering(act: str) -> Iterator[None]:
    try:
        yield
    except AirflowRuntimeError as error:
        raise TransientError(f"Airflow did not {act}: {error}") from error


def _is_known(key: str) -> bool:
    """Return whether a variable exists, where Airflow cannot list variables; raises if Airflow does not answer."""
    from airflow.sdk.execution_time.comms import ErrorResponse, GetVariable
    from airflow.sdk.execution_time.task_runner import SUPERVISOR_COMMS

    try:
        answer = SUPERVISOR_COMMS.send(GetVariable(key=key))
    except AirflowRuntimeError as error:
        # A test run of a DAG raises what a scheduled run returns.
        answer = error.error
    if not isinstance(answer, ErrorResponse):
        return True
    if answer.error != ErrorType.VARIABLE_NOT_FOUND:
        raise AirflowRuntimeError(answer)
    return False


def _not_a_head(key: str, reason: str) -> Finding:
    return Finding(
        Code.LEDGER_BROKEN,
        f"Airflow variable {key}",
        reason,
        "the number and digest of the ledger's newest entry",
        "Find out who changed the variable, and restore it from a backup of Airflow's database. If there is no backup "
        "and you trust every entry of the ledger, delete the variable: the next run names the command that accepts "
        "the ledger.",
        happened=f"Airflow's variable {key} does not hold the number and digest of the ledger's newest entry: "
        f"{reason}.",
        matters="Without them no run can know whether entries of the ledger were removed or changed, so nothing was "
        "started.",
    )
