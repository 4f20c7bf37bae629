"""When two clocks differ too much, which the checks of the host's clock and of the clusters' clocks share."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding

# Kerberos allows 5 minutes, and certificates and tokens begin at a moment. NTP keeps clocks within a second.
CLOCK_TOLERANCE = timedelta(seconds=60)


def clock_findings(
    machine: str, other: str, shown: datetime, earliest: datetime, latest: datetime
) -> Iterator[Finding]:
    """Yield the warning about a machine whose clock showed a time outside of the moments between which it was read.

    `earliest` and `latest` are those moments by the clock of the other machine.
    """
    ahead, late = shown - latest, earliest - shown
    difference = max(ahead, late)
    if difference > CLOCK_TOLERANCE:
        apart = f"{int(difference.total_seconds()):,} s {'ahead' if ahead > late else 'behind'}"
        tolerated = f"{int(CLOCK_TOLERANCE.total_seconds())} s"
        yield Finding(
            Code.CLOCKS_DIFFER,
            f"{machine} and {other}",
            f"a clock that is {apart}",
            f"at most {tolerated} of difference",
            "Let NTP set the clocks of all machines.",
            happened=f"The clock of {machine} is {apart}, compared with the clock of {other}.",
            matters=f"With more than {tolerated} of difference logins and certificates can fail, retention deletes at "
            "other times, and the times in reports are wrong.",
        )
