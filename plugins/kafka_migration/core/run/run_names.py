"""Short names of runs for people: `manual 25 Nov 03:02` for `manual__2026-11-25T03:02:11+00:00`.

Commands, links and documents for programs have the whole id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from kafka_migration.core.run.run_identity import DAG_PREFIXES, RunIdentity
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.shortened import brief
from kafka_migration.core.text.terminal_text import shown

# The ids that Airflow gives: the type of the run, a moment, and for some types a random text.
_GIVEN = re.compile(
    r"(?P<type>[a-z_]{1,30})__(?P<at>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,15}(?:Z|[+-][0-9]{2}:[0-9]{2})?)(?:_.*)?",
    re.DOTALL,
)
_LONGEST = 40


def run_names(runs: Iterable[str]) -> Mapping[str, str]:
    """Return the name of each run of a list, by its run id or its holder (`RunIdentity.holder`).

    The time is the one in the id. Different ids get different names: a name that two of them would share becomes
    longer, up to the whole id. Names are on one line, without control characters.
    """
    ladders = {run: _ladder(run) for run in runs}
    steps = dict.fromkeys(ladders, 0)
    while True:
        names = {run: ladder[steps[run]] for run, ladder in ladders.items()}
        often = Counter(names.values())
        shared = [run for run, name in names.items() if often[name] > 1 and steps[run] < len(ladders[run]) - 1]
        if not shared:
            return names
        for run in shared:
            steps[run] += 1


def readable(lines: Iterable[str], local: LocalTime) -> list[str]:
    """Return lines for people: moments in ISO 8601 are local, and holders with an id that Airflow gave are names."""
    told = tuple(lines)
    names = run_names(found for line in told for found in _HOLDER.findall(line))
    return [local.within(_HOLDER.sub(lambda found: names[found[0]], line)) for line in told]


_HOLDER = re.compile(
    rf"\b(?:{'|'.join(DAG_PREFIXES)})[A-Za-z0-9_.-]{{1,230}}/[a-z_]{{1,30}}__[A-Za-z0-9:.+_-]{{10,60}}#[0-9]{{1,9}}\b"
)


def run_name(run: str) -> str:
    """Return the name of a run that is shown alone."""
    return run_names([run])[run]


def _ladder(run: str) -> tuple[str, ...]:
    """Return the names of a run, the shortest first; the last one belongs to no other id."""
    identity = RunIdentity.from_holder(run)
    run_id = identity.run_id if identity else run
    attempt = f", attempt {identity.attempt}" if identity and identity.attempt > 1 else ""
    return (*(f"{name}{attempt}" for name in short_names(run_id)), shown(run) or "(empty)", repr(run))


def short_names(run_id: str) -> tuple[str, ...]:
    """Return the short names that a run may have, the shortest first; other runs may have them too."""
    found = _GIVEN.fullmatch(run_id)
    try:
        at = datetime.fromisoformat(found["at"]) if found else None
    except ValueError:
        at = None
    if found is None or at is None:
        return (brief(shown(run_id), _LONGEST),) if run_id else ()
    day, kind = f"{at.day} {at:%b}", found["type"].replace("_", " ")
    return f"{kind} {day} {at:%H:%M}", f"{kind} {day} {at:%Y %H:%M:%S}"
