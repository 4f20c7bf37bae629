"""The steps of the demo, in order."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from sandbox.airflow_api import AirflowApi
from sandbox.data.damage import Damage, damaged, remake_topic
from sandbox.data.reading import read_contents, read_records
from sandbox.data.records import SPAN_MS
from sandbox.data.seeding import Volumes, seed
from sandbox.data.traffic import LiveTraffic
from sandbox.demo.checks import content_problems, sync_problems, visible_records
from sandbox.demo.display import Display
from sandbox.demo.evidence import Place, RunEvidence
from sandbox.demo.failure import DemoFailed
from sandbox.demo.moving import Moving
from sandbox.demo.runs import DAG_ID, FinishedRun, Runner
from sandbox.sandbox import Sandbox
from sandbox.state import SandboxState

SYNC = {"mode": "sync"}
VALIDATE = {"mode": "validate"}
DAMAGED_TOPIC, DAMAGED_PARTITION = "orders", 2
DIFFERS_CODE = "COPY_DIFFERS"
# The expected finding for each damage.
KINDS = {
    Damage.DROP: "missing",
    Damage.ALTER: "altered",
    Damage.DUPLICATE: "duplicate",
    Damage.REORDER: "reordered",
}


class Story:
    """The demo on a sandbox that runs."""

    def __init__(self, sandbox: Sandbox, api: AirflowApi, display: Display, volumes: Volumes | None = None) -> None:
        self._state: SandboxState = sandbox.state
        self._api = api
        self._display = display
        self._runner = Runner(sandbox, api, display)
        self._volumes = volumes

    def tell(self, damage: Damage | None = None) -> str:
        """Seed, sync three times, check, and move the consumers; with a damage, damage the copy and validate it.

        Returns:
            Where the damage was found; empty without a damage.

        Raises:
            DemoFailed: a check failed, or the damage was not found.
            SandboxError: the sandbox, its Airflow or its traffic failed.
        """
        seeded = self._seed()
        runs, sent = self._sync(seeded)
        self._summarize(runs)
        self._check(seeded, sent, [run.evidence for run in runs])
        if damage:
            return self._break_and_find(damage)
        Moving(self._state, self._api, self._display, self._runner).move()
        return ""

    def _seed(self) -> Mapping[str, int]:
        self._display.section("Fill the source")
        began = time.monotonic()
        seeded = seed(self._state.source_bootstrap, int(time.time() * 1000) - SPAN_MS, self._volumes)
        counts = ", ".join(f"{topic} {count:,}" for topic, count in seeded.items())
        self._display.line(f"Records: {counts} ({time.monotonic() - began:.0f} s)")
        self._api.wait_for_dag(DAG_ID)
        return seeded

    def _sync(self, seeded: Mapping[str, int]) -> tuple[list[FinishedRun], Mapping[str, int]]:
        with LiveTraffic(self._state.source_bootstrap) as traffic:
            first = self._runner.run("First sync, while producers continue", SYNC, traffic)
            self._runner.require_pass(first)
        sent = {topic: count + traffic.acknowledged.get(topic, 0) for topic, count in seeded.items()}
        self._display.line(f"The producers are stopped; they sent {traffic.total:,} records.")
        runs = [first]
        for title in ("Second sync, only new records", "Third sync, nothing new"):
            runs.append(self._runner.run(title, SYNC))
            self._runner.require_pass(runs[-1])
        return runs, sent

    def _summarize(self, runs: Sequence[FinishedRun]) -> None:
        self._display.section("The syncs")
        for run in runs:
            counts = ", ".join(f"{topic} {c.source_records:,}" for topic, c in run.evidence.records.items())
            self._display.line(
                f"{run.title:<36} {run.evidence.verdict}  {run.seconds:4.0f} s  {counts or 'no records'}"
            )

    def _check(self, seeded: Mapping[str, int], sent: Mapping[str, int], syncs: Sequence[RunEvidence]) -> None:
        """Compare with what the producers counted and with what plain consumers read."""
        self._display.section("Independent check")
        source = read_contents(self._state.source_bootstrap, sent)
        target = read_contents(self._state.target_bootstrap, sent)
        for topic, count in sent.items():
            self._display.line(
                f"{topic:<10} sent {count:>8,}   read on the source {visible_records(source[topic]):>8,}"
                f"   on the target {visible_records(target[topic]):>8,}"
            )
        problems = [*sync_problems(seeded, sent, syncs), *content_problems(sent, source, target)]
        for problem in problems:
            self._display.line(problem)
        if problems:
            raise DemoFailed(problems[0])
        self._display.line("Every record exists once, unchanged and in order, by count and by digest.")

    def _break_and_find(self, damage: Damage) -> str:
        self._display.section(f"Damage the copy: {damage} one record")
        expected = self._break(damage)
        self._display.line(f"The copy now differs at {expected}.")
        finished = self._runner.run("Validate the whole copy again", VALIDATE)
        return self._find(finished, expected)

    def _break(self, damage: Damage) -> Place:
        """Recreate the target topic with the damage; return the place that a validation should report."""
        source = read_records(self._state.source_bootstrap, DAMAGED_TOPIC)[DAMAGED_PARTITION]
        copies = {
            partition: [placed.record for placed in records]
            for partition, records in read_records(self._state.target_bootstrap, DAMAGED_TOPIC).items()
        }
        result = damaged(damage, copies[DAMAGED_PARTITION])
        remake_topic(self._state.target_bootstrap, DAMAGED_TOPIC, {**copies, DAMAGED_PARTITION: result.records})
        # The copy is written again from offset 0 without gaps, so offset and rank are equal.
        source_offset = source[result.rank].offset
        return Place(KINDS[damage], DAMAGED_TOPIC, DAMAGED_PARTITION, source_offset, result.rank)

    def _find(self, finished: FinishedRun, expected: Place) -> str:
        """Return code and place of the finding; raises `DemoFailed` if it is wrong."""
        evidence = finished.evidence
        findings = [finding for finding in evidence.findings if finding.code == DIFFERS_CODE]
        for line in (line for finding in evidence.findings for line in finding.lines):
            self._display.line(line)
        if finished.run.state != "failed" or evidence.verdict != "FAIL" or not findings:
            raise DemoFailed("the damage was not found")
        places = [finding.place for finding in findings]
        if places != [expected]:
            named = "; ".join(str(place) for place in places)
            raise DemoFailed(f"the damage is at {expected}, the run names {named}")
        return f"{DIFFERS_CODE} {expected}"
