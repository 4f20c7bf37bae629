"""Checks of the run that was asked for: its time, its phase and its earlier runs, from files alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.copy_basis import changed_settings
from kafka_migration.core.ledger.generations import Generation, generations_text
from kafka_migration.core.ledger.ledger import phase_findings
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.run.overlap import overlap_findings
from kafka_migration.core.run.run_conf import conf_finding
from kafka_migration.core.run.run_window import RunType
from kafka_migration.core.target.target_topics import removed_topic_warnings
from kafka_migration.core.text.shortened import some
from kafka_migration.migration_file.loading import load_migrations
from kafka_migration.preflight.scene.check import Asked, Findings, check
from kafka_migration.preflight.scene.scene import Scene


@check("earlier runs", asks={Asked.FILE}, warn=lambda scene: removed_topic_warnings(scene.migration, scene.ledger))
def earlier_runs(scene: Scene) -> Findings:
    """The migration file has the engine, alias and topic names of earlier runs; removed topics are a warning."""
    return changed_settings(scene.ledger.basis, scene.migration)


_MATTERS = "Such a run has no interval and no window, so it is unknown what it would copy, and nothing was started."


@check("schedule", asks={Asked.FILE})
def schedule(scene: Scene) -> Findings:
    """A run of the nightly DAG comes from its schedule or a backfill, and the migration file has a schedule."""
    name, is_nightly = scene.migration.name, scene.run.identity.is_nightly
    if is_nightly and scene.run_type is RunType.MANUAL:
        yield Finding(
            Code.NOT_SCHEDULED,
            f"migration {name}",
            "a run of its nightly DAG that was triggered manually",
            "runs by the schedule or a backfill",
            f"Trigger the DAG kafka_migration__{name} in mode sync instead.",
            happened=f"A run of the nightly DAG of {name} was triggered manually.",
            matters=_MATTERS,
        )
    elif is_nightly and scene.migration.nightly is None:
        yield Finding(
            Code.NOT_SCHEDULED,
            f"migration {name}",
            f"a {scene.run_type} run without a section nightly in the migration file",
            "a section nightly with at least cron",
            "Add the section nightly to the migration file, or pause the nightly DAG.",
            happened=f"The nightly DAG of {name} runs, but its migration file has no section nightly any more.",
            matters=_MATTERS,
        )


@check("overlap", asks={Asked.FILE})
def overlap(scene: Scene) -> Findings:
    """No other migration file copies a topic of this one between the same clusters."""
    others = other_migrations(scene.run.deployment.migrations_folder, scene.migration)
    return overlap_findings(scene.migration, others)


def other_migrations(folder: Path, migration: Migration) -> tuple[Migration, ...]:
    """Return the migrations of all other files of the folder that can be read."""
    return tuple(other for other in load_migrations(folder) if other.name != migration.name)


@check("phase", asks={Asked.FILE})
def phase(scene: Scene) -> Findings:
    """The migration's phase allows the mode."""
    topics, requested = scene.migration.topics, scene.run.request.topics
    return phase_findings(scene.ledger, scene.migration.name, scene.mode, topics, requested)


@check("follow", asks={Asked.FILE})
def follow(scene: Scene) -> Findings:
    """`follow_until` is in the future."""
    until = scene.run.request.follow_until
    if until is not None and until <= scene.now:
        yield conf_finding(
            "follow_until", until.isoformat(), f"a moment after {scene.now.isoformat(timespec='seconds')}"
        )


@check("generations", asks={Asked.FILE})
def generations(scene: Scene) -> Findings:
    """The generations to read again have stopped and copied a requested topic."""
    if not scene.run.request.generations:
        return
    asked = generations_text(scene.run.request.generations)
    if problem := _not_readable(scene):
        yield conf_finding("generations", f"{asked}: {problem}", f"stopped generations{_known(scene)}")
    elif not any(g.limited_to(scene.migration.topics).topics for g in _chosen(scene)):
        found = f"{asked}, which copied none of {some(scene.migration.topics)}"
        yield conf_finding("generations", found, "generations that copied a topic")


def _not_readable(scene: Scene) -> str:
    """Return why the first unreadable generation cannot be read; empty if all can."""
    known = {g.number: g for g in scene.ledger.generations}
    for number in scene.run.request.generations:
        if number not in known:
            return f"there is no generation {number}"
        if known[number].stop is None:
            return f"generation {number} has no stop certificate yet"
    return ""


def _chosen(scene: Scene) -> Iterable[Generation]:
    return (g for g in scene.ledger.generations if g.number in scene.run.request.generations)


def _known(scene: Scene) -> str:
    numbers = [g.number for g in scene.ledger.generations]
    return f", of {numbers[0]} to {numbers[-1]}" if numbers else "; MirrorMaker was never started"
