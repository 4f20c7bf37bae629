"""The Markdown documentation that a migration's DAGs show in Airflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_migration.core.migration.settings import Migration, Mode
from kafka_migration.core.run.run_identity import NIGHTLY_DAG_PREFIX
from kafka_migration.core.text.markdown import shown
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import counted, duration
from kafka_migration.orchestration.dag.forms import MODES, ROLLBACK_MODES


def page_of(write: Callable[[str, Migration], str], name: str, migration: Migration | None, problem: str) -> str:
    """Return the text that is written for a valid migration file. For an invalid file, return its findings."""
    return write(name, migration) if migration and not problem else _invalid_doc(name, problem)


def manual_doc(name: str, migration: Migration) -> str:
    """Return the text on the page of the manual DAG."""
    return (
        f"### Migration `{name}`\n\n"
        f"Moves {_topics(migration)} from `{migration.source.connection}` to "
        f"`{migration.target.connection}`: {some(migration.rules.taken, word=shown)}.\n\n"
        f"Trigger it with one of these modes:\n\n{_listed(MODES)}\n\nEvery run leaves its evidence in the "
        "evidence root; the last task's log names the folder."
    )


def _topics(migration: Migration) -> str:
    named, patterns = len(migration.rules.names), len(migration.rules.patterns)
    parts = [counted(named, "topic")] * bool(named)
    parts += [f"the topics that match {counted(patterns, 'pattern')}"] * bool(patterns)
    return " and ".join(parts)


def _listed(modes: Mapping[Mode, str]) -> str:
    return "\n".join(f"- `{mode}`: {text}" for mode, text in modes.items())


def rollback_doc(name: str, migration: Migration) -> str:
    """Return the text on the page of the rollback DAG."""
    return (
        f"### Rollback of `{name}`\n\nReverts every cutover from `{migration.source.connection}` to "
        f"`{migration.target.connection}`. Stop the producers and consumers on the target first, then trigger it with "
        f"one of these modes:\n\n{_listed(ROLLBACK_MODES)}\n\nNothing is written before a user approves the plan. "
        "If records exist only on the target, the run is refused unless you list their topics."
    )


def nightly_doc(name: str, migration: Migration) -> str:
    """Return the text on the page of the nightly DAG: its schedule, and how a backfill is made."""
    dag_id = f"{NIGHTLY_DAG_PREFIX}{name}"
    if migration.nightly is None:
        return (
            f"### Nightly sync of `{name}`\n\nThe migration file has no section `nightly`, so no run is scheduled "
            "and there are no intervals for a backfill. Add `nightly:` with at least `cron`."
        )
    until = f", until `{migration.nightly.until:%H:%M}`" if migration.nightly.until else ""
    return (
        f"### Nightly sync of `{name}`\n\nMirrors new records, stops MirrorMaker and validates the copy: at "
        f"`{migration.nightly.cron}` ({migration.nightly.timezone}){until}. Unpause the DAG to start it. One run "
        "catches up on all missed nights.\n\n### Backfill\n\nA backfill run reports whether the records of one "
        "interval were copied. It validates only what no run has validated yet, and mirrors only what is not copied "
        "yet.\n\n"
        f"```\nairflow backfill create --dag-id {dag_id} --from-date 2030-01-01 --to-date 2030-01-08 "
        "--max-active-runs 1\n```\n\n"
        "- `--dry-run` lists the intervals and creates no runs.\n"
        "- While this DAG is paused, runs are created but do not start.\n"
        "- `--max-active-runs 1` runs one interval at a time. Without it, all runs wait for the reservation in "
        f"parallel. Each waits at most {duration(migration.nightly.wait_limit_s)} (`nightly.wait_limit`) and then "
        "fails with `RESERVED_BY`.\n"
        "- `--to-date` is an instant: the backfill includes the interval that begins then, but none that begins "
        "later.\n"
        "- Dates that already have a run are left out. `--reprocess-behavior completed` includes them: what the ledger "
        "already knows is not read again, and no record is counted twice."
    )


def _invalid_doc(name: str, problem: str) -> str:
    findings = "\n".join(f"- {line}" for line in problem.splitlines())
    head = f"### The migration file `{name}.yaml` is invalid\n\nEvery run is refused until the file is corrected:"
    return f"{head}\n\n{findings}"
