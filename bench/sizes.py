"""The amount of data of each part: the published one, and a quick one that shows that the part works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ledger:
    """A ledger with three entries per night."""

    partitions: int = 10_000
    nights: int = 30
    runs: int = 5


@dataclass(frozen=True, slots=True)
class Pages:
    """The partitions of the migrations whose pages are made, and their nights; the partitions of a run's report."""

    few: int = 100
    many: int = 10_000
    nights: int = 30
    runs: int = 3
    reported: int = 1_000


@dataclass(frozen=True, slots=True)
class Memory:
    """A ledger, and the seconds after which the memory is read; a browser loads the page again every `reload_s`."""

    partitions: int = 10_000
    nights: int = 30
    settled_s: int = 300
    polled_s: int = 3_600
    reload_s: int = 60


@dataclass(frozen=True, slots=True)
class Files:
    """Migration files that the command checks, and that the DAG file parses."""

    checked: int = 200
    parsed: int = 50
    runs: int = 5


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics that are checked and created; `named` are all topics of the source while `many` of them are planned."""

    few: int = 100
    many: int = 1_000
    named: int = 20_000
    runs: int = 3
    plans: int = 5


@dataclass(frozen=True, slots=True)
class Preflight:
    """Preflights of one migration."""

    runs: int = 5


@dataclass(frozen=True, slots=True)
class Orchestration:
    """Runs of few and of many topics in a real Airflow."""

    few: int = 10
    many: int = 1_000
    runs: int = 3


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Partitions whose log start and end are read."""

    few: int = 1_000
    many: int = 10_000
    runs: int = 5


@dataclass(frozen=True, slots=True)
class Triggerer:
    """Migrations that wait in one event loop."""

    migrations: int = 100
    watched_s: int = 90


@dataclass(frozen=True, slots=True)
class Mirroring:
    """Records that each MirrorMaker copies; `large_records` have 20 kB each."""

    records: int = 600_000
    large_records: int = 20_000
    runs: int = 3


@dataclass(frozen=True, slots=True)
class Connect:
    """Records that each Connect cluster copies, and the few that are copied between a start and a stop."""

    records: int = 600_000
    few: int = 1_200
    runs: int = 5


@dataclass(frozen=True, slots=True)
class Groups:
    """Consumer groups on a topic with this many records per partition."""

    few: int = 100
    many: int = 1_000
    records: int = 2_000


@dataclass(frozen=True, slots=True)
class Validation:
    """Records of each side; `keys` of the topic with many keys."""

    records: int = 5_000_000
    keys: int = 1_000_000
    runs: int = 3


@dataclass(frozen=True, slots=True)
class Shapes:
    """Records of each side; `small` ones in a topic with `wide` partitions."""

    records: int = 5_000_000
    small: int = 100_000
    wide: int = 1_000
    runs: int = 3


@dataclass(frozen=True, slots=True)
class Translation:
    """Records of each side."""

    records: int = 5_000_000
    runs: int = 3


@dataclass(frozen=True, slots=True)
class Submission:
    """Small topics in one application."""

    topics: int = 12
    records: int = 10_000
    few_topics: int = 4
    few_records: int = 5_000
    runs: int = 5


@dataclass(frozen=True, slots=True)
class Yarn:
    """Records of each side: many, and the few that stand for the start of an application."""

    records: int = 5_000_000
    few: int = 400
    runs: int = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """Records that are read through the relay."""

    records: int = 200_000
    runs: int = 3


Size = (
    Ledger
    | Pages
    | Memory
    | Files
    | Topics
    | Preflight
    | Orchestration
    | Snapshot
    | Triggerer
    | Mirroring
    | Connect
    | Groups
    | Validation
    | Shapes
    | Translation
    | Submission
    | Reading
    | Yarn
)
FULL: dict[str, Size] = {
    "ledger": Ledger(),
    "pages": Pages(),
    "paint": Ledger(),
    "memory": Memory(),
    "files": Files(),
    "topics": Topics(),
    "preflight": Preflight(),
    "orchestration": Orchestration(),
    "snapshot": Snapshot(),
    "triggerer": Triggerer(),
    "mirroring": Mirroring(),
    "connect": Connect(),
    "groups": Groups(),
    "validation": Validation(),
    "shapes": Shapes(),
    "translation": Translation(),
    "submission": Submission(),
    "reading": Reading(),
    "yarn": Yarn(),
}
QUICK: dict[str, Size] = {
    "ledger": Ledger(partitions=200, nights=5, runs=1),
    "pages": Pages(few=20, many=200, nights=5, runs=1, reported=20),
    "paint": Ledger(partitions=200, nights=5, runs=1),
    "memory": Memory(partitions=200, nights=5, settled_s=5, polled_s=15, reload_s=3),
    "files": Files(checked=3, parsed=2, runs=1),
    "topics": Topics(few=5, many=20, named=60, runs=1, plans=1),
    "preflight": Preflight(runs=1),
    "orchestration": Orchestration(few=2, many=10, runs=1),
    "snapshot": Snapshot(few=100, many=200, runs=1),
    "triggerer": Triggerer(migrations=3, watched_s=5),
    "mirroring": Mirroring(records=60_000, large_records=3_000, runs=1),
    "connect": Connect(records=60_000, few=600, runs=1),
    "groups": Groups(few=5, many=20, records=100),
    "validation": Validation(records=20_000, keys=5_000, runs=1),
    "shapes": Shapes(records=20_000, small=2_000, wide=40, runs=1),
    "translation": Translation(records=20_000, runs=1),
    "submission": Submission(topics=2, records=1_000, few_topics=2, few_records=500, runs=1),
    "reading": Reading(records=5_000, runs=1),
    "yarn": Yarn(records=20_000, runs=1),
}
