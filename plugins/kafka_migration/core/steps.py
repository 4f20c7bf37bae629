"""How the tasks of a run must have ended for the run to have succeeded."""

from __future__ import annotations

from collections.abc import Mapping

SUCCESS = "success"


def unsuccessful(tasks: Mapping[str, str | None]) -> dict[str, str]:
    """Return every task that did not succeed, with its state.

    Skipped counts: after a person marked the run failed, Airflow skips whatever had not started.
    """
    return {task: state or "not run" for task, state in tasks.items() if state != SUCCESS}
