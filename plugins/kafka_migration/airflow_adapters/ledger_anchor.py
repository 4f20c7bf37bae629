"""Keeps each ledger's head in an Airflow variable, outside the evidence root that it protects."""

from __future__ import annotations

from airflow.sdk import Variable
from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType

from kafka_migration.airflow_adapters.airflow_version import LISTS_VARIABLES
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.ledger.chain import Head

_DESCRIPTION = "Newest entry of this migration's ledger. Delete it only to accept the current ledger."


class VariableAnchor:
    """Keeps the head of one migration's ledger in the Airflow variable `kafka_migration__<name>__ledger`.

    An Airflow without this variable, such as a new one with an old evidence root, accepts the ledger unchecked.
    """

    def __init__(self, migration: str) -> None:
        self.key = f"kafka_migration__{migration}__ledger"

    def head(self) -> Head:
        """Return the head that was kept last; `Head()` if Airflow has no such variable.

        Raises `Refused` (`LEDGER_BROKEN`) if the variable holds no head, `TransientError` if Airflow does not answer.
        """
        text = Variable.get(self.key, default=None)
        if text is None:
            self._require_missing()
            return Head()
        try:
            return Head.from_text(text)
        except ValueError as error:
            raise Refused([_not_a_head(self.key, str(error))]) from None

    def _require_missing(self) -> None:
        # `Variable.get` returns its default for a variable that does not exist, and also if the API does not answer
        # (ExecutionAPISecretsBackend, Airflow 3.3.2). The list of keys distinguishes the two cases.
        try:
            is_there = self.key in Variable.keys(prefix=self.key) if LISTS_VARIABLES else _is_known(self.key)
        except AirflowRuntimeError as error:
            raise TransientError(f"Airflow did not list its variables: {error}") from error
        if is_there:
            raise TransientError(f"Airflow did not return the variable {self.key}")

    def keep(self, head: Head) -> None:
        """Keep a head instead of the previous one."""
        Variable.set(self.key, head.to_text(), _DESCRIPTION)


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
        "Find out who changed the variable. Delete it to accept the current ledger. Nothing was started.",
    )
