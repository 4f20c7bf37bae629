"""What a migration's DAGs say of themselves in Airflow, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_migration.core.migration.settings import NIGHTLY_DAG_PREFIX, Migration, Mode
from kafka_migration.core.text.shown import duration
from kafka_migration.orchestration.forms import MODES, ROLLBACK_MODES


def page_of(write: Callable[[str, Migration], str], name: str, migration: Migration | None, problem: str) -> str:
    """Return the text that is written for a valid migration file. For an invalid file, return its findings."""
    return write(name, migration) if migration and not problem else _invalid_doc(name, problem)


def manual_doc(name: str, migration: Migration) -> str:
    """Return the text on the page of the manual DAG."""
    return (
        f"### Migration `{name}`\n\n"
        f"Moves {len(migration.topics)} topics from `{migration.source.connection}` to "
        f"`{migration.target.connection}`: {', '.join(f'`{t}`' for t in migration.topics)}.\n\n"
        f"Trigger it with one of these modes:\n\n{_listed(MODES)}\n\nEvery run leaves its evidence in the "
        "evidence root; the last task's log names the folder."
    )


def _listed(modes: Mapping[Mode, str]) -> str:
    return "\n".join(f"- `{mode}`: {text}" for mode, text in modes.items())


def rollback_doc(name: str, migration: Migration) -> str:
    """Return the text on the page of the rollback DAG."""
    return (
        f"### Rollback of `{name}`\n\nTakes back everything that was cut over from `{migration.source.connection}` to "
        f"`{migration.target.connection}`. Stop the producers and consumers on the target first, then trigger it with "
        f"one of these modes:\n\n{_listed(ROLLBACK_MODES)}\n\nNothing is written before a person has approved the "
        "plan. Records that only the target has are counted, and refuse the run unless their topics are named."
    )


def nightly_doc(name: str, migration: Migration) -> str:
    """Return the text on the page of the nightly DAG: its schedule, and how a backfill is made."""
    dag_id = f"{NIGHTLY_DAG_PREFIX}{name}"
    if migration.nightly is None:
        return (
            f"### Nightly sync of `{name}`\n\nThe migration file has no section `nightly`, so nothing runs by itself, "
            "and there are no intervals for a backfill. Add `nightly:` with at least `cron`."
        )
    until = f", until `{migration.nightly.until:%H:%M}`" if migration.nightly.until else ""
    return (
        f"### Nightly sync of `{name}`\n\nMirrors what is new, stops, validates it: at `{migration.nightly.cron}` "
        f"({migration.nightly.timezone}){until}. It runs once it is unpaused; nights that were missed are caught up "
        "by one run.\n\n### Backfill\n\nA backfill run answers what became of the records of one interval. It "
        "validates only what no run has validated yet, and mirrors only what is not copied yet.\n\n"
        f"```\nairflow backfill create --dag-id {dag_id} --from-date 2030-01-01 --to-date 2030-01-08 "
        "--max-active-runs 1\n```\n\n"
        "- `--dry-run` lists the intervals and creates nothing.\n"
        "- While this DAG is paused, runs are created and do not start.\n"
        "- `--max-active-runs 1`: runs come one after another. Without it they wait beside each other for the "
        f"reservation, each at most {duration(migration.nightly.wait_limit_s)} (`nightly.wait_limit`), and then fail "
        "with `RESERVED_BY`.\n"
        "- `--to-date` is an instant: the interval that begins then is still made, one that begins later is not.\n"
        "- Dates that have a run are left out; `--reprocess-behavior completed` asks them again. What is known is "
        "answered from the ledger, and nothing is counted twice."
    )


def _invalid_doc(name: str, problem: str) -> str:
    findings = "\n".join(f"- {line}" for line in problem.splitlines())
    head = f"### The migration file `{name}.yaml` is invalid\n\nEvery run is refused until the file is corrected:"
    return f"{head}\n\n{findings}"
