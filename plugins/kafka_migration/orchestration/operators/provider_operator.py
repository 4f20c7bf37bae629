"""Tasks that work by an operator of a provider, which is imported and made when the task runs (ADR 0059)."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from airflow.sdk import BaseOperator, Context

from kafka_migration.core.text.shortened import some

Provided = TypeVar("Provided", bound=BaseOperator)


@cache
def _of_every_operator() -> frozenset[str]:
    return frozenset(inspect.signature(BaseOperator.__init__).parameters)


def divided(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Divide arguments into those of every operator, and those that only an operator of a provider can have."""
    own = {name: value for name, value in arguments.items() if name in _of_every_operator()}
    return own, {name: value for name, value in arguments.items() if name not in own}


def refuse_unknown(task: BaseOperator, kind: type[BaseOperator], arguments: Mapping[str, Any]) -> None:
    """Raise `TypeError`, as Airflow does, if the provider's operator does not have these arguments."""
    if unknown := sorted(arguments.keys() - inspect.signature(kind.__init__).parameters.keys()):
        raise TypeError(f"Invalid arguments were passed to {type(task).__name__}: {some(unknown)}")


def provided(task: BaseOperator, kind: type[Provided], arguments: Mapping[str, Any]) -> Provided:
    """Return the provider's operator that works for a task, outside of its DAG but with the DAG's `default_args`."""
    defaults = task.dag.default_args if task.has_dag() else {}
    more = {name: value for name, value in defaults.items() if name not in _of_every_operator()}
    made: Provided = kind(task_id=task.task_id, default_args=more, **arguments)
    return made


def executed(operator: BaseOperator, context: Context) -> Any:
    """Execute an operator inside the task of another one. Airflow's wrapper of `execute` would warn of that."""
    return inspect.unwrap(type(operator).execute)(operator, context)
