"""The benchmark figures: the part that measures each, its upper bound (`must`) and its target (`aim`)."""

from __future__ import annotations

from dataclasses import dataclass

# The module of each part. A part has a function `rows(size)` that yields its figures.
PARTS = {
    "ledger": "bench.ledger",
    "pages": "bench.pages",
    "paint": "bench.paint",
    "memory": "bench.memory",
    "files": "bench.files",
    "topics": "bench.topics",
    "preflight": "bench.preflight",
    "orchestration": "bench.orchestration",
    "snapshot": "bench.snapshot",
    "triggerer": "bench.triggerer",
    "mirroring": "bench.mirroring",
    "connect": "bench.connect",
    "groups": "bench.groups",
    "validation": "bench.validation.levels",
    "shapes": "bench.validation.shapes",
    "translation": "bench.validation.translating",
    "submission": "bench.validation.submitting",
    "reading": "bench.validation.reading",
    "yarn": "bench.validation.on_yarn",
}

# These take too long for a run of all parts; only `python -m bench <part>` runs them with their full size.
ON_REQUEST = frozenset({"memory"})


@dataclass(frozen=True, slots=True)
class Figure:
    """A ratio that a part measures; without `must` it is not judged."""

    part: str
    name: str
    must: float | None = None
    aim: float | None = None

    def __post_init__(self) -> None:
        if self.aim is not None and (self.must is None or self.aim > self.must):
            raise ValueError(f"{self.name}: the target must not exceed the upper bound")


