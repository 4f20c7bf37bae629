"""MirrorMaker, its helpers and the way to its host are taken away in the middle of a run."""

from __future__ import annotations

import pytest

from tests.live.faults import jvm_pids
from tests.live.invariants import lease_age_s
from tests.live.scenarios import GONE_WITHIN_S, Scenario, moment
from tests.waiting import wait_until

pytestmark = pytest.mark.live

LEASE_S = 45
# What `mirrorctl` gives MirrorMaker from TERM to KILL when the lease is over: the lease's length, 60 s at most.
LEASE_GRACE_S = 45
LEASE_END_S = LEASE_S + LEASE_GRACE_S + GONE_WITHIN_S
SHORT_LEASE = {"lease": f"{LEASE_S}s"}


@pytest.mark.campaign
def test_mirror_killed_once(scenario: Scenario) -> None:
    """A MirrorMaker that was killed is followed by the next generation, and the run ends as if nothing had been."""
    scenario.follow()
    scenario.lose_mirror()

    assert 2 == scenario.conclude(scenario.end_following()).generations


@pytest.mark.campaign
def test_mirror_killed_three_times(scenario: Scenario) -> None:
    """Each of three kills is followed by a generation, as is each return of a worker; never two copy at once."""
    scenario.follow()
    for _ in range(3):
        scenario.lose_mirror()

    starts = scenario.conclude(scenario.end_following()).generations
    assert starts == 4 or (scenario.moves and starts > 4)


@pytest.mark.campaign
def test_mirror_killed_more_often_than_allowed(scenario: Scenario) -> None:
    """After `mirror.restarts` generations the run gives up, nothing goes on, and the next run does the rest."""
    scenario.follow()
    for _ in range(3):
        scenario.lose_mirror()
    scenario.faults.kill_mirror()

    assert 4 == scenario.conclude(scenario.ended()).generations
    scenario.require_goes_on()


@pytest.mark.campaign
def test_host_supervisor_killed(scenario: Scenario) -> None:
    """Without the shell that waits for it MirrorMaker goes on, and is stopped in good order."""
    scenario.follow()
    scenario.faults.kill_supervisor()
    scenario.wait_for_more_copied()

    assert 1 == scenario.conclude(scenario.end_following()).generations


@pytest.mark.campaign
def test_lease_watch_killed(scenario: Scenario) -> None:
    """Without the shell that keeps its lease MirrorMaker goes on, and is stopped by the run."""
    scenario.follow()
    scenario.faults.kill_lease_watch()
    scenario.wait_for_more_copied()

    assert 1 == scenario.conclude(scenario.end_following()).generations


@pytest.mark.campaign
def test_sshd_killed_and_back(scenario: Scenario) -> None:
    """While nothing reaches the host MirrorMaker goes on; the run, which only waited, ends as if nothing had been."""
    scenario.follow()
    scenario.faults.kill_part("sshd")
    wait_until(lambda: lease_age_s(scenario.migration) > 30, 120, "half a minute without a renewal")
    scenario.wait_for_more_copied()
    scenario.faults.restart("sshd")
    wait_until(lambda: lease_age_s(scenario.migration) < 10, 120, "the next renewal")

    assert 1 == scenario.conclude(scenario.end_following()).generations


@pytest.mark.campaign
@pytest.mark.settings(**SHORT_LEASE)
def test_sshd_killed_for_good(scenario: Scenario) -> None:
    """A host that nothing reaches any more stops MirrorMaker itself once its lease is over."""
    scenario.follow()
    scenario.faults.kill_part("sshd")
    scenario.require_gone(moment(), LEASE_END_S)
    scenario.ask_to_stop()
    run = scenario.ended()
    scenario.faults.restart("sshd")
    scenario.require_goes_on()

    scenario.conclude(run)


@pytest.mark.campaign
@pytest.mark.settings(**SHORT_LEASE)
def test_sshd_back_after_the_lease(scenario: Scenario) -> None:
    """A host that was away for longer than the lease has stopped MirrorMaker; the run starts the next generation."""
    scenario.follow()
    scenario.faults.kill_part("sshd")
    scenario.require_gone(moment(), LEASE_END_S)
    scenario.faults.restart("sshd")
    wait_until(lambda: jvm_pids(scenario.migration), 200, "the next generation")
    scenario.wait_for_more_copied()

    assert 2 == scenario.conclude(scenario.end_following()).generations
