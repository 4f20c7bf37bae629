"""Nightly runs of the small world: scheduled and backfill runs, at times that a test chooses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.steps import watching
from tests.steps.clock import FakeClock
from tests.steps.watching import Scene
from tests.steps.world import P0, World

SECTION = """\
nightly:
  cron: "0 1 * * *"
  until: "05:30"
  validate_until: "07:00"
"""
ACTING = ("reserve", "plan", "create_topics", "start_mirror", "watch_lag", "stop_mirror", "validate_topics", "judge")
ALL_SKIPPED = dict.fromkeys(ACTING, "skipped")
SUCCESSFUL = dict.fromkeys(("preflight", *ACTING), "success")


def at_night(world: World, more: str = "") -> FakeClock:
    """Give the migration file a section `nightly`, and the runs a clock; return the clock."""
    world.extend_file(SECTION + more)
    clock = FakeClock()
    world.deployed["clock"] = clock
    world.params = {"mirror_outside_window": False, "note": ""}
    return clock


def begin(world: World, clock: FakeClock, day: int = 1, hour: float = 1, run_type: str = "scheduled") -> None:
    """Begin the run of a day of January 2030, whose cron time is 01:00, at an hour of that day."""
    tick = datetime(2030, 1, day, 1, tzinfo=UTC)
    world.dag_run.run_type, world.dag_run.run_id = run_type, f"{run_type}__{day}"
    world.dag_run.data_interval_start, world.dag_run.data_interval_end = tick - timedelta(days=1), tick
    world.task_instance.run_states.update({f"{run_type}__{earlier}": "failed" for earlier in range(1, day)})
    clock.elapsed_s = (day - 1) * 86400 + hour * 3600


def watch(world: World, clock: FakeClock, copies: int = 0) -> dict[str, Any]:
    """Start MirrorMaker, which copies so many records of the first partition, one per poll; watch it to the end."""
    world.start()
    left = [1] * copies

    def copy_one(scene: Scene) -> None:
        if left:
            world.mirror({P0: left.pop()})

    return world.end_watch(watching.watch(Scene(world, clock, script=copy_one)))


def finish_night(world: World, **states: str) -> dict[str, Any]:
    """Run finish after a night whose tasks succeeded, except those named."""
    return world.finish(**{**SUCCESSFUL, **states})


def night_fails(world: World, match: str, **states: str) -> str:
    """Run finish, which must fail the run, after a night whose tasks succeeded, except those named."""
    return world.finish_fails(match, **{**SUCCESSFUL, **states})