_FIGURES = (
    Figure("ledger", "ledger of 10,000 partitions × 30 nights, read once ÷ json.loads of its files", 1.5),
    Figure("ledger", "ledger of 10,000 partitions × 30 nights, read and asked by a start ÷ json.loads of its files"),
    Figure(
        "pages",
        "page with an unknown ledger of 10,000 partitions × 30 nights, first answer ÷ answer with the ledger read",
        0.1,
    ),
    Figure("pages", "page of 10,000 partitions × 30 nights, a poll with nothing new ÷ the first", 0.05),
    Figure("pages", "page with a known ledger of 30 nights, 10,000 ÷ 100 partitions", 20),
    Figure("pages", "report of 1,000 partitions, HTML ÷ Markdown", 5),
    Figure("paint", "first paint of the page of 10,000 partitions × 30 nights ÷ Airflow's own page of the DAG", 1),
    Figure("memory", "memory of the api-server with three polling browsers, after an hour ÷ after five minutes", 1.1),
    Figure("files", "kafka-migration --version ÷ python -c pass", 8),
    Figure("files", "kafka-migration --help ÷ python -c pass", 8),
    Figure("files", "kafka-migration explain of one code ÷ python -c pass", 8),
    Figure("files", "kafka-migration lint of one file ÷ python -c pass", 8),
    Figure("files", "kafka-migration check, 200 files ÷ one", 3),
    Figure("files", "DAG file with 50 migration files ÷ import airflow.sdk", 1.5),
    Figure("topics", "preflight and creation of topics, 1,000 ÷ 100 topics", 12),
    Figure("topics", "plan with a pattern over 20,000 topics ÷ with exact names", 1.2),
    Figure("preflight", "preflight with the host's tools ÷ one start of a tool of Kafka that connects", 3, 2),
    Figure("orchestration", "overhead of a sync, 1,000 topics ÷ 10 topics", 5, 3),
    Figure("orchestration", "overhead of a sync, 10 topics ÷ empty tasks", 1.8, 1.4),
    Figure("orchestration", "a sync with nothing new ÷ empty tasks", 2.0, 1.5),
    Figure("snapshot", "snapshot of 1,000 partitions, batched ÷ loop", 1 / 5),
    Figure("snapshot", "snapshot of 1,000 partitions at 10 ms round trip, batched ÷ loop", 1 / 100),
    Figure("snapshot", "snapshot, 10,000 ÷ 1,000 partitions", 12),
    Figure("triggerer", "triggerer with 100 waiting migrations, longest block of its loop ÷ 0.2 s", 1),
    Figure("mirroring", "MirrorMaker 2, rate with its defaults ÷ our profile, 12 partitions, 0 ms", 1.05, 1.0),
    Figure("mirroring", "MirrorMaker 2, rate with its defaults ÷ our profile, 12 partitions, 10 ms", 1.05, 1.0),
    Figure("mirroring", "MirrorMaker 2, rate with its defaults ÷ our profile, 12 partitions, 50 ms", 1.05, 1.0),
    Figure("mirroring", "MirrorMaker 2, rate tuned by hand ÷ our profile, 12 partitions, 0 ms", 1.05, 1.0),
    Figure("mirroring", "MirrorMaker 2, rate tuned by hand ÷ our profile, 12 partitions, 10 ms", 1.05, 1.0),
    Figure("mirroring", "MirrorMaker 2, rate tuned by hand ÷ our profile, 12 partitions, 50 ms", 1.05, 1.0),
    Figure("mirroring", "MirrorMaker 2, rate tuned by hand ÷ our profile, 1 partition, 0 ms"),
    Figure("mirroring", "MirrorMaker 2, rate tuned by hand ÷ our profile, 1 partition, 50 ms"),
    Figure("mirroring", "MirrorMaker 2, rate tuned by hand ÷ our profile, large records, 0 ms"),
    Figure("mirroring", "MirrorMaker 2, rate tuned by hand ÷ our profile, large records, 50 ms"),
    Figure("mirroring", "MirrorMaker 2, rate tuned by hand ÷ our profile, compressed, 0 ms"),
    Figure("mirroring", "MirrorMaker 2, rate tuned by hand ÷ our profile, compressed, 50 ms"),
    Figure("mirroring", "MirrorMaker 2, rate tuned by hand ÷ our profile, 12 partitions, 50 ms to the target"),
    Figure("connect", "Kafka Connect, rate of 3 tasks on 3 workers ÷ on 1"),
    Figure("connect", "overhead of start and stop, Kafka Connect ÷ MirrorMaker 2 on a host", 0.7),
    Figure("groups", "offsets of groups planned and written, 1,000 ÷ 100 groups", 12),
    Figure("groups", "calls for the offsets of groups, 1,000 ÷ 100 groups", 10.5),
    Figure("groups", "calls for the offsets of groups, 10 ÷ 1 partitions", 1.25),
    Figure("validation", "level 2, 1 M keys, bytes shuffled per record", 4, 1.5),
    Figure("validation", "level 2, 1 M keys, peak memory of a Python worker ÷ 350 MB", 1),
    Figure("validation", "level 1, clean copy ÷ scan", 1.3, 1.0),
    Figure("validation", "level 2, 10 k keys ÷ scan", 1.7, 1.3),
    Figure("validation", "level 2, 1 M keys ÷ scan", 2.0, 1.5),
    Figure("validation", "level 2, all keys unique ÷ scan", 2.4, 1.8),
    Figure("validation", "level 2 ÷ naive full join", 1 / 1.5, 1 / 2.2),
    Figure("validation", "level 1 ÷ naive full join", 1 / 1.9, 1 / 2.8),
    Figure("validation", "level 1 ÷ full join by offset"),
    Figure("validation", "level 1 ÷ one confluent-kafka process", 1 / 1.7, 1 / 2.5),
    Figure("validation", "level 1 ÷ ConsumerPerformance", 3.2, 2.0),
    Figure("validation", "0.02 % damaged, level 2 and drill-down ÷ scan", 3.2, 2.3),
    Figure("shapes", "level 2, hot key ÷ uniform", 1.3, 1.1),
    Figure("shapes", "level 1, four times the records", 4.4, 4.1),
    Figure("shapes", "level 2, four times the records", 4.4, 4.1),
    Figure("shapes", "level 1, 1,000 near-empty partitions ÷ 8", 4, 2),
    Figure("shapes", "level 2, 1,000 near-empty partitions ÷ 8", 4, 2),
    Figure("shapes", "level 1, 1,000 partitions of 100 records ÷ 8 of as many together"),
    Figure("translation", "offsets of 3 groups, other partitions ÷ scan", 1.8, 1.4),
    Figure("submission", "submission of 12 small topics ÷ of 1", 2.0, 1.5),
    Figure("submission", "validation of 20,000 records in 4 topics ÷ an empty spark-submit", 1.0, 0.7),
    Figure("reading", "reader options, ours ÷ Spark's own at 10 ms round trip", 1 / 5, 1 / 15),
    Figure("reading", "reader options, ours ÷ tuned by hand at 10 ms round trip"),
    Figure("yarn", "validation of 2 × 5 M records, YARN in client mode ÷ local[2], without the start", 1.15),
    Figure("yarn", "start of an application, YARN in client mode ÷ local[2]"),
)
FIGURES = {figure.name: figure for figure in _FIGURES}


def figures_of(part: str) -> list[Figure]:
    """Return the figures of a part."""
    return [figure for figure in _FIGURES if figure.part == part]
