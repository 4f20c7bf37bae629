"""Calls the Python functions that the migration file names as hooks of a cutover, and records what was called."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.migration.settings import Hook, HookName
from kafka_migration.core.stored.stored_documents import HookDocument, Stored
from kafka_migration.core.text.shortened import sentence
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import NothingToDo, Summary


def hook_of(run: MigrationRun, name: HookName) -> Hook:
    """Return the hook of a moment; raises `NothingToDo` if the migration file has none."""
    hook = run.migration.cutover.hooks.get(name)
    if hook is None:
        raise NothingToDo(f"cutover.hooks of the migration file has no {name}.")
    return hook


def call_function(run: MigrationRun, name: str, hook: Hook) -> Summary:
    """Call a hook that is a function, and record its return value."""
    return record_hook(run, name, hook, _as_json(_function(hook)(**arguments_of(run))))


def arguments_of(run: MigrationRun) -> dict[str, object]:
    """Return what a hook gets: the migration, the run, the topics by their names on the target, and the connections."""
    done = run.evidence.newest(Stored.CUTOVER)
    topics = done.topics if done else run.migration.topics
    return {
        "migration": run.name,
        "run": run.identity.holder,
        "topics": [run.migration.target_topic(topic) for topic in topics],
        "source": run.migration.source.connection,
        "target": run.migration.target.connection,
    }


def _function(hook: Hook) -> Callable[..., object]:
    module, _, name = str(hook.callable).rpartition(".")
    try:
        found: Callable[..., object] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        finding = Finding(
            Code.HOOK_NOT_FOUND,
            f"cutover.hooks: {hook}",
            f"{type(error).__name__}: {error}",
            "a function in a module that Airflow's workers can import",
            "Correct the path, or install the module on the workers (in the `plugins` folder or as a package). Then "
            "clear the task with its downstream tasks.",
            happened=sentence(f"The {hook} of cutover.hooks cannot be imported: {type(error).__name__}: {error}"),
            matters="The hook was not called, so what it has to do in this cutover is not done.",
        )
        raise Refused([finding]) from None
    return found


def _as_json(result: object) -> object:
    """Return a callable's return value if it can be written as JSON, else its text."""
    try:
        json.dumps(result)
    except (TypeError, ValueError):
        return repr(result)
    return result


def record_hook(run: MigrationRun, name: str, hook: Hook, result: object) -> Summary:
    """Record that a hook was called, with its result."""
    run.evidence.write(Stored.HOOK, HookDocument(run.now(), name, str(hook), result))
    return {"called": str(hook)}
