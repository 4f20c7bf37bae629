"""The generations to read again have stopped and copied a requested topic."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.ledger.generations import Generation, generations_text
from kafka_migration.core.run.run_conf import conf_finding
from kafka_migration.core.text.shortened import some
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
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


CHECK = Check("generations", _check, asks={Asked.FILE})
